import type { RawMessage } from "../store/model.ts";
import type { Feed } from "./contract.ts";
import { acceptedMark, createMessageTail, type MessageTail, startOf } from "./message-tail.ts";
import { openStream, type StreamParts } from "./stream.ts";

/** Feed.rawMessages. */
export async function openRawMessages(
  parts: StreamParts,
  request: Parameters<Feed["rawMessages"]>[0],
): Promise<AsyncIterableIterator<RawMessage>> {
  const { sessionId, select } = request;
  const { store, settings } = parts;
  let tail: MessageTail | null = null;
  const pull = openStream<RawMessage>(parts, sessionId, (event) => {
    if (event?.kind === "log") tail?.heard(event.lastSequence);
    return event?.kind !== "run";
  });
  return pull.accept(async () => {
    const mark = await acceptedMark(store, sessionId);
    const after = startOf(mark, request.afterSequence);
    const log = createMessageTail({ store, sessionId, mark, after, limit: settings.rowsPerRead, select });
    tail = log;
    return async () => {
      const found = await log.read();
      return { items: found?.messages ?? [], more: found?.more ?? false, ended: found === null };
    };
  });
}
