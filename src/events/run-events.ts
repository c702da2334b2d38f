import { badInput, notFound } from "../errors.ts";
import { checkCount } from "../store/check.ts";
import { isDelta, type Run, type RunEvent } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { BusEvent } from "./bus.ts";
import type { Feed } from "./contract.ts";
import { createEventTail, type EventTail } from "./event-tail.ts";
import { acceptedMark } from "./message-tail.ts";
import type { Reading } from "./pull.ts";
import { createRunEventRing, type RunEventRing } from "./run-event-ring.ts";
import { openStream, type StreamParts } from "./stream.ts";

type Request = Parameters<Feed["runEvents"]>[0];

/** Feed.runEvents. */
export async function openRunEvents(parts: StreamParts, request: Request): Promise<AsyncIterableIterator<RunEvent>> {
  const { sessionId } = request;
  const { store, settings } = parts;
  const ring = createRunEventRing(settings.ring, seesDeltas(parts));
  const looking = { due: true };
  const pull = openStream<RunEvent>(parts, sessionId, (event) => {
    if (event?.kind === "log") return false;
    hearRun(event, ring);
    looking.due ||= callsForReading(event);
    return true;
  });
  return pull.accept(async () => {
    const run = await requestedRun(parts, request);
    const mark = await acceptedMark(store, sessionId);
    const afterIndex = checkAfterIndex(run, request.afterIndex);
    const tail = createEventTail({
      store,
      sessionId,
      generation: mark.generation,
      position: mark.lastEventPosition,
      limit: settings.rowsPerRead,
      ring,
      only: run === null ? null : { runId: run.id, afterIndex: afterIndex ?? 0 },
    });
    return reader(tail, ring, looking, afterIndex !== null);
  });
}

/** Deltas are the assistant's words: who can't see its messages can't see them either. */
export function seesDeltas(parts: StreamParts): boolean {
  return parts.reach.visibleRoles.has("ASSISTANT");
}

/** Takes over what is stored nowhere. */
export function hearRun(event: BusEvent | null, ring: RunEventRing): void {
  if (event?.kind !== "run") return;
  for (const runEvent of event.events) ring.add(runEvent);
}

/** Whether the store may have something; deltas alone are in the ring already. */
export function callsForReading(event: BusEvent | null): boolean {
  if (event?.kind !== "run") return true;
  return event.events.length === 0 || !event.events.every((runEvent) => isDelta(runEvent.type));
}

async function requestedRun(parts: StreamParts, request: Request): Promise<Run | null> {
  const { runId } = request;
  if (runId === null || runId === undefined) {
    if (request.afterIndex === null || request.afterIndex === undefined) return null;
    throw badInput(["afterIndex"], "afterIndex counts within one run: give the runId too.");
  }
  const [session] = await parts.store.getSessions([request.sessionId]);
  if (session === null || session === undefined) throw notFound("session");
  const [run] = await parts.store.getRuns([runId]);
  if (run === null || run === undefined || run.sessionId !== session.id) throw notFound("run");
  return run;
}

/** Null where nothing is to be replayed. */
function checkAfterIndex(run: Run | null, afterIndex: Maybe<number>): number | null {
  if (run === null || afterIndex === null || afterIndex === undefined) return null;
  const after = checkCount(afterIndex, ["afterIndex"]);
  if (after <= run.lastEventIndex) return after;
  // Accepted, it would keep back every event up to there without a word.
  throw badInput(["afterIndex"], `The run's events end at ${run.lastEventIndex}; pass the last index that was seen.`);
}

function reader(
  tail: EventTail,
  ring: RunEventRing,
  looking: { due: boolean },
  replays: boolean,
): () => Promise<Reading<RunEvent>> {
  let replaying = replays;

  async function replay(): Promise<Reading<RunEvent>> {
    const found = await tail.replay();
    if (found?.done) replaying = false;
    return { items: found?.events ?? [], more: true, ended: found === null };
  }

  return async () => {
    if (replaying) return replay();
    if (!looking.due) {
      const items = tail.follow();
      looking.due = ring.size() > 0;
      return { items, more: looking.due, ended: false };
    }
    looking.due = false;
    const moment = ring.serial();
    const found = await tail.stored();
    if (found === null) return { items: [], more: false, ended: true };
    if (found.rows === 0) return { items: tail.drain(moment), more: ring.size() > 0, ended: false };
    looking.due = true;
    return { items: found.events, more: true, ended: false };
  };
}
