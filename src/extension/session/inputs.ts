import type { VariablesOf } from "gql.tada";
import type {
  AppendMessageInput,
  AppendMessagesInput,
  ContentPartInput,
  MessageInput,
  MessageTimingInput,
  RecordRunEventsInput,
  RunFilter,
  SessionFilter,
  StreamTimingInput,
} from "../../store/contract.ts";
import type { Maybe } from "../../store/page.ts";
import { formatInstant, type Instant } from "../../time.ts";
import type { Given } from "./document.ts";
import type { ListRuns, RecordRunEvents } from "./run-documents.ts";
import type { AppendMessages, ListSessions } from "./session-documents.ts";

// The store's inputs as the API's: the names are the same, times are written out. What is undefined is left out.

type AppendWire = Given<VariablesOf<typeof AppendMessages>["input"]>;
type AppendMessageWire = AppendWire["messages"][number];
type EventsWire = Given<VariablesOf<typeof RecordRunEvents>["input"]>;

/** A batch to append, as the API takes it. */
export function appendInputOf(input: AppendMessagesInput): AppendWire {
  return { ...input, messages: input.messages.map(appendMessageOf) };
}

function appendMessageOf(input: AppendMessageInput): AppendMessageWire {
  const timing = input.timing ?? null;
  return { ...input, message: messageOf(input.message), timing: timing === null ? null : timingOf(timing) };
}

/** The API refuses a null beside the one member that is given; the store reads it as not given. */
function messageOf(message: MessageInput): AppendMessageWire["message"] {
  const members = Object.entries(message).filter(([, member]) => given(member));
  const whole = members.map(([role, member]) => {
    if (typeof member !== "object" || !Array.isArray(member.parts)) return [role, member];
    return [role, { ...member, parts: member.parts.map(withoutNulls) }];
  });
  return Object.fromEntries(whole) as AppendMessageWire["message"];
}

function withoutNulls(part: ContentPartInput): ContentPartInput {
  return Object.fromEntries(Object.entries(part).filter(([, member]) => given(member)));
}

function given(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function timingOf(timing: MessageTimingInput) {
  const optional = (stream: Maybe<StreamTimingInput>) =>
    stream === null || stream === undefined ? null : streamOf(stream);
  return { ...streamOf(timing), reasoning: optional(timing.reasoning), content: optional(timing.content) };
}

function streamOf(stream: StreamTimingInput) {
  return {
    startedAt: formatInstant(stream.startedAt),
    completedAt: formatInstant(stream.completedAt),
    durationNs: stream.durationNs,
  };
}

/** A report, as the API takes it. */
export function eventsInputOf(input: RecordRunEventsInput): EventsWire {
  const events = input.events.map((event) => ({ ...event, occurredAt: timeOf(event.occurredAt) }));
  return { ...input, events };
}

/** A filter of sessions, as the API takes it; null where none is given. */
export function sessionFilterOf(filter: Maybe<SessionFilter>): Given<VariablesOf<typeof ListSessions>["filter"]> {
  if (filter === null || filter === undefined) return null;
  const { updatedAfter, updatedBefore, createdAfter, createdBefore, ...rest } = filter;
  return {
    ...rest,
    updatedAfter: timeOf(updatedAfter),
    updatedBefore: timeOf(updatedBefore),
    createdAfter: timeOf(createdAfter),
    createdBefore: timeOf(createdBefore),
  };
}

/** A filter of runs, as the API takes it; null where none is given. */
export function runFilterOf(filter: Maybe<RunFilter>): Given<VariablesOf<typeof ListRuns>["filter"]> {
  if (filter === null || filter === undefined) return null;
  return { ...filter, startedAfter: timeOf(filter.startedAfter), startedBefore: timeOf(filter.startedBefore) };
}

function timeOf(time: Maybe<Instant>): string | null {
  return time === null || time === undefined ? null : formatInstant(time);
}
