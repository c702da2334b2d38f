import { conflict, type FieldPath, forbidden } from "../../errors.ts";
import { type JsonValue, jsonEquals } from "../../json.ts";
import { addUsage, checkCount, checkOptionalId } from "../check.ts";
import type { AppendMessagesInput, AppendMessagesResult } from "../contract.ts";
import { type CheckedMessage, checkMessages } from "../message-check.ts";
import {
  EVERYTHING,
  type MessageId,
  NO_USAGE,
  type RawMessage,
  type RequestId,
  type RunId,
  type TokenUsage,
} from "../model.ts";
import type { Maybe } from "../page.ts";
import { messageColumns, rawMessage, roleCode } from "./message-rows.ts";
import { renewRun, runForWriting } from "./runs.ts";
import type { SqlRow, WriteScope } from "./scope.ts";
import { checkSessionAttributes } from "./session-attributes.ts";
import type { SessionRow } from "./session-rows.ts";
import {
  applyAttributes,
  checkMessageQuota,
  growSession,
  insertSession,
  sessionForWriting,
  usageValues,
} from "./sessions.ts";
import { countUsage } from "./usage.ts";

/** The order of checks is decision 1: a retry gets its records whatever has changed since. */
export function appendMessages(scope: WriteScope, input: AppendMessagesInput): AppendMessagesResult {
  const checked = checkMessages(input.messages);
  const requestId = checkOptionalId<RequestId>(input.requestId, ["requestId"]);
  checkRoles(scope, checked);
  const found = sessionForWriting(scope, input.sessionId, true);
  const known = checked.map((message, index) => knownRow(scope, found, message, index));
  const fresh = newMessages(checked, known);
  if (found !== null && fresh.length === 0) return resultOf(scope, found, checked, checked.length);
  const run = given(input.runId) ? runForWriting(scope, found?.key ?? null, input.runId) : null;
  checkExpectation(found, input);
  const attributes = checkSessionAttributes(scope, found, input.sessionId, input.session, ["session"]);
  checkMessageQuota(scope, fresh.length, sum(fresh.map((message) => message.byteSize)));
  const session = found ?? insertSession(scope, input.sessionId, attributes);
  if (found !== null) applyAttributes(scope, found, attributes);
  const written = insertMessages(scope, session, fresh, {
    requestId: requestId ?? (scope.newUuid() as RequestId),
    runId: run?.run.id ?? null,
  });
  const usage = fresh.reduce((total, message) => addUsage(total, message.usage ?? NO_USAGE), NO_USAGE);
  const grown = growSession(scope, session.key, { messages: fresh.length, usage, touches: true });
  if (run !== null) renewRun(scope, run, usage);
  countMessages(scope, grown, fresh);
  const ids = checked.map((message) => message.id ?? written.get(message) ?? null);
  return resultOf(scope, grown, checked, checked.length - fresh.length, ids);
}

function checkRoles(scope: WriteScope, messages: readonly CheckedMessage[]): void {
  for (const { message } of messages) {
    if (!scope.reach.writableRoles.has(message.role)) {
      throw forbidden(`This key may not write ${message.role} messages.`);
    }
  }
}

/** The stored row of a message's id: CONFLICT where it holds another message, or stands in another session. */
function knownRow(scope: WriteScope, session: SessionRow | null, message: CheckedMessage, index: number) {
  if (message.id === null) return null;
  const row = scope.sql("SELECT * FROM raw_messages WHERE id = ?").get(message.id);
  if (row === undefined) return null;
  if (isErased(scope, row)) {
    scope.sql("DELETE FROM raw_messages WHERE id = ?").run(message.id);
    return null;
  }
  if (row.session_key !== session?.key) {
    throw conflict("ID_TAKEN", "This message id stands in another session.", { index });
  }
  if (!sameContent(row, message)) {
    throw conflict("CONTENT_DIFFERS", "This message id holds another message.", { index });
  }
  return row;
}

/** Rows of a deleted session that wait for their erasure: their ids are free at once. */
function isErased(scope: WriteScope, row: SqlRow): boolean {
  return scope.sql("SELECT 1 FROM sessions WHERE key = ?").get(row.session_key ?? null) === undefined;
}

function sameContent(row: SqlRow, { encoded, usage, metadataJson, tagsJson }: CheckedMessage): boolean {
  const texts =
    row.role === roleCode(encoded.role) &&
    (row.include_in_context === 1) === encoded.includeInContext &&
    row.text_json === encoded.textJson &&
    row.parts_json === encoded.partsJson &&
    row.tail_json === encoded.tailJson;
  const usageColumns = [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens];
  const counts = usage === null ? [null, null, null, null, null] : usageValues(usage);
  const sameUsage = [...usageColumns, row.reasoning_tokens].every((count, index) => count === counts[index]);
  return (
    texts &&
    sameUsage &&
    sameJson(row.attributes, encoded.attributesJson) &&
    sameJson(row.metadata, metadataJson) &&
    sameJson(row.tags, tagsJson)
  );
}

function sameJson(stored: unknown, given: string): boolean {
  if (stored === given) return true;
  const left = parsed(String(stored));
  // Damaged notes can't be compared; the message under this id is still the one that was appended.
  return left === undefined || jsonEquals(left, JSON.parse(given));
}

