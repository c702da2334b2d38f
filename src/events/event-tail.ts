import type { Generation, RunEvent, RunId } from "../store/model.ts";
import type { RunEventRing } from "./run-event-ring.ts";
import type { StreamStore } from "./stream.ts";

/** Runs of one stream whose place is remembered; the longest silent are forgotten. */
const RUNS_REMEMBERED_MAX = 256;
const REPLAY_PAGE_ROWS = 500;

/** Run events of one session in order: stored ones from the store, deltas from the ring in their places. */
export interface EventTail {
  /** The position of the last stored event that was read. */
  position(): number;
  /** Stored events and what of the ring comes before them. `rows`: how many were read. Null: session gone. */
  stored(): Promise<{ readonly events: readonly RunEvent[]; readonly rows: number } | null>;
  /** What waits in the ring from before that moment; right only where no stored event of before it is left to read. */
  drain(throughSerial: number): readonly RunEvent[];
  /** What of the ring follows event upon event, so that nothing stored can stand between: no read is needed for it. */
  follow(): readonly RunEvent[];
  /** The next stored events of the one run after `index`; null once it is gone. `done`: the rest is live. */
  replay(): Promise<{ readonly events: readonly RunEvent[]; readonly done: boolean } | null>;
}

/** A tail behind `position`. With `only`, events of that run alone, and none up to `only.afterIndex`. */
export function createEventTail(parts: {
  readonly store: StreamStore;
  readonly sessionId: string;
  readonly generation: Generation;
  readonly position: number;
  readonly limit: number;
  readonly ring: RunEventRing;
  readonly only: { readonly runId: RunId; readonly afterIndex: number } | null;
}): EventTail {
  const { store, ring, only } = parts;
  /** The index of the last event given, by run. */
  const given = new Map<RunId, number>();
  if (only !== null) given.set(only.runId, only.afterIndex);
  let position = parts.position;
  let replayCursor: string | null = null;

  function isNew(event: RunEvent): boolean {
    return (only === null || event.runId === only.runId) && event.index > (given.get(event.runId) ?? 0);
  }

  function note(event: RunEvent): void {
    given.delete(event.runId);
    given.set(event.runId, event.index);
    if (given.size <= RUNS_REMEMBERED_MAX) return;
    const [oldest] = given.keys();
    if (oldest !== undefined) given.delete(oldest);
  }

  /** Those that are new, noted as given. */
  function give(events: readonly RunEvent[]): readonly RunEvent[] {
    return events.filter((event) => {
      if (!isNew(event)) return false;
      note(event);
      return true;
    });
  }

  function withDeltasBefore(event: RunEvent): readonly RunEvent[] {
    if (!isNew(event)) return [];
    if (ring.size() === 0) return give([event]);
    const before = ring.take(ring.serial(), (delta) => delta.runId === event.runId && delta.index <= event.index);
    return give([...before.filter((delta) => delta.index < event.index), event]);
  }

  return {
    position: () => position,
    async stored() {
      const { sessionId, generation, limit } = parts;
      const rows = await store.runEventsAfter({ sessionId, generation, after: position, limit });
      if (rows === null) return null;
      position = rows.at(-1)?.position ?? position;
      return { events: rows.flatMap((row) => withDeltasBefore(row.event)), rows: rows.length };
    },
    drain: (throughSerial) => give(ring.take(throughSerial, () => true)),
    follow() {
      const reached = new Map(given);
      const events = ring.take(ring.serial(), (event) => {
        if (only !== null && event.runId !== only.runId) return true;
        const last = reached.get(event.runId);
        if (last === undefined || event.index > last + 1) return false;
        reached.set(event.runId, Math.max(last, event.index));
        return true;
      });
      return give(events);
    },
    async replay() {
      if (only === null) return { events: [], done: true };
      const page = await store.listRunEvents(only.runId, { first: REPLAY_PAGE_ROWS, after: replayCursor });
      if (page === null) return null;
      replayCursor = page.endCursor;
      return { events: page.nodes.flatMap(withDeltasBefore), done: !page.hasNextPage };
    },
  };
}
