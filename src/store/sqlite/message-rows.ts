import type { JsonObject } from "../../json.ts";
import { type Instant, instant } from "../../time.ts";
import type { SkeletonEntry } from "../context-view.ts";
import { composePayload, parsePayload } from "../message-codec.ts";
import {
  type ContextMessage,
  MESSAGE_ROLES,
  type MessageId,
  type MessageRole,
  type MessageTiming,
  type RawMessage,
  type RawMessageSelection,
  type RequestId,
  type RunId,
  type SessionId,
  type StreamTiming,
} from "../model.ts";
import type { SqlRow, SqlValue } from "./scope.ts";
import { usageOf } from "./session-rows.ts";

const LIGHT_COLUMNS = `key, id, sequence, request_id, run_id, turn, role, include_in_context, tool_name_json, byte_size,
  started_at, completed_at, duration_ns, reasoning_started_at, reasoning_completed_at, reasoning_duration_ns,
  content_started_at, content_completed_at, content_duration_ns, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, reasoning_tokens, created_at`;

/** The columns that a selection needs; what is not selected is not read from the disk. */
export function messageColumns(select: RawMessageSelection): string {
  const costly = [
    ...(select.text || select.payload ? ["text_json"] : []),
    ...(select.payload ? ["parts_json", "attributes", "tail_json"] : []),
    ...(select.metadata ? ["metadata"] : []),
    ...(select.tags ? ["tags"] : []),
  ];
  return [LIGHT_COLUMNS, ...costly].join(", ");
}

export function roleCode(role: MessageRole): number {
  return MESSAGE_ROLES.indexOf(role) + 1;
}

export function roleOf(code: SqlValue | undefined): MessageRole {
  return MESSAGE_ROLES[Number(code) - 1] ?? "SYSTEM";
}

/** A damaged row never throws: its payload is null and its text empty, so that a walk goes on past it. */
export function rawMessage(row: SqlRow, sessionId: SessionId, select: RawMessageSelection): RawMessage {
  return {
    id: row.id as MessageId,
    sessionId,
    sequence: Number(row.sequence),
    requestId: row.request_id as RequestId,
    runId: row.run_id as RunId | null,
    turn: row.turn as number | null,
    role: roleOf(row.role),
    toolName: row.tool_name_json === null ? null : textLiteral(row.tool_name_json),
    byteSize: Number(row.byte_size),
    timing: timingOf(row),
    usage: row.input_tokens === null ? null : usageOf(row),
    createdAt: time(row.created_at),
    text: select.text ? textLiteral(row.text_json) : undefined,
    payload: select.payload ? payloadOf(row) : undefined,
    metadata: select.metadata ? notesOf(row.metadata) : undefined,
    tags: select.tags ? notesOf(row.tags) : undefined,
  };
}

function payloadOf(row: SqlRow): string | null {
  const payload = composePayload({
    role: roleOf(row.role),
    includeInContext: row.include_in_context === 1,
    textJson: String(row.text_json),
    partsJson: row.parts_json as string | null,
    attributesJson: String(row.attributes),
    tailJson: String(row.tail_json),
  });
  return parsePayload(payload) === null ? null : payload;
}

function textLiteral(literal: SqlValue | undefined): string {
  try {
    const value: unknown = JSON.parse(String(literal));
    return typeof value === "string" ? value : "";
  } catch {
    return "";
  }
}

function notesOf(json: SqlValue | undefined): JsonObject {
  try {
    return JSON.parse(String(json)) as JsonObject;
  } catch {
    return {};
  }
}

function timingOf(row: SqlRow): MessageTiming {
  return {
    startedAt: time(row.started_at),
    completedAt: time(row.completed_at),
    durationNs: Number(row.duration_ns),
    reasoning: streamOf(row.reasoning_started_at, row.reasoning_completed_at, row.reasoning_duration_ns),
    content: streamOf(row.content_started_at, row.content_completed_at, row.content_duration_ns),
  };
}

function streamOf(started: SqlValue | undefined, completed: SqlValue | undefined, duration: SqlValue | undefined) {
  if (typeof started !== "number") return null;
  return {
    startedAt: time(started),
    completedAt: time(completed),
    durationNs: Number(duration),
  } satisfies StreamTiming;
}

function time(value: SqlValue | undefined): Instant {
  return instant(Number(value));
}

const NO_CALLS: SkeletonEntry["calls"] = Object.freeze([]);

/** What pairing needs of a message that the filter has let through; throws where a column is damaged. */
export function skeletonEntry(row: SqlRow): SkeletonEntry {
  const calls = row.calls_json === null ? null : (JSON.parse(String(row.calls_json)) as readonly [string, string][]);
  return {
    sequence: Number(row.sequence),
    role: roleOf(row.role),
    includeInContext: true,
    empty: false,
    calls: calls?.map(([id, name]) => ({ id, name })) ?? NO_CALLS,
    resultFor: row.tool_call_id_json === null ? null : (JSON.parse(String(row.tool_call_id_json)) as string),
  };
}

/** The columns that `contextMessage` reads. */
export const PAYLOAD_COLUMNS = `id, sequence, role, include_in_context, text_json, parts_json, attributes, tail_json`;

/** Null where the row is damaged. */
export function contextMessage(row: SqlRow): ContextMessage | null {
  const payload = payloadOf(row);
  return payload === null ? null : { sequence: Number(row.sequence), id: row.id as MessageId, payload };
}
