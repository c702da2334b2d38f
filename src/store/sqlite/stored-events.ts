import type { JsonObject } from "../../json.ts";
import { instant } from "../../time.ts";
import type { PositionedRunEvent, Tail } from "../contract.ts";
import type {
  AgentPhase,
  MessageId,
  RequestId,
  RunEvent,
  RunEventType,
  RunId,
  SessionId,
  ToolCallRef,
} from "../model.ts";
import { PAGE_ROWS_MAX, type Page, type PageRequest } from "../page.ts";
import type { CheckedEvent } from "../run-check.ts";
import type { Condition } from "./condition.ts";
import { findRun, type RunRow } from "./run-rows.ts";
import type { ReadScope, SqlRow, WriteScope } from "./scope.ts";
import { sessionByKey } from "./sessions.ts";
import { tableWalk, type Walk, walkAfter, walkPage } from "./walk.ts";

export function storeEvent(scope: WriteScope, row: RunRow, index: number, event: CheckedEvent): void {
  const { type, phase, turn, toolCall, messageId, name, payloadJson, occurredAt } = event;
  scope
    .sql(`INSERT INTO run_events (session_key, run_key, event_index, type, phase, turn, tool_call_json, message_id,
      name_json, payload, occurred_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(
      ...[row.sessionKey, row.key, index, type, phase, turn],
      ...[toolCall === null ? null : JSON.stringify([toolCall.id, toolCall.name]), messageId],
      ...[name === null ? null : JSON.stringify(name), payloadJson, occurredAt ?? scope.now],
    );
}

export function listRunEvents(scope: ReadScope, runId: string, page: PageRequest): Page<RunEvent> | null {
  const run = findRun(scope, runId);
  if (run === null) return null;
  const walk = eventWalk(scope, "event_index", { text: "run_key = ?", values: [run.key] });
  const events = { ...walk, fetch: (rows: readonly SqlRow[]) => walk.fetch(rows).map(({ event }) => event) };
  return walkPage(scope, events, page, { kind: "runEvents", owner: [scope.tenantId, run.key] });
}

export function runEventsAfter(scope: ReadScope, tail: Tail): readonly PositionedRunEvent[] | null {
  const session = sessionByKey(scope, tail.generation);
  if (session === null || session.session.id !== tail.sessionId) return null;
  const walk = eventWalk(scope, "position", { text: "session_key = ?", values: [session.key] });
  return walkAfter(scope, walk, [tail.after], Math.min(tail.limit, PAGE_ROWS_MAX));
}

function eventWalk(scope: ReadScope, key: string, list: Condition): Walk<PositionedRunEvent> {
  const walk = tableWalk(scope, {
    table: "run_events",
    keys: [key],
    order: "ASC",
    also: "position",
    weight: "256 + coalesce(octet_length(payload), 0) + coalesce(octet_length(tool_call_json), 0)",
    list,
  });
  const read = `SELECT run_events.*, runs.id AS run_id, runs.request_id AS request_id, sessions.id AS session_id
    FROM run_events JOIN runs ON runs.key = run_events.run_key
    JOIN sessions ON sessions.key = run_events.session_key WHERE position = ?`;
  const fetch = (rows: readonly SqlRow[]) =>
    rows.flatMap((row) => {
      const found = scope.sql(read).get(row.position ?? null);
      return found === undefined ? [] : [positioned(found)];
    });
  return { ...walk, fetch };
}

function positioned(row: SqlRow): PositionedRunEvent {
  return {
    position: Number(row.position),
    event: {
      runId: row.run_id as RunId,
      index: Number(row.event_index),
      sessionId: row.session_id as SessionId,
      requestId: row.request_id as RequestId,
      type: row.type as RunEventType,
      phase: row.phase as AgentPhase,
      turn: Number(row.turn),
      toolCall: toolCallOf(row.tool_call_json),
      messageId: row.message_id as MessageId | null,
      delta: null,
      name: typeof row.name_json === "string" ? (JSON.parse(row.name_json) as string) : null,
      payload: typeof row.payload === "string" ? (JSON.parse(row.payload) as JsonObject) : null,
      occurredAt: instant(Number(row.occurred_at)),
    },
  };
}

function toolCallOf(json: SqlRow[string] | undefined): ToolCallRef | null {
  if (typeof json !== "string") return null;
  const [id, name] = JSON.parse(json) as readonly [string, string];
  return { id, name };
}
