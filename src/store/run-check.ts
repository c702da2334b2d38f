import { badInput, type FieldPath } from "../errors.ts";
import { EMPTY_OBJECT, jsonObjectProblem } from "../json.ts";
import { exceedsCodePoints } from "../text.ts";
import type { Instant } from "../time.ts";
import { checkCount, checkTextSize, checkToolText, checkUuid, utf8Size } from "./check.ts";
import type { FinishRunInput, RunEventInput } from "./contract.ts";
import {
  AGENT_PHASES,
  type AgentPhase,
  isDelta,
  type MessageId,
  RUN_EVENT_TYPES,
  RUN_OUTCOMES,
  type RunError,
  type RunEventType,
  type ToolCallRef,
} from "./model.ts";
import type { Maybe } from "./page.ts";
import { LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN } from "./run-state.ts";

export const RUN_EVENTS_PER_CALL_MAX = 1_000;
/** Events of one run that are stored; further ones are passed on only. */
export const STORED_EVENTS_PER_RUN_MAX = 10_000;
export const EVENT_NAME_CODE_POINTS_MAX = 200;
/** A delta or an event's payload, as UTF-8. */
export const EVENT_BYTES_MAX = 64 * 1024;
export const ERROR_NAME_CODE_POINTS_MAX = 200;
export const ERROR_MESSAGE_BYTES_MAX = 8 * 1024;

/** Recorded by the gateway itself, from startRun and finishRun. */
const OWN_TYPES: ReadonlySet<RunEventType> = new Set(["RUN_STARTED", "RUN_COMPLETED", "RUN_FAILED", "RUN_CANCELLED"]);
const TERMINAL_PHASES: ReadonlySet<AgentPhase> = new Set(RUN_OUTCOMES);

/** An event whose form has been checked. */
export interface CheckedEvent {
  readonly type: RunEventType;
  readonly phase: AgentPhase;
  readonly turn: number;
  readonly toolCall: ToolCallRef | null;
  readonly messageId: MessageId | null;
  readonly delta: string | null;
  readonly name: string | null;
  readonly payloadJson: string | null;
  readonly occurredAt: Instant | null;
}

/** Checks one report; the path of a refusal begins with ["events", index]. */
export function checkEvents(events: readonly RunEventInput[]): readonly CheckedEvent[] {
  if (events.length > RUN_EVENTS_PER_CALL_MAX) {
    throw badInput(["events"], `One call takes at most ${RUN_EVENTS_PER_CALL_MAX} events.`);
  }
  return events.map((event, index) => checkEvent(event, ["events", index]));
}

function checkEvent(event: RunEventInput, path: FieldPath): CheckedEvent {
  if (!RUN_EVENT_TYPES.includes(event.type) || OWN_TYPES.has(event.type)) {
    throw badInput([...path, "type"], "The gateway records a run's start and end itself, from startRun and finishRun.");
  }
  if (!AGENT_PHASES.includes(event.phase) || TERMINAL_PHASES.has(event.phase)) {
    throw badInput([...path, "phase"], "A run reaches its last phase through finishRun.");
  }
  const name = event.name ?? null;
  if (name !== null && exceedsCodePoints(name, EVENT_NAME_CODE_POINTS_MAX)) {
    throw badInput([...path, "name"], `An event's name has at most ${EVENT_NAME_CODE_POINTS_MAX} characters.`);
  }
  if (event.type === "CUSTOM" && (name === null || name === "")) {
    throw badInput([...path, "name"], "A CUSTOM event needs a name.");
  }
  return {
    type: event.type,
    phase: event.phase,
    turn: checkCount(event.turn ?? 0, [...path, "turn"]),
    toolCall: checkToolCall(event.toolCall, [...path, "toolCall"]),
    messageId: given(event.messageId) ? checkUuid<MessageId>(event.messageId, [...path, "messageId"]) : null,
    delta: checkDelta(event, [...path, "delta"]),
    name,
    payloadJson: given(event.payload) ? checkPayload(event.payload, [...path, "payload"]) : null,
    occurredAt: event.occurredAt ?? null,
  };
}

function given<T>(value: Maybe<T>): value is T {
  return value !== null && value !== undefined;
}

function checkDelta(event: RunEventInput, path: FieldPath): string | null {
  const delta = event.delta ?? null;
  if (isDelta(event.type) && delta === null) throw badInput(path, "A delta event needs its delta.");
  if (!isDelta(event.type) && delta !== null) throw badInput(path, "Only a delta event has a delta.");
  return delta === null ? null : checkTextSize(delta, EVENT_BYTES_MAX, path);
}

function checkToolCall(call: RunEventInput["toolCall"], path: FieldPath): ToolCallRef | null {
  if (!given(call)) return null;
  return { id: checkToolText(call.id, [...path, "id"]), name: checkToolText(call.name, [...path, "name"]) };
}

function checkPayload(payload: NonNullable<RunEventInput["payload"]>, path: FieldPath): string {
  const problem = jsonObjectProblem(payload);
  if (problem !== null) throw badInput(path, `This JSON object ${problem}.`);
  const json = payload === EMPTY_OBJECT ? "{}" : JSON.stringify(payload);
  if (utf8Size(json) > EVENT_BYTES_MAX)
    throw badInput(path, `This JSON object is larger than ${EVENT_BYTES_MAX} bytes.`);
  return json;
}

/** Seconds of silence, 1 to 3,600. */
export function checkLease(seconds: Maybe<number>): number {
  const lease = seconds ?? LEASE_SECONDS_DEFAULT;
  if (!Number.isInteger(lease) || lease < LEASE_SECONDS_MIN || lease > LEASE_SECONDS_MAX) {
    throw badInput(["leaseSeconds"], `A lease has ${LEASE_SECONDS_MIN} to ${LEASE_SECONDS_MAX} seconds.`);
  }
  return lease;
}

/** The error of a FAILED run; with any other outcome it is ignored, whatever it holds. */
export function checkOutcome(input: FinishRunInput): RunError | null {
  if (!RUN_OUTCOMES.includes(input.status)) throw badInput(["status"], `A run ends as ${RUN_OUTCOMES.join(", ")}.`);
  if (input.status !== "FAILED" || !given(input.error)) return null;
  const { name, message } = input.error;
  if (name === "" || exceedsCodePoints(name, ERROR_NAME_CODE_POINTS_MAX)) {
    throw badInput(["error", "name"], `An error's name has 1 to ${ERROR_NAME_CODE_POINTS_MAX} characters.`);
  }
  return { name, message: checkTextSize(message, ERROR_MESSAGE_BYTES_MAX, ["error", "message"]) };
}
