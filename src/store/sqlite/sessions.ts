import type { FieldPath } from "../../errors.ts";
import { unavailable } from "../../errors.ts";
import type {
  CreateSessionInput,
  ListSessions,
  SessionAttributesInput,
  SessionChangeEntry,
  SessionMark,
  UpdateSessionInput,
} from "../contract.ts";
import type { Generation, Session, SessionId, TokenUsage } from "../model.ts";
import type { Maybe, Page } from "../page.ts";
import type { ReadScope, WriteScope } from "./scope.ts";

/** A session and what only the store knows of it. */
export interface SessionRow {
  readonly key: Generation;
  readonly session: Session;
  /** Snapshots and rewinds stored so far. */
  readonly editCount: number;
  readonly snapshotCount: number;
  readonly runCount: number;
}
/** The session of that id in reach; null for one missing or out of reach. */
export function findSession(_scope: ReadScope, _id: string): SessionRow | null {
  throw unavailable("not built yet");
}
/** The session of that generation in reach. */
export function sessionByKey(_scope: ReadScope, _key: Generation): SessionRow | null {
  throw unavailable("not built yet");
}
/**
 * The session that a write names. NOT_FOUND for a deleted one, and for one missing or out of reach unless the operation
 * `creates`; then null for one never heard of, CONFLICT ID_TAKEN for one out of reach, BAD_USER_INPUT for an impossible id.
 */
export function sessionForWriting(_scope: ReadScope, _sessionId: string, _creates: boolean): SessionRow | null {
  throw unavailable("not built yet");
}
/** Attributes that fit the session (null: one to be made), labels trimmed, userId narrowed to the caller's. */
export interface CheckedAttributes {
  readonly parentSessionId: SessionId | null;
  readonly sessionType: number | null;
  readonly title: string | null;
  readonly agentName: string | null;
  readonly userId: string | null;
  readonly metadataJson: string | null;
}
/** Checks form first, then fit: CONFLICT ATTRIBUTES_DIFFER for another parent, type or user of an existing session. */
export function checkSessionAttributes(
  _scope: ReadScope,
  _row: SessionRow | null,
  _sessionId: string,
  _attributes: Maybe<SessionAttributesInput>,
  _path: FieldPath,
): CheckedAttributes {
  throw unavailable("not built yet");
}
/** Makes the row, quota checked (QUOTA_EXCEEDED), tenant counters moved. */
export function insertSession(_scope: WriteScope, _sessionId: string, _attributes: CheckedAttributes): SessionRow {
  throw unavailable("not built yet");
}
/** Sets title and agentName where given and different; metadata, type, parent and user of an existing session stay. */
export function applyAttributes(_scope: WriteScope, _row: SessionRow, _attributes: CheckedAttributes): void {
  throw unavailable("not built yet");
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
export function growSession(_scope: WriteScope, _key: Generation, _growth: SessionGrowth): SessionRow {
  throw unavailable("not built yet");
}
/** QUOTA_EXCEEDED unless so many more messages and bytes fit into the tenant's limits. */
export function checkMessageQuota(_scope: WriteScope, _messages: number, _bytes: number): void {
  throw unavailable("not built yet");
}
export function getSessions(_scope: ReadScope, _ids: readonly string[]): readonly (Session | null)[] {
  throw unavailable("not built yet");
}
export function listSessions(_scope: ReadScope, _request: ListSessions): Page<Session> {
  throw unavailable("not built yet");
}
export function createSession(
  _scope: WriteScope,
  _input: CreateSessionInput,
): { readonly session: Session; readonly created: boolean } {
  throw unavailable("not built yet");
}
export function updateSession(_scope: WriteScope, _input: UpdateSessionInput): Session {
  throw unavailable("not built yet");
}
export function mark(_scope: ReadScope, _sessionId: string): SessionMark | null {
  throw unavailable("not built yet");
}
export function changesAfter(_scope: ReadScope, _changeNumber: number, _limit: number): readonly SessionChangeEntry[] {
  throw unavailable("not built yet");
}
