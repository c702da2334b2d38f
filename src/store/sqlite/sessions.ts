import { assert } from "../../assert.ts";
import { conflict, type FieldPath, notFound, quotaExceeded } from "../../errors.ts";
import { addUsage, checkId } from "../check.ts";
import type { CreateSessionInput, SessionMark, UpdateSessionInput } from "../contract.ts";
import { type Generation, NO_USAGE, type Session, type SessionId, type TokenUsage } from "../model.ts";
import { idHash } from "./id-hash.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { type CheckedAttributes, checkSessionAttributes, checkUpdate } from "./session-attributes.ts";
import { SESSION_COLUMNS, type SessionRow, sessionRow, usageOf } from "./session-rows.ts";

/** The session of that id in reach; null for one missing or out of reach. */
export function findSession(scope: ReadScope, id: string): SessionRow | null {
  const row = scope.sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`).get(id);
  return row === undefined ? null : withinReach(scope, sessionRow(row));
}

/** The session of that generation in reach. */
export function sessionByKey(scope: ReadScope, key: Generation): SessionRow | null {
  const row = scope.sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE key = ?`).get(key);
  return row === undefined ? null : withinReach(scope, sessionRow(row));
}

function withinReach(scope: ReadScope, row: SessionRow): SessionRow | null {
  return scope.reach.userId === null || scope.reach.userId === row.session.userId ? row : null;
}

/**
 * The session that a write names. NOT_FOUND for a deleted one, and for one missing or out of reach unless the operation
 * `creates`; then null for one never heard of, CONFLICT ID_TAKEN for one out of reach, BAD_USER_INPUT for an id that
 * can't be.
 */
export function sessionForWriting(scope: ReadScope, sessionId: string, creates: boolean): SessionRow | null {
  const found = findSession(scope, sessionId);
  if (found !== null) return found;
  if (!creates) throw notFound("session");
  checkId(sessionId, ["sessionId"]);
  if (isTaken(scope, sessionId)) throw conflict("ID_TAKEN", "This session id is taken.");
  if (isDeleted(scope, sessionId)) throw notFound("session");
  return null;
}

function isTaken(scope: ReadScope, id: string): boolean {
  return scope.sql("SELECT 1 FROM sessions WHERE id = ?").get(id) !== undefined;
}

function isDeleted(scope: ReadScope, id: string): boolean {
  return scope.sql("SELECT 1 FROM tombstones WHERE id_hash = ?").get(idHash(id)) !== undefined;
}

/** The next number of the tenant's changes; every change of a session takes one. */
export function nextChangeNumber(scope: WriteScope): number {
  const row = scope.sql("UPDATE tenant SET change_number = change_number + 1 RETURNING change_number").get();
  return Number(row?.change_number);
}

/** Makes the row, quota checked (QUOTA_EXCEEDED), tenant counters moved, an old tombstone cleared. */
export function insertSession(scope: WriteScope, sessionId: string, attributes: CheckedAttributes): SessionRow {
  const counted = scope.sql("UPDATE tenant SET session_count = session_count + 1 RETURNING session_count").get();
  const limit = scope.limits.maxSessions;
  if (limit !== null && Number(counted?.session_count) > limit) {
    throw quotaExceeded(`This tenant may have ${limit} sessions.`);
  }
  scope.sql("DELETE FROM tombstones WHERE id_hash = ?").run(idHash(sessionId));
  const change = nextChangeNumber(scope);
  const { lastKey } = scope
    .sql(`INSERT INTO sessions (id, parent_session_id, session_type, title, title_folded, agent_name, user_id, metadata,
      created_at, updated_at, change_number, created_change_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(
      sessionId,
      attributes.parentSessionId,
      attributes.sessionType ?? 0,
      attributes.title,
      foldCase(attributes.title),
      attributes.agentName,
      attributes.userId ?? parentUser(scope, attributes.parentSessionId),
      attributes.metadataJson ?? "{}",
      scope.now,
      scope.now,
      change,
      change,
    );
  return rowByKey(scope, lastKey);
}

/** Left out at creation, the user is the parent's, where the caller reaches that parent. */
function parentUser(scope: ReadScope, parentSessionId: SessionId | null): string | null {
  if (parentSessionId === null) return scope.reach.userId;
  return findSession(scope, parentSessionId)?.session.userId ?? scope.reach.userId;
}

function foldCase(title: string | null): string | null {
  return title === null ? null : title.toLowerCase();
}

/** Sets title and agentName where given and different; all else of an existing session stays as it is. */
export function applyAttributes(scope: WriteScope, row: SessionRow, attributes: CheckedAttributes): void {
  const title = attributes.title ?? row.session.title;
  const agentName = attributes.agentName ?? row.session.agentName;
  if (title === row.session.title && agentName === row.session.agentName) return;
  scope
    .sql("UPDATE sessions SET title = ?, title_folded = ?, agent_name = ? WHERE key = ?")
    .run(title, foldCase(title), agentName, row.key);
}

/** What a write changed of a session's counters, beside the change number that every write moves. */
export interface SessionGrowth {
  readonly messages?: number;
  readonly usage?: TokenUsage;
  readonly edits?: number;
  readonly snapshots?: number;
  readonly runs?: number;
  /** Whether updatedAt moves to now (decision 19). */
  readonly touches: boolean;
}

/** Moves the counters of session and tenant (messages and tokens), and gives the session as it is then. */
export function growSession(scope: WriteScope, key: Generation, growth: SessionGrowth): SessionRow {
  const messages = growth.messages ?? 0;
  scope
    .sql(`UPDATE sessions SET message_count = message_count + ?, last_sequence = last_sequence + ?,
      edit_count = edit_count + ?, snapshot_count = snapshot_count + ?, run_count = run_count + ?,
      updated_at = CASE WHEN ? THEN ? ELSE updated_at END, change_number = ? WHERE key = ?`)
    .run(
      messages,
      messages,
      growth.edits ?? 0,
      growth.snapshots ?? 0,
      growth.runs ?? 0,
      growth.touches ? 1 : 0,
      scope.now,
      nextChangeNumber(scope),
      key,
    );
  if (messages > 0) scope.sql("UPDATE tenant SET message_count = message_count + ?").run(messages);
  if (growth.usage !== undefined) addTokens(scope, key, growth.usage);
  return rowByKey(scope, key);
}

function addTokens(scope: WriteScope, key: number, usage: TokenUsage): void {
  const assignments = `input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
    reasoning_tokens = ?`;
  const session = addUsage(rowByKey(scope, key).session.usage, usage);
  scope.sql(`UPDATE sessions SET ${assignments} WHERE key = ?`).run(...usageValues(session), key);
  const tenant = scope.sql("SELECT * FROM tenant").get();
  scope
    .sql(`UPDATE tenant SET ${assignments}`)
    .run(...usageValues(addUsage(tenant === undefined ? NO_USAGE : usageOf(tenant), usage)));
}

/** The five counts in the order of the columns. */
export function usageValues(usage: TokenUsage): readonly [number, number, number, number, number] {
  return [usage.inputTokens, usage.outputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.reasoningTokens];
}

function rowByKey(scope: ReadScope, key: number): SessionRow {
  const row = scope.sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE key = ?`).get(key);
  assert(row !== undefined, "a session that was just written is there");
  return sessionRow(row);
}

