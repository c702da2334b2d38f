import type { SessionChangeEntry, SessionFilter } from "../store/contract.ts";
import type { Session, SessionId } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { SessionChange } from "./contract.ts";
import { createLeaseWatch } from "./lease-watch.ts";
import { createMerger, type Merger } from "./merger.ts";
import { deliverDue, hold, isDeletionWanted, isWanted, type PendingChange } from "./pending-change.ts";
import type { Reading } from "./pull.ts";
import { openStream, type StreamParts } from "./stream.ts";

/** Sessions that only showed a sign of life while the reader was away; past this the oldest signs are forgotten. */
const TOUCHED_MAX = 1_000;

/** New sessions that are remembered while a reader catches up. */
const ANNOUNCED_MAX = 10_000;

/** Feed.sessionChanges over all sessions in reach. */
export async function openTenantChanges(
  parts: StreamParts,
  filter: Maybe<SessionFilter>,
): Promise<AsyncIterableIterator<SessionChange>> {
  const { settings } = parts;
  const touched = new Set<SessionId>();
  const looking = { due: true };
  const pull = openStream<SessionChange>(parts, null, (event) => {
    if (event?.kind === "access") return false;
    if (event?.kind === "run" || event?.kind === "session") touch(touched, event.sessionId);
    looking.due = true;
    return true;
  });
  const merger = createMerger<string, PendingChange>({
    timers: settings.timers,
    milliseconds: settings.mergeMilliseconds,
    wake: pull.wake,
  });
  const leases = createLeaseWatch(parts);
  const stopTicking = settings.timers.every(settings.leaseMilliseconds, () => {
    leases.tick();
    pull.wake();
  });
  pull.onRelease(stopTicking);
  pull.onRelease(merger.release);
  return pull.accept(async () => {
    const changes = createChangeTail(parts, filter, merger, await parts.store.lastChangeNumber());
    return async (): Promise<Reading<SessionChange>> => {
      for (const sessionId of await leases.expired()) touch(touched, sessionId);
      const behind = looking.due;
      looking.due = false;
      // Taken together with the read below: what touched them is on disk and in it.
      const signs = [...touched];
      touched.clear();
      const found = behind ? await changes.read() : NOTHING_CHANGED;
      if (found.more) looking.due = true;
      for (const sessionId of signs) {
        if (found.changed.has(sessionId)) continue;
        if (found.more) touch(touched, sessionId);
        else sign(merger, sessionId);
      }
      const items = await deliverDue(parts.store, filter, merger);
      return { items, more: looking.due || touched.size > 0, ended: false };
    };
  });
}

const NOTHING_CHANGED = { changed: new Set<SessionId>(), more: false } as const;

function touch(touched: Set<SessionId>, sessionId: SessionId): void {
  touched.delete(sessionId);
  touched.add(sessionId);
  if (touched.size <= TOUCHED_MAX) return;
  const [oldest] = touched;
  if (oldest !== undefined) touched.delete(oldest);
}

/** A change that moved no number; what is known to be deleted stays so. */
function sign(merger: Merger<string, PendingChange>, sessionId: SessionId): void {
  if (merger.held(sessionId)?.kind !== "DELETED") hold(merger, { kind: "UPDATED", sessionId, session: null });
}

interface ChangeTail {
  /** Puts what changed into the merger. */
  read(): Promise<{ readonly changed: ReadonlySet<SessionId>; readonly more: boolean }>;
}

function createChangeTail(
  parts: StreamParts,
  filter: Maybe<SessionFilter>,
  merger: Merger<string, PendingChange>,
  start: number,
): ChangeTail {
  const { store, reach, settings } = parts;
  let position = start;
  /** Everything up to here was given; while the reader catches up, `position` runs ahead of it. */
  let seen = start;
  const announced = new Set<SessionId>();

  /** A session is new once, however often it changes while the reader catches up. */
  function kindOf(session: Session): "CREATED" | "UPDATED" {
    const created = session.createdChangeNumber > seen && !announced.has(session.id);
    announced.add(session.id);
    return created ? "CREATED" : "UPDATED";
  }

  async function take(entry: SessionChangeEntry): Promise<void> {
    const { sessionId, session, tombstone } = entry;
    if (entry.kind === "DELETED" || session === null) {
      announced.delete(sessionId);
      const attributes = tombstone?.attributes ?? null;
      const inReach = reach.userId === null || attributes?.userId === reach.userId;
      if (inReach && isDeletionWanted(filter, attributes)) hold(merger, { kind: "DELETED", sessionId, session: null });
      else merger.drop(sessionId);
      return;
    }
    const kind = kindOf(session);
    if (await isWanted(store, filter, session)) hold(merger, { kind, sessionId, session });
    else merger.drop(sessionId);
  }

  return {
    async read() {
      // Asked first: whatever it counts is in the read that follows.
      const last = await store.lastChangeNumber();
      if (last <= position) return NOTHING_CHANGED;
      const entries = await store.changesAfter(position, settings.rowsPerRead);
      for (const entry of entries) await take(entry);
      // Changes out of reach are in no entry; without one, everything up to the last number is behind us.
      position = entries.at(-1)?.changeNumber ?? last;
      const more = entries.length > 0 && position < last;
      if (!more || announced.size > ANNOUNCED_MAX) {
        seen = position;
        announced.clear();
      }
      return { changed: new Set(entries.map((entry) => entry.sessionId)), more };
    },
  };
}
