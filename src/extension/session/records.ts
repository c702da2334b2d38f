import type { ResultOf } from "gql.tada";
import { GatewayError } from "../../errors.ts";
import type { ContextView } from "../../store/contract.ts";
import type {
  ContextMessage,
  ContextSnapshot,
  Generation,
  MessageId,
  RawMessage,
  RequestId,
  Run,
  RunEvent,
  RunId,
  Session,
  SessionId,
  SnapshotId,
  StreamTiming,
  UserId,
} from "../../store/model.ts";
import type { Page, PageRequest } from "../../store/page.ts";
import { type Instant, parseInstant } from "../../time.ts";
import type {
  ContextFields,
  ContextMessagesFields,
  MessageFields,
  PageFields,
  RunEventFields,
  RunFields,
  SessionFields,
  SnapshotFields,
} from "./record-documents.ts";

// What the API answers, as the store's records. Ids are branded here and nowhere else in the client.

/** The API has no word for a life of a session; every session that is read through it has this one. */
const UNKNOWN_GENERATION = 0 as Generation;

/** `changeNumber`s are the store's own and not part of the API: they read 0. */
export function sessionOf(wire: ResultOf<typeof SessionFields>): Session {
  return {
    ...wire,
    id: wire.id as SessionId,
    generation: UNKNOWN_GENERATION,
    parentSessionId: wire.parentSessionId as SessionId | null,
    userId: wire.userId as UserId | null,
    createdAt: instantOf(wire.createdAt),
    updatedAt: instantOf(wire.updatedAt),
    changeNumber: 0,
    createdChangeNumber: 0,
  };
}

/** Columns that were not asked for are undefined. */
export function rawMessageOf(wire: ResultOf<typeof MessageFields>): RawMessage {
  const { timing } = wire;
  return {
    ...wire,
    id: wire.id as MessageId,
    sessionId: wire.sessionId as SessionId,
    requestId: wire.requestId as RequestId,
    runId: wire.runId as RunId | null,
    createdAt: instantOf(wire.createdAt),
    timing: {
      ...streamTimingOf(timing),
      reasoning: timing.reasoning === null ? null : streamTimingOf(timing.reasoning),
      content: timing.content === null ? null : streamTimingOf(timing.content),
    },
    text: wire.text,
    payload: wire.payload,
    metadata: wire.metadata,
    tags: wire.tags,
  };
}

function streamTimingOf(wire: {
  readonly startedAt: string;
  readonly completedAt: string;
  readonly durationNs: number;
}): StreamTiming {
  return {
    startedAt: instantOf(wire.startedAt),
    completedAt: instantOf(wire.completedAt),
    durationNs: wire.durationNs,
  };
}

/** A snapshot as it is stored. */
export function snapshotOf(wire: ResultOf<typeof SnapshotFields>): ContextSnapshot {
  return {
    ...wire,
    id: wire.id as SnapshotId,
    sessionId: wire.sessionId as SessionId,
    createdAt: instantOf(wire.createdAt),
  };
}

/** A run as it stood when the gateway answered. */
export function runOf(wire: ResultOf<typeof RunFields>): Run {
  return {
    ...wire,
    id: wire.id as RunId,
    sessionId: wire.sessionId as SessionId,
    requestId: wire.requestId as RequestId,
    cancelRequestedAt: optionalInstantOf(wire.cancelRequestedAt),
    startedAt: instantOf(wire.startedAt),
    updatedAt: instantOf(wire.updatedAt),
    leaseExpiresAt: instantOf(wire.leaseExpiresAt),
    completedAt: optionalInstantOf(wire.completedAt),
  };
}

/** An event as it is stored or was passed on. */
export function runEventOf(wire: ResultOf<typeof RunEventFields>): RunEvent {
  return {
    ...wire,
    runId: wire.runId as RunId,
    sessionId: wire.sessionId as SessionId,
    requestId: wire.requestId as RequestId,
    messageId: wire.messageId as MessageId | null,
    occurredAt: instantOf(wire.occurredAt),
  };
}

type ContextWire = ResultOf<typeof ContextFields>;
type ContextMessagesWire = ResultOf<typeof ContextMessagesFields> & { readonly totalCount?: number };

/** Null where nothing has been written to the session. The pin is no more than what the API shows of it. */
export function contextViewOf(
  wire: ContextWire,
  messages: ContextMessagesWire | undefined,
  page: PageRequest,
): ContextView | null {
  if (wire.session === null) return null;
  return {
    session: sessionOf(wire.session),
    pin: { generation: UNKNOWN_GENERATION, lastSequence: wire.lastSequence, edits: 0 },
    snapshot: wire.snapshot === null ? null : snapshotOf(wire.snapshot),
    snapshotVersion: wire.snapshotVersion,
    lastSequence: wire.lastSequence,
    repairs: wire.repairs,
    messages: messages === undefined ? null : pageOf(messages, contextMessageOf, page),
  };
}

function contextMessageOf(wire: {
  readonly sequence: number | null;
  readonly id: string | null;
  readonly payload: string;
}): ContextMessage {
  return { sequence: wire.sequence, id: wire.id as MessageId | null, payload: wire.payload };
}

interface ConnectionWire<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: ResultOf<typeof PageFields>;
  readonly totalCount?: number | undefined;
}

/** A connection as a page; its total is there where the request wanted it counted. */
export function pageOf<Wire, T>(
  wire: ConnectionWire<Wire>,
  recordOf: (node: Wire) => T,
  request: PageRequest,
): Page<T> {
  return {
    nodes: wire.edges.map((edge) => recordOf(edge.node)),
    cursors: wire.edges.map((edge) => edge.cursor),
    ...wire.pageInfo,
    totalCount: request.count === true ? (wire.totalCount ?? null) : null,
  };
}

/** The variables of a page: what was not given is left to the gateway's defaults. */
export function pageVariables({ first, after, last, before }: PageRequest): {
  readonly first: number | null;
  readonly after: string | null;
  readonly last: number | null;
  readonly before: string | null;
} {
  return { first: first ?? null, after: after ?? null, last: last ?? null, before: before ?? null };
}

/** A payload that the API leaves null only where it gave an error instead. */
export function answered<T>(value: T | null | undefined): T {
  if (value !== null && value !== undefined) return value;
  throw new GatewayError("UNAVAILABLE", "The gateway's answer lacks the record that it promises.");
}

/** RFC 3339 as the gateway writes it. */
export function instantOf(text: string): Instant {
  const time = parseInstant(text);
  if (time === null) throw new GatewayError("UNAVAILABLE", `The gateway gave a time that is none: ${text}.`);
  return time;
}

function optionalInstantOf(text: string | null): Instant | null {
  return text === null ? null : instantOf(text);
}
