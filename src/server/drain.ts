import type { Server, ServerResponse } from "node:http";
import type { EventStreams } from "./event-stream.ts";
import type { WebSocketDoor } from "./websocket.ts";

/** Answers that are not finished yet. */
export interface InFlight {
  add(response: ServerResponse): void;
  /** From here on, each connection closes with its answer. */
  letGo(): void;
}

/** Keeps the answers under way, so that a shutdown can tell each of them to be its connection's last. */
export function createInFlight(): InFlight {
  const responses = new Set<ServerResponse>();
  const closeAfter = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader("Connection", "close");
  };
  return {
    add(response) {
      responses.add(response);
      response.once("close", () => responses.delete(response));
    },
    letGo() {
      for (const response of responses) closeAfter(response);
    },
  };
}

/**
 * Orderly shutdown: nothing new is taken, what runs is answered, streams end so that clients resume, idle connections
 * close. `server.close()` alone would wait for ever on one stream. Whatever is left after the grace time is cut.
 */
export async function drain(
  server: Server,
  parts: {
    readonly inFlight: InFlight;
    readonly eventStreams: EventStreams;
    readonly webSockets: WebSocketDoor;
    readonly graceSeconds: number;
  },
): Promise<void> {
  const { inFlight, eventStreams, webSockets, graceSeconds } = parts;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  inFlight.letGo();
  webSockets.drain();
  eventStreams.cutAll();
  server.closeIdleConnections();
  // A connection whose answer had its head sent before may turn idle later.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const grace = setTimeout(() => {
    webSockets.terminate();
    server.closeAllConnections();
  }, graceSeconds * 1000);
  await closed;
  clearInterval(sweep);
  clearTimeout(grace);
}
