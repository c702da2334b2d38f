import type { SessionMark } from "../store/contract.ts";
import type { RawMessage, RunEvent, SessionId } from "../store/model.ts";
import type { Feed, SessionFeedItem } from "./contract.ts";
import { createEventTail, type EventTail } from "./event-tail.ts";
import { createLeaseWatch, type LeaseWatch } from "./lease-watch.ts";
import { createMerger, type Merger } from "./merger.ts";
import { acceptedMark, createMessageTail, type MessageTail, startOf } from "./message-tail.ts";
import type { Pull, Reading } from "./pull.ts";
import { createRunEventRing, type RunEventRing } from "./run-event-ring.ts";
import { callsForReading, hearRun, seesDeltas } from "./run-events.ts";
import { openStream, type StreamParts } from "./stream.ts";

type Request = Parameters<Feed["session"]>[0];

/** What the bus and the timers leave for the next read. */
interface Heard {
  /** The store may have something new. */
  due: boolean;
  /** A sign of life that may have moved no number. */
  touched: boolean;
  log: MessageTail | null;
}

/** Feed.session. */
export async function openSession(
  parts: StreamParts,
  request: Request,
): Promise<AsyncIterableIterator<SessionFeedItem>> {
  const { sessionId, select } = request;
  const { store, settings } = parts;
  const ring = createRunEventRing(settings.ring, request.deltas && seesDeltas(parts));
  const heard: Heard = { due: true, touched: false, log: null };
  const pull = openStream<SessionFeedItem>(parts, sessionId, (event) => {
    hearRun(event, ring);
    if (event?.kind === "log") heard.log?.heard(event.lastSequence);
    heard.touched ||= event?.kind === "run" || event?.kind === "session";
    heard.due ||= callsForReading(event);
    return true;
  });
  const { leases, merger } = watches(parts, pull);
  return pull.accept(async () => {
    const mark = await acceptedMark(store, sessionId);
    const after = startOf(mark, request.afterSequence);
    const limit = settings.rowsPerRead;
    const { generation, lastEventPosition: position } = mark;
    const log = createMessageTail({ store, sessionId, mark, after, limit, select });
    const events = createEventTail({ store, sessionId, generation, position, limit, ring, only: null });
    heard.log = log;
    return reader({ parts, sessionId: sessionId as SessionId, mark, log, events, ring, heard, leases, merger });
  });
}

function watches(parts: StreamParts, pull: Pull<SessionFeedItem>) {
  const { timers, mergeMilliseconds, leaseMilliseconds } = parts.settings;
  const leases = createLeaseWatch(parts);
  const merger = createMerger<string, "UPDATED">({ timers, milliseconds: mergeMilliseconds, wake: pull.wake });
  const stopTicking = timers.every(leaseMilliseconds, () => {
    leases.tick();
    pull.wake();
  });
  pull.onRelease(stopTicking);
  pull.onRelease(merger.release);
  return { leases, merger };
}

interface ReaderParts {
  readonly parts: StreamParts;
  readonly sessionId: SessionId;
  readonly mark: SessionMark;
  readonly log: MessageTail;
  readonly events: EventTail;
  readonly ring: RunEventRing;
  readonly heard: Heard;
  readonly leases: LeaseWatch;
  readonly merger: Merger<string, "UPDATED">;
}

/** Messages that were read, and how far the run events went at that moment: those come first. */
interface HeldMessages {
  readonly messages: readonly RawMessage[];
  readonly throughPosition: number;
  readonly throughSerial: number;
}

function reader(own: ReaderParts): () => Promise<Reading<SessionFeedItem>> {
  const { sessionId, log, events, ring, heard, leases, merger } = own;
  const { store } = own.parts;
  let { changeNumber } = own.mark;
  let held: HeldMessages | null = null;
  let gone = false;

  /** Run events, then the messages that they belong to; null once the session is gone. */
  async function progress(): Promise<readonly SessionFeedItem[] | null> {
    const serial = ring.serial();
    // Nothing is awaited between the calls, so that they see the log of one moment.
    const marking = store.mark(sessionId);
    const reading = held === null ? log.read() : null;
    const [mark, stored, found] = await Promise.all([marking, events.stored(), reading]);
    const isOver = held === null && found === null;
    if (mark === null || mark.generation !== own.mark.generation || stored === null || isOver) return null;
    if (mark.changeNumber > changeNumber) {
      changeNumber = mark.changeNumber;
      heard.touched = true;
    }
    const messages = found?.messages ?? [];
    const moment = { throughPosition: mark.lastEventPosition, throughSerial: serial };
    if (messages.length > 0) held = { messages, ...moment };
    const items = stored.events.map(eventItem);
    const { throughPosition, throughSerial } = held ?? moment;
    const caughtUp = stored.rows === 0 || events.position() >= throughPosition;
    heard.due ||= !caughtUp || (found?.more ?? held !== null);
    if (!caughtUp) return items;
    const due = held?.messages ?? [];
    held = null;
    return [...items, ...events.drain(throughSerial).map(eventItem), ...due.map(messageItem)];
  }

  /** The session as it is now, at most four times a second. */
  async function change(): Promise<readonly SessionFeedItem[]> {
    if (heard.touched) merger.put(sessionId, "UPDATED");
    heard.touched = false;
    if (merger.take().length === 0) return [];
    const [session] = await store.getSessions([sessionId]);
    if (session === null || session === undefined || session.generation !== own.mark.generation) {
      gone = true;
      return [];
    }
    changeNumber = Math.max(changeNumber, session.changeNumber);
    return [{ type: "SessionChange", change: { kind: "UPDATED", sessionId, session } }];
  }

  return async () => {
    if ((await leases.expired()).includes(sessionId)) heard.touched = true;
    let items: readonly SessionFeedItem[] | null;
    if (heard.due) {
      heard.due = false;
      items = await progress();
    } else {
      items = events.follow().map(eventItem);
      heard.due ||= ring.size() > 0;
    }
    const changes = items === null ? [] : await change();
    if (items !== null && !gone) return { items: [...items, ...changes], more: heard.due, ended: false };
    const deleted: SessionFeedItem = { type: "SessionChange", change: { kind: "DELETED", sessionId, session: null } };
    return { items: [...(items ?? []), deleted], more: false, ended: true };
  };
}

function eventItem(event: RunEvent): SessionFeedItem {
  return { type: "RunEvent", event };
}

function messageItem(message: RawMessage): SessionFeedItem {
  return { type: "RawMessage", message };
}
