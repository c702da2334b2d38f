import type { IncomingMessage } from "node:http";
import { tooLarge, unavailable } from "../errors.ts";
import { isJsonBody } from "./negotiate.ts";
import { HttpRefusal } from "./refusal.ts";

/** After a refusal, so much of a body is still read and dropped, that the client gets round to reading the answer. */
const DROPPED_BYTES_MAX = 1024 * 1024;
const DROPPING_MILLISECONDS_MAX = 2_000;

/** The client went away in the middle of its body; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

export interface BodyLimits {
  /**
   * Refuses by the headers alone: 415 for a body that is not plain JSON, 413 for one that says it is too large, 503
   * while too many are held.
   */
  check(request: IncomingMessage): void;
  /** The whole body. It counts as held until `release`; on a throw nothing is held. */
  read(request: IncomingMessage): Promise<{ readonly text: string; release(): void }>;
  /** Bytes of bodies that are held just now. */
  readonly heldBytes: number;
}

/** Limits of one body and of all that are in memory at once. */
export function createBodyLimits(limits: {
  readonly bodyBytesMax: number;
  readonly bodiesInFlightBytesMax: number;
}): BodyLimits {
  let heldBytes = 0;
  const oversized = () => tooLarge(`A request body has at most ${limits.bodyBytesMax} bytes.`);
  const full = () => unavailable("The gateway holds as many request bodies as it can; try again in a moment.");
  const hold = (bytes: number) => {
    if (heldBytes + bytes > limits.bodiesInFlightBytesMax) throw full();
    heldBytes += bytes;
  };
  return {
    get heldBytes() {
      return heldBytes;
    },
    check(request) {
      const { "content-encoding": encoding = "identity", "content-type": type } = request.headers;
      if (encoding.trim().toLowerCase() !== "identity") {
        throw new HttpRefusal(415, "Compressed request bodies are not read; send it without Content-Encoding.");
      }
      if (!isJsonBody(type)) throw new HttpRefusal(415, "The body must be JSON, with Content-Type: application/json.");
      const length = declaredLength(request);
      if (length > limits.bodyBytesMax) throw oversized();
      if (heldBytes + length > limits.bodiesInFlightBytesMax) throw full();
    },
    async read(request) {
      let counted = 0;
      const take = (bytes: number) => {
        if (counted + bytes > limits.bodyBytesMax) throw oversized();
        hold(bytes);
        counted += bytes;
      };
      const release = () => {
        heldBytes -= counted;
        counted = 0;
      };
      try {
        const body = await collect(request, take);
        return { text: decode(body), release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function declaredLength(request: IncomingMessage): number {
  const declared = Number(request.headers["content-length"] ?? 0);
  return Number.isSafeInteger(declared) ? declared : 0;
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new HttpRefusal(400, "The body is not UTF-8.");
  }
}

function collect(request: IncomingMessage, take: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const settle = (settled: () => void) => {
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      settled();
    };
    const onData = (chunk: Buffer) => {
      try {
        take(chunk.byteLength);
        chunks.push(chunk);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onGone = () => {
      // The stream may still report its error after we left; without a listener that would end the process.
      request.on("error", () => {});
      settle(() => reject(new ClientGone()));
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/**
 * Deals with a body that nobody will read: drops a little of it, then cuts the connection. Closing at once would make
 * the kernel reset it, and the client would often lose the answer that says why.
 */
export function dropBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let dropped = 0;
  const cut = () => request.socket.destroy();
  const timer = setTimeout(cut, DROPPING_MILLISECONDS_MAX);
  request.on("data", (chunk: Buffer) => {
    dropped += chunk.byteLength;
    if (dropped > DROPPED_BYTES_MAX) cut();
  });
  request.on("error", () => {});
  request.once("end", () => clearTimeout(timer));
  request.once("close", () => clearTimeout(timer));
  request.resume();
}
