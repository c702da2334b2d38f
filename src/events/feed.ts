import type { Feed } from "./contract.ts";
import { openOneSessionChanges } from "./one-session-changes.ts";
import { openRawMessages } from "./raw-messages.ts";
import { openRunEvents, seesDeltas } from "./run-events.ts";
import { openSession } from "./session-stream.ts";
import type { FeedParts, FeedSettings, StreamParts } from "./stream.ts";
import { openTenantChanges } from "./tenant-changes.ts";
import { createTimers } from "./timers.ts";

const RECHECK_MILLISECONDS = 5_000;
const MERGE_MILLISECONDS = 250;
const LEASE_MILLISECONDS = 1_000;
const RING_EVENTS = 1_000;
const RING_BYTES = 1024 * 1024;
const ROWS_PER_READ = 100;

/** The live side of one tenant for one operation of one caller: see contract.ts. */
export function createFeed(parts: FeedParts): Feed {
  const stream: StreamParts = { ...parts, settings: { ...defaultSettings(), ...parts.settings } };
  return {
    rawMessages: (request) => openRawMessages(stream, request),
    sessionChanges({ sessionId, filter }) {
      if (sessionId === null || sessionId === undefined) return openTenantChanges(stream, filter);
      return openOneSessionChanges(stream, sessionId, filter);
    },
    runEvents: (request) => openRunEvents(stream, request),
    session: (request) => openSession(stream, request),
    draft: (runId) => (seesDeltas(stream) ? parts.drafts.draft(parts.tenantId, runId) : null),
  };
}

function defaultSettings(): FeedSettings {
  return {
    recheckMilliseconds: RECHECK_MILLISECONDS,
    mergeMilliseconds: MERGE_MILLISECONDS,
    leaseMilliseconds: LEASE_MILLISECONDS,
    ring: { events: RING_EVENTS, bytes: RING_BYTES },
    rowsPerRead: ROWS_PER_READ,
    timers: createTimers(),
  };
}
