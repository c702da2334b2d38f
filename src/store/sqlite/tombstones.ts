import type { Session, SessionId } from "../model.ts";
import { idHash } from "./id-hash.ts";
import type { WriteScope } from "./scope.ts";
import { findSession, nextChangeNumber } from "./sessions.ts";

/**
 * The session is gone for every reader when this commits: its row makes way for a tombstone, its counts leave the
 * tenant's, its tokens stay (they were spent), and its rows wait for their erasure. Null where there was none.
 */
export function deleteSession(scope: WriteScope, sessionId: string): SessionId | null {
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const { session } = row;
  scope.sql("DELETE FROM sessions WHERE key = ?").run(row.key);
  scope.sql("INSERT OR IGNORE INTO erasures (session_key) VALUES (?)").run(row.key);
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

/** Rows of deleted sessions that one slice erases. */
const ERASED_ROWS_PER_SLICE = 500;

/**
 * Erases one slice of what deleted sessions left; whether it found any. Nothing schedules it yet, and freed pages stay
 * in the file for later rows.
 */
export function eraseSlice(scope: WriteScope): boolean {
  const next = scope.sql("SELECT session_key FROM erasures LIMIT 1").get()?.session_key;
  if (next === undefined) return false;
  for (const table of ["raw_messages", "run_events", "runs", "snapshots", "rewinds"]) {
    const key = table === "run_events" ? "position" : "key";
    const { changes } = scope
      .sql(`DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE session_key = ? LIMIT ?)`)
      .run(next, ERASED_ROWS_PER_SLICE);
    if (changes > 0) return true;
  }
  scope.sql("DELETE FROM erasures WHERE session_key = ?").run(next);
  return true;
}