function parsed(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Those to be written, each id once; CONFLICT where one batch gives an id to two different messages. */
function newMessages(
  messages: readonly CheckedMessage[],
  known: readonly (SqlRow | null)[],
): readonly CheckedMessage[] {
  const byId = new Map<MessageId, CheckedMessage>();
  return messages.filter((message, index) => {
    if (known[index] !== null) return false;
    if (message.id === null) return true;
    const earlier = byId.get(message.id);
    if (earlier === undefined) {
      byId.set(message.id, message);
      return true;
    }
    if (!equalMessages(earlier, message)) {
      throw conflict("CONTENT_DIFFERS", "Two different messages of this batch have one id.", { index });
    }
    return false;
  });
}

function equalMessages(left: CheckedMessage, right: CheckedMessage): boolean {
  const exact = ({ encoded, usage }: CheckedMessage) => JSON.stringify([{ ...encoded, attributesJson: "" }, usage]);
  return (
    exact(left) === exact(right) &&
    sameJson(left.encoded.attributesJson, right.encoded.attributesJson) &&
    sameJson(left.metadataJson, right.metadataJson) &&
    sameJson(left.tagsJson, right.tagsJson)
  );
}

function checkExpectation(session: SessionRow | null, input: AppendMessagesInput): void {
  if (input.expectedLastSequence === null || input.expectedLastSequence === undefined) return;
  const path: FieldPath = ["expectedLastSequence"];
  const lastSequence = session?.session.lastSequence ?? 0;
  if (checkCount(input.expectedLastSequence, path) !== lastSequence) {
    throw conflict("STALE_SEQUENCE", "The log has grown since it was read.", { lastSequence });
  }
}

function given<T>(value: Maybe<T>): value is T {
  return value !== null && value !== undefined;
}

const INSERT = `INSERT INTO raw_messages (id, session_key, sequence, request_id, run_id, turn, role, include_in_context,
  context_empty, tool_call_id_json, tool_name_json, calls_json, byte_size, started_at, completed_at, duration_ns,
  reasoning_started_at, reasoning_completed_at, reasoning_duration_ns, content_started_at, content_completed_at,
  content_duration_ns, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, created_at,
  metadata, tags, attributes, text_json, parts_json, tail_json) VALUES (${Array(34).fill("?").join(", ")})`;

/** Writes them on the next sequences; gives the id of each. */
function insertMessages(
  scope: WriteScope,
  session: SessionRow,
  messages: readonly CheckedMessage[],
  origin: { readonly requestId: RequestId; readonly runId: RunId | null },
): ReadonlyMap<CheckedMessage, MessageId> {
  const ids = new Map<CheckedMessage, MessageId>();
  for (const [index, checked] of messages.entries()) {
    const id = checked.id ?? (scope.newUuid() as MessageId);
    ids.set(checked, id);
    const { encoded, timing, usage, message } = checked;
    const sequence = session.session.lastSequence + index + 1;
    scope
      .sql(INSERT)
      .run(
        ...[id, session.key, sequence, origin.requestId, origin.runId, checked.turn, roleCode(encoded.role)],
        ...[encoded.includeInContext ? 1 : 0, isEmpty(message) ? 1 : 0, ...pairingColumns(message), checked.byteSize],
        ...[timing?.startedAt ?? scope.now, timing?.completedAt ?? scope.now, timing?.durationNs ?? 0],
        ...streamValues(timing?.reasoning),
        ...streamValues(timing?.content),
        ...(usage === null ? [null, null, null, null, null] : usageValues(usage)),
        ...[scope.now, checked.metadataJson, checked.tagsJson, encoded.attributesJson],
        ...[encoded.textJson, encoded.partsJson, encoded.tailJson],
      );
  }
  return ids;
}

function streamValues(stream: { startedAt: number; completedAt: number; durationNs: number } | null | undefined) {
  if (stream === null || stream === undefined) return [null, null, null];
  return [stream.startedAt, stream.completedAt, stream.durationNs];
}

/** What a context is paired from: call id and name of a result, ids and names of an assistant's calls. */
function pairingColumns(message: CheckedMessage["message"]): readonly [string | null, string | null, string | null] {
  if (message.role === "TOOL") return [JSON.stringify(message.toolCallId), JSON.stringify(message.name), null];
  if (message.role !== "ASSISTANT" || message.toolCalls.length === 0) return [null, null, null];
  return [null, null, JSON.stringify(message.toolCalls.map((call) => [call.id, call.name]))];
}

/** An assistant message that a context leaves out: no calls, no replay blocks, parts absent or of empty text only. */
function isEmpty(message: CheckedMessage["message"]): boolean {
  if (message.role !== "ASSISTANT") return false;
  if (message.toolCalls.length > 0 || message.replayBlocks.length > 0) return false;
  return message.parts.every((part) => part.kind === "text" && part.text === "");
}

function countMessages(scope: WriteScope, row: SessionRow, messages: readonly CheckedMessage[]): void {
  for (const { message, usage } of messages) {
    const assistant = message.role === "ASSISTANT" ? message : null;
    const tokens: TokenUsage = usage ?? NO_USAGE;
    const { agentName, userId } = row.session;
    const provider = assistant?.provider ?? null;
    countUsage(scope, {
      agentName,
      userId,
      provider,
      model: assistant?.model ?? null,
      messageCount: 1,
      runCount: 0,
      tokens,
    });
  }
}

function resultOf(
  scope: WriteScope,
  row: SessionRow,
  messages: readonly CheckedMessage[],
  duplicates: number,
  ids: readonly (MessageId | null)[] = messages.map((message) => message.id),
): AppendMessagesResult {
  const read = scope.sql(`SELECT ${messageColumns(EVERYTHING)} FROM raw_messages WHERE id = ?`);
  const records = ids.flatMap((id): readonly RawMessage[] => {
    const found = read.get(id);
    return found === undefined ? [] : [rawMessage(found, row.session.id, EVERYTHING)];
  });
  return { session: row.session, messages: records, duplicates };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
