import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server whose answers the test writes itself: what stands before a gateway, or in its place. */
export interface AnsweringServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Hands every request to `answer`, its body read. */
export async function startAnswering(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>,
): Promise<AnsweringServer> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    await answer(request, response, Buffer.concat(pieces).toString("utf8"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
