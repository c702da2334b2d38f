import type { SessionFilter } from "../store/contract.ts";
import type { Session, SessionId } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { SessionChange } from "./contract.ts";
import { createLeaseWatch } from "./lease-watch.ts";
import { createMerger } from "./merger.ts";
import { deliverDue, hold, isDeletionWanted, isWanted, type PendingChange } from "./pending-change.ts";
import type { Reading } from "./pull.ts";
import { openStream, type StreamParts } from "./stream.ts";

/** Feed.sessionChanges of one session, which need not exist (yet). It reads that session alone. */
export async function openOneSessionChanges(
  parts: StreamParts,
  sessionId: string,
  filter: Maybe<SessionFilter>,
): Promise<AsyncIterableIterator<SessionChange>> {
  const { store, settings } = parts;
  const looking = { due: true, touched: false };
  const pull = openStream<SessionChange>(parts, sessionId, (event) => {
    looking.due = true;
    looking.touched ||= event?.kind === "run" || event?.kind === "session";
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

  async function read(): Promise<Session | null> {
    const [session] = await store.getSessions([sessionId]);
    return session ?? null;
  }

  return pull.accept(async () => {
    const start = await store.lastChangeNumber();
    let known = await read();
    return async (): Promise<Reading<SessionChange>> => {
      const expired = await leases.expired();
      if (known !== null && expired.includes(known.id)) looking.due = looking.touched = true;
      if (looking.due) {
        const { touched } = looking;
        looking.due = looking.touched = false;
        const before = known;
        known = await read();
        const change = changeBetween(before, known, start, touched);
        const wanted =
          known === null ? isDeletionWanted(filter, before) : change !== null && (await isWanted(store, filter, known));
        if (change !== null && wanted) hold(merger, change);
        else if (change !== null) merger.drop(sessionId);
      }
      return { items: await deliverDue(store, filter, merger), more: looking.due, ended: false };
    };
  });
}

/** What has become of the session between two looks; null for nothing. `start`: the tenant's number at acceptance. */
function changeBetween(
  before: Session | null,
  after: Session | null,
  start: number,
  touched: boolean,
): PendingChange | null {
  const sessionId: SessionId | undefined = after?.id ?? before?.id;
  if (sessionId === undefined) return null;
  if (after === null) return { kind: "DELETED", sessionId, session: null };
  if (before?.generation !== after.generation) {
    return { kind: after.createdChangeNumber > start ? "CREATED" : "UPDATED", sessionId, session: after };
  }
  if (!touched && before.changeNumber === after.changeNumber) return null;
  return { kind: "UPDATED", sessionId, session: after };
}
