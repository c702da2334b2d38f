import { badInput, notFound } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import { checkCount } from "../check.ts";
import type { RecordRunEventsInput, RecordRunEventsResult } from "../contract.ts";
import { isDelta, type RunEvent } from "../model.ts";
import { type CheckedEvent, checkEvents, STORED_EVENTS_PER_RUN_MAX } from "../run-check.ts";
import { leaseFrom } from "../run-state.ts";
import { findRun, type OpenTool, type RunRow } from "./run-rows.ts";
import { verdictOf } from "./runs.ts";
import type { WriteScope } from "./scope.ts";
import { growSession } from "./sessions.ts";
import { storeEvent } from "./stored-events.ts";

/** Open tool calls that a run remembers; more at once are counted as settled, oldest first. */
const OPEN_TOOLS_MAX = 256;

/**
 * Records what is new in a report and renews the lease (decisions 16 and 18). A report that is known in whole gives the
 * run back, whatever has become of it: a retry is safe.
 */
export function recordRunEvents(scope: WriteScope, input: RecordRunEventsInput): RecordRunEventsResult {
  const events = checkEvents(input.events);
  const row = findRun(scope, input.runId);
  if (row === null) throw notFound("run");
  const last = row.run.lastEventIndex;
  const first = firstIndexOf(input, last);
  const fresh = events.slice(Math.max(0, last + 1 - first));
  if (events.length > 0 && fresh.length === 0) return { run: row.run, recorded: [] };
  verdictOf(row, "report");
  const recorded = fresh.map((event, offset) => ({ event, index: Math.max(first, last + 1) + offset }));
  const stored = recorded
    .filter(({ event }) => !isDelta(event.type))
    .slice(0, Math.max(0, STORED_EVENTS_PER_RUN_MAX - row.storedEventCount));
  for (const { event, index } of stored) storeEvent(scope, row, index, event);
  advance(scope, row, fresh, stored.length);
  if (row.run.status === "ABANDONED" || recorded.some(({ event }) => !isDelta(event.type))) {
    growSession(scope, row.sessionKey, { touches: false });
  }
  const run = findRun(scope, row.run.id)?.run ?? row.run;
  return { run, recorded: recorded.map(({ event, index }) => runEvent(scope, row, index, event)) };
}

/** Where the first given event stands; left out, behind the last one recorded. */
function firstIndexOf(input: RecordRunEventsInput, last: number): number {
  if (input.firstIndex === null || input.firstIndex === undefined) return last + 1;
  const first = checkCount(input.firstIndex, ["firstIndex"]);
  if (first < 1 || first > last + 1) {
    throw badInput(["firstIndex"], `Events have no gaps: this is at least 1 and at most ${last + 1}.`, {
      lastEventIndex: last,
    });
  }
  return first;
}

function advance(scope: WriteScope, row: RunRow, events: readonly CheckedEvent[], storedEvents: number): void {
  const tools = events.reduce(settleTools, row.openTools);
  scope
    .sql(`UPDATE runs SET phase = ?, turn = ?, active_tool_json = ?, last_event_index = last_event_index + ?,
      stored_event_count = stored_event_count + ?, lease_expires_at = ?, updated_at = ? WHERE key = ?`)
    .run(
      ...[events.at(-1)?.phase ?? row.run.phase, Math.max(row.run.turn, ...events.map((event) => event.turn))],
      ...[tools.length === 0 ? null : JSON.stringify(tools), events.length, storedEvents],
      ...[leaseFrom(scope.now, row.leaseSeconds), scope.now, row.key],
    );
}

function settleTools(open: readonly OpenTool[], { type, toolCall }: CheckedEvent): readonly OpenTool[] {
  if (toolCall === null) return open;
  if (type === "TOOL_STARTED") return [...open, [toolCall.id, toolCall.name] as const].slice(-OPEN_TOOLS_MAX);
  if (type !== "TOOL_COMPLETED" && type !== "TOOL_FAILED") return open;
  return open.filter(([id]) => id !== toolCall.id);
}

function runEvent(scope: WriteScope, { run }: RunRow, index: number, event: CheckedEvent): RunEvent {
  const { type, phase, turn, toolCall, messageId, delta, name, payloadJson, occurredAt } = event;
  return {
    ...{ runId: run.id, index, sessionId: run.sessionId, requestId: run.requestId },
    ...{ type, phase, turn, toolCall, messageId, delta, name },
    payload: payloadJson === null ? null : (JSON.parse(payloadJson) as JsonObject),
    occurredAt: occurredAt ?? scope.now,
  };
}
