import { plusSeconds } from "../../time.ts";
import { checkId } from "../check.ts";
import type { Session, SessionId, UserId } from "../model.ts";
import { idHash } from "./id-hash.ts";
import type { WriteScope } from "./scope.ts";
import { SESSION_COLUMNS, type SessionRow, sessionRow } from "./session-rows.ts";
import { findSession, nextChangeNumber } from "./sessions.ts";

/** Sessions that one transaction deletes; a user with more is deleted in several. */
const DELETED_SESSIONS_PER_WRITE = 200;
/** How long a tombstone knows what the filters of change streams ask for. */
export const ATTRIBUTES_SECONDS = 600;

/**
 * The session is gone for every reader when this commits: its row makes way for a tombstone, its counts leave the
 * tenant's, its tokens stay (they were spent), and its rows wait for their erasure. Null where there was none.
 */
export function deleteSession(scope: WriteScope, sessionId: string): SessionId | null {
  const row = findSession(scope, sessionId);
  return row === null ? null : buryOne(scope, row);
}

/** Deletes some of a user's sessions; fewer than DELETED_SESSIONS_PER_WRITE means that none is left. */
export function deleteSomeOfUser(
  scope: WriteScope,
  userId: string,
): { readonly deleted: readonly SessionId[]; readonly more: boolean } {
  const user = checkId<UserId>(userId, ["userId"]);
  if (scope.reach.userId !== null && scope.reach.userId !== user) return { deleted: [], more: false };
  const rows = scope
    .sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE user_id = ? LIMIT ${DELETED_SESSIONS_PER_WRITE}`)
    .all(user);
  const deleted = rows.map((row) => buryOne(scope, sessionRow(row)));
  return { deleted, more: rows.length === DELETED_SESSIONS_PER_WRITE };
}

function buryOne(scope: WriteScope, { key, session }: SessionRow): SessionId {
  scope.sql("DELETE FROM sessions WHERE key = ?").run(key);
  scope.sql("INSERT OR IGNORE INTO erasures (session_key) VALUES (?)").run(key);
  scope
    .sql("UPDATE tenant SET session_count = session_count - 1, message_count = message_count - ?")
    .run(session.messageCount);
  scope
    .sql(`INSERT OR REPLACE INTO tombstones (id_hash, deleted_at, change_number, session_id, attributes)
      VALUES (?, ?, ?, ?, ?)`)
    .run(idHash(session.id), scope.now, nextChangeNumber(scope), session.id, attributesOf(session));
  return session.id;
}

/** What filters of change streams need to know of a deleted session. */
function attributesOf(session: Session): string {
  const { parentSessionId, sessionType, title, agentName, userId, createdAt, updatedAt } = session;
  return JSON.stringify({ parentSessionId, sessionType, title, agentName, userId, createdAt, updatedAt });
}

/** Rows and bytes that one slice erases: about what ten milliseconds of overwriting can do. */
const ERASED_ROWS_PER_SLICE = 200;
const ERASED_BYTES_PER_SLICE = 1024 * 1024;

/**
 * Erases one slice of what deleted sessions left, and what tombstones may no longer know. Milliseconds until there is
 * more to do; null where nothing is left that time would change.
 */
export function eraseSlice(scope: WriteScope): number | null {
  forgetAttributes(scope);
  if (eraseRows(scope)) return 0;
  return hasLeftovers(scope.sql) ? (ATTRIBUTES_SECONDS + 1) * 1_000 : null;
}

/** Whether a file has rows to erase or attributes to forget. */
export function hasLeftovers(sql: WriteScope["sql"]): boolean {
  const left = sql(`SELECT EXISTS (SELECT 1 FROM erasures) OR
    EXISTS (SELECT 1 FROM tombstones WHERE session_id IS NOT NULL) AS found`).get();
  return left?.found === 1;
}

function eraseRows(scope: WriteScope): boolean {
  const next = scope.sql("SELECT session_key FROM erasures LIMIT 1").get()?.session_key;
  if (next === undefined) return false;
  if (eraseMessages(scope, Number(next)) > 0) return true;
  for (const [table, key] of [
    ["run_events", "position"],
    ["runs", "key"],
    ["snapshots", "key"],
    ["rewinds", "key"],
  ] as const) {
    const { changes } = scope
      .sql(`DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE session_key = ? LIMIT ?)`)
      .run(next, ERASED_ROWS_PER_SLICE);
    if (changes > 0) return true;
  }
  scope.sql("DELETE FROM erasures WHERE session_key = ?").run(next);
  return scope.sql("SELECT 1 FROM erasures LIMIT 1").get() !== undefined;
}

function eraseMessages(scope: WriteScope, sessionKey: number): number {
  const rows = scope
    .sql("SELECT key, byte_size FROM raw_messages WHERE session_key = ? ORDER BY sequence LIMIT ?")
    .all(sessionKey, ERASED_ROWS_PER_SLICE);
  let bytes = 0;
  let erased = 0;
  for (const row of rows) {
    bytes += Number(row.byte_size);
    if (erased > 0 && bytes > ERASED_BYTES_PER_SLICE) break;
    scope.sql("DELETE FROM raw_messages WHERE key = ?").run(row.key ?? null);
    erased++;
  }
  return erased;
}

function forgetAttributes(scope: WriteScope): void {
  scope
    .sql("UPDATE tombstones SET session_id = NULL, attributes = NULL WHERE session_id IS NOT NULL AND deleted_at < ?")
    .run(plusSeconds(scope.now, -ATTRIBUTES_SECONDS));
}
