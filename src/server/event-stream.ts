import type { ServerResponse } from "node:http";
import type { ExecutionResult } from "graphql";
import type { ResultStream } from "./guarded-stream.ts";

/** What a proxy needs to be told, or it buffers, compresses or caches the stream. */
const HEADERS = Object.freeze({
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
});

/** Server-sent events in the form of the GraphQL over SSE protocol, distinct connections mode. */
export interface EventStreams {
  /** Sends one result, or a stream of them, then `complete`. Resolves when all is sent or the client is gone. */
  send(response: ServerResponse, results: ExecutionResult | ResultStream): Promise<void>;
  /** Ends every stream without `complete`: clients take that for a cut line, and resume elsewhere. */
  cutAll(): void;
  readonly open: number;
}

/** Each stream says by a comment, so often, that it lives. */
export function createEventStreams(options: { readonly commentSeconds: number }): EventStreams {
  const cuts = new Set<() => void>();
  const sendStream = async (response: ServerResponse, stream: ResultStream) => {
    const comment = setInterval(() => {
      if (!response.writableNeedDrain) response.write(":\n\n");
    }, options.commentSeconds * 1000);
    let cut = false;
    const stop = () => {
      cut = true;
      clearInterval(comment);
      // What fails while a stream is let go was reported by the stream itself.
      stream.return().catch(() => {});
    };
    const cutOff = () => {
      stop();
      response.end();
    };
    cuts.add(cutOff);
    response.once("close", stop);
    try {
      if (response.destroyed) stop();
      for await (const result of stream) {
        if (cut) break;
        if (!response.write(next(result))) await drained(response);
      }
      if (!cut) response.end(COMPLETE);
    } finally {
      clearInterval(comment);
      cuts.delete(cutOff);
    }
  };
  return {
    get open() {
      return cuts.size;
    },
    async send(response, results) {
      response.writeHead(200, HEADERS);
      response.write(":\n\n");
      if (Symbol.asyncIterator in results) await sendStream(response, results);
      else response.end(next(results) + COMPLETE);
    },
    cutAll() {
      for (const cut of cuts) cut();
    },
  };
}

const COMPLETE = "event: complete\ndata: \n\n";

function next(result: ExecutionResult): string {
  return `event: next\ndata: ${JSON.stringify(result)}\n\n`;
}

/** A slow reader is waited for: the stream behind reads on from the log when there is room again. */
function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}
