import type { SessionFilter, TombstoneAttributes } from "../store/contract.ts";
import type { Session, SessionChangeKind, SessionId } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { SessionChange } from "./contract.ts";
import type { Merger } from "./merger.ts";
import { matchesFilter } from "./session-filter.ts";
import type { StreamStore } from "./stream.ts";

/** A change on its way to a reader. `session` is null for a deleted one, and where it is still to be read. */
export interface PendingChange {
  readonly kind: SessionChangeKind;
  readonly sessionId: SessionId;
  readonly session: Session | null;
}

/** Puts the change in place of the one held back: who has not heard of a creation yet still hears CREATED. */
export function hold(merger: Merger<string, PendingChange>, change: PendingChange): void {
  const held = merger.held(change.sessionId);
  const created = change.kind === "UPDATED" && held?.kind === "CREATED";
  merger.put(change.sessionId, created ? { ...change, kind: "CREATED" } : change);
}

/** Whether the filter holds for the session after the change; whether it runs is asked only where that matters. */
export async function isWanted(store: StreamStore, filter: Maybe<SessionFilter>, session: Session): Promise<boolean> {
  if (filter === null || filter === undefined) return true;
  const asksForRun = filter.running !== null && filter.running !== undefined;
  if (!asksForRun) return matchesFilter(session, filter, false);
  if (!matchesFilter(session, { ...filter, running: null }, false)) return false;
  return matchesFilter(session, filter, (await store.activeRun(session.id)) !== null);
}

/** As isWanted, of a deleted session; without its attributes only where no filter was given. */
export function isDeletionWanted(filter: Maybe<SessionFilter>, attributes: TombstoneAttributes | null): boolean {
  if (filter === null || filter === undefined) return true;
  return attributes !== null && matchesFilter(attributes, filter, false);
}

/** The due changes as readers get them; those that wait for their session's state read it now, filtered by it. */
export async function deliverDue(
  store: StreamStore,
  filter: Maybe<SessionFilter>,
  merger: Merger<string, PendingChange>,
): Promise<readonly SessionChange[]> {
  const changes = merger.take();
  const unread = changes.filter((change) => change.kind !== "DELETED" && change.session === null);
  const read = unread.length === 0 ? [] : await store.getSessions(unread.map((change) => change.sessionId));
  const sessions = new Map(read.flatMap((session) => (session === null ? [] : [[session.id, session] as const])));
  const items: SessionChange[] = [];
  for (const change of changes) {
    const session = change.session ?? sessions.get(change.sessionId) ?? null;
    if (change.kind === "DELETED") items.push({ ...change, session: null });
    else if (session !== null && (change.session !== null || (await isWanted(store, filter, session)))) {
      items.push({ ...change, session });
    } else merger.unsent(change.sessionId);
  }
  return items;
}