/** QUOTA_EXCEEDED unless so many more messages and bytes fit into the tenant's limits. */
export function checkMessageQuota(scope: WriteScope, messages: number, bytes: number): void {
  const { maxMessages } = scope.limits;
  const stored = Number(scope.sql("SELECT message_count FROM tenant").get()?.message_count);
  if (maxMessages !== null && stored + messages > maxMessages) {
    throw quotaExceeded(`This tenant may have ${maxMessages} messages.`);
  }
  checkByteQuota(scope, bytes);
}

/** QUOTA_EXCEEDED unless so many more bytes fit into the tenant's limit. */
export function checkByteQuota(scope: WriteScope, bytes: number): void {
  const { maxBytes } = scope.limits;
  if (maxBytes !== null && scope.byteCount() + bytes > maxBytes) {
    throw quotaExceeded(`This tenant may have ${maxBytes} bytes on disk.`);
  }
}

export function getSessions(scope: ReadScope, ids: readonly string[]): readonly (Session | null)[] {
  return ids.map((id) => findSession(scope, id)?.session ?? null);
}

export function createSession(
  scope: WriteScope,
  input: CreateSessionInput,
): { readonly session: Session; readonly created: boolean } {
  const id = input.id === null || input.id === undefined ? scope.newUuid() : checkId(input.id, ["id"]);
  const path: FieldPath = [];
  const attributes = checkSessionAttributes(scope, null, id, input, path);
  const existing = findSession(scope, id);
  if (existing !== null && input.allowExisting === true) return { session: existing.session, created: false };
  if (existing !== null || isTaken(scope, id)) throw conflict("ID_TAKEN", "This session id is taken.");
  return { session: insertSession(scope, id, attributes).session, created: true };
}

export function updateSession(scope: WriteScope, input: UpdateSessionInput): Session {
  const change = checkUpdate(scope, input);
  const row = findSession(scope, input.sessionId);
  if (row === null) throw notFound("session");
  const { session } = row;
  const title = change.title === undefined ? session.title : change.title;
  const userId = change.userId ?? session.userId;
  if (session.userId !== null && userId !== session.userId) {
    throw conflict("ATTRIBUTES_DIFFER", "The session belongs to another user already.");
  }
  scope
    .sql("UPDATE sessions SET title = ?, title_folded = ?, agent_name = ?, user_id = ?, metadata = ? WHERE key = ?")
    .run(
      title,
      foldCase(title),
      change.agentName === undefined ? session.agentName : change.agentName,
      userId,
      change.metadataJson ?? JSON.stringify(session.metadata),
      row.key,
    );
  return growSession(scope, row.key, { touches: true }).session;
}

export function mark(scope: ReadScope, sessionId: string): SessionMark | null {
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const position = scope.sql("SELECT max(position) AS position FROM run_events WHERE session_key = ?").get(row.key);
  return {
    generation: row.key,
    lastSequence: row.session.lastSequence,
    lastEventPosition: Number(position?.position ?? 0),
    changeNumber: row.session.changeNumber,
  };
}
