import type { Log } from "../log.ts";
import type { Reach, SessionStore } from "../store/contract.ts";
import type { SessionId, TenantId } from "../store/model.ts";
import type { ReadBudget } from "../store/read-budget.ts";
import type { Clock } from "../time.ts";
import type { Bus, BusEvent } from "./bus.ts";
import type { Drafts } from "./drafts.ts";
import { openPull, type Pull } from "./pull.ts";
import type { RingLimits } from "./run-event-ring.ts";
import type { Timers } from "./timers.ts";

export interface FeedSettings {
  /** A stream looks at the store again after so long, whatever the bus did. */
  readonly recheckMilliseconds: number;
  /** Changes of one session are at least so far apart. */
  readonly mergeMilliseconds: number;
  /** How often streams of changes look for leases that ran out: no event tells of them. */
  readonly leaseMilliseconds: number;
  readonly ring: RingLimits;
  /** Rows of one read of a stream, and so the most that waits for a slow reader beside the ring. */
  readonly rowsPerRead: number;
  readonly timers: Timers;
}

/** What streams read, as the caller reaches it. */
export type StreamStore = Pick<
  SessionStore,
  | "getSessions"
  | "getRuns"
  | "activeRun"
  | "listRunEvents"
  | "mark"
  | "messagesAfter"
  | "runEventsAfter"
  | "lastChangeNumber"
  | "changesAfter"
  | "leasesExpired"
>;

/** What a feed is made of; each stream takes what it needs of it. */
export interface FeedParts {
  readonly store: StreamStore;
  readonly bus: Bus;
  readonly tenantId: TenantId;
  readonly reach: Reach;
  readonly clock: Clock;
  /** The operation's own: the one that its store spends. */
  readonly budget: ReadBudget;
  /** Aborts with a GatewayError when the credential dies. */
  readonly ended: AbortSignal | null;
  readonly drafts: Drafts;
  readonly log: Log;
  readonly settings?: Partial<FeedSettings>;
}

export interface StreamParts extends FeedParts {
  readonly settings: FeedSettings;
}

/** Opens a stream on one session, or on the whole tenant (null). The id may be any text: it is a key and no more. */
export function openStream<T>(
  parts: StreamParts,
  sessionId: string | null,
  hear: (event: BusEvent | null) => boolean,
): Pull<T> {
  return openPull<T>({
    bus: parts.bus,
    topic: { tenantId: parts.tenantId, sessionId: sessionId as SessionId | null },
    timers: parts.settings.timers,
    recheckMilliseconds: parts.settings.recheckMilliseconds,
    budget: parts.budget,
    ended: parts.ended,
    hear,
  });
}
