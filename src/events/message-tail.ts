import { badInput, notFound } from "../errors.ts";
import { checkCount } from "../store/check.ts";
import type { SessionMark } from "../store/contract.ts";
import type { RawMessage, RawMessageSelection } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { StreamStore } from "./stream.ts";

/** What one read of a log's end brought. */
export interface TailReading {
  readonly messages: readonly RawMessage[];
  /** There is more, as far as is known. */
  readonly more: boolean;
}

export interface MessageTail {
  /** The bus says that the log reaches this far. */
  heard(lastSequence: number): void;
  /** Null once this generation of the session is gone. */
  read(): Promise<TailReading | null>;
}

/** The session's mark; NOT_FOUND where there is no such session. */
export async function acceptedMark(store: StreamStore, sessionId: string): Promise<SessionMark> {
  const mark = await store.mark(sessionId);
  if (mark === null) throw notFound("session");
  return mark;
}

/** Where a log is read from; left out, what is new. BAD_USER_INPUT for a place that the log has not reached. */
export function startOf(mark: SessionMark, afterSequence: Maybe<number>): number {
  if (afterSequence === null || afterSequence === undefined) return mark.lastSequence;
  const after = checkCount(afterSequence, ["afterSequence"]);
  if (after <= mark.lastSequence) return after;
  throw badInput(
    ["afterSequence"],
    `The session's log ends at ${mark.lastSequence}; pass the last sequence that was seen.`,
    { lastSequence: mark.lastSequence },
  );
}

/** Reads a log from a sequence on, in order, without a gap or a repeat; the bus only says when. */
export function createMessageTail(parts: {
  readonly store: StreamStore;
  readonly sessionId: string;
  readonly mark: SessionMark;
  readonly after: number;
  readonly limit: number;
  readonly select: RawMessageSelection;
}): MessageTail {
  const { store, sessionId, limit, select } = parts;
  const { generation } = parts.mark;
  let position = parts.after;
  let reached = parts.mark.lastSequence;

  async function rows(): Promise<readonly RawMessage[] | null> {
    const messages = await store.messagesAfter({ sessionId, generation, after: position, limit }, select);
    position = messages?.at(-1)?.sequence ?? position;
    return messages;
  }

  /** Goes past messages that the caller can't see. The mark, not the bus, says how far the log really reaches. */
  async function skipHidden(): Promise<TailReading | null> {
    const mark = await store.mark(sessionId);
    if (mark === null || mark.generation !== generation) return null;
    reached = mark.lastSequence;
    const messages = await rows();
    if (messages === null) return null;
    if (messages.length === 0) position = Math.max(position, mark.lastSequence);
    return { messages, more: position < reached };
  }

  return {
    heard(lastSequence) {
      reached = Math.max(reached, lastSequence);
    },
    async read() {
      const messages = await rows();
      if (messages === null) return null;
      if (messages.length === 0 && position < reached) return skipHidden();
      return { messages, more: position < reached };
    },
  };
}
