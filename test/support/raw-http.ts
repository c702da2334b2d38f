import { request } from "node:http";
import { connect, type Socket } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** A POST to /graphql with exactly these headers, repeated ones too, and without those that fetch adds. */
export function rawRequest(
  port: number,
  options: { readonly headers: Readonly<Record<string, string | readonly string[]>>; readonly body: string },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const headers = Object.entries(options.headers).flatMap(([name, value]) =>
      (typeof value === "string" ? [value] : value).flatMap((item) => [name, item]),
    );
    const length =
      "content-length" in options.headers || "transfer-encoding" in options.headers
        ? []
        : ["content-length", String(Buffer.byteLength(options.body))];
    const target = { host: "127.0.0.1", port, path: "/graphql", method: "POST", agent: false as const };
    const sent = request({ ...target, headers: ["host", `127.0.0.1:${port}`, ...headers, ...length] }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      const settle = () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
        sent.destroy();
      };
      response.on("end", settle);
    });
    sent.on("error", reject);
    sent.write(options.body);
    if (!("content-length" in options.headers)) sent.end();
  });
}

/** A bare socket with what came over it so far. */
export interface BareSocket {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves with all that came once the other side has closed. */
  readonly closed: Promise<string>;
}

export function bareSocket(port: number, send: string): Promise<BareSocket> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(send);
      resolve({ socket, received: () => received, closed });
    });
    socket.on("data", (chunk) => {
      received += chunk.toString();
    });
    const closed = new Promise<string>((end) => {
      socket.on("close", () => end(received));
    });
    socket.on("error", reject);
  });
}

/** Waits until the condition holds, looking every few milliseconds; fails after five seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`it never came about: ${what}`);
}
