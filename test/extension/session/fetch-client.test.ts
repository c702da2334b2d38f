import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/errors.ts";
import { createFetchClient, type FetchClientOptions } from "../../../src/extension/session/fetch-client.ts";
import { createGraphqlStore } from "../../../src/extension/session/graphql-store.ts";
import { GetSession } from "../../../src/extension/session/session-documents.ts";
import { type AnsweringServer, startAnswering } from "../../support/answering-server.ts";
import { startGateway } from "../../support/gateway.ts";

const open: (AnsweringServer | { close(): Promise<void> })[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function answering(...args: Parameters<typeof startAnswering>): Promise<string> {
  const server = await startAnswering(...args);
  open.push(server);
  return server.url;
}

async function refusalOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => expect.fail("it was answered"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw error;
  return error;
}

function ask(url: string, options: Partial<FetchClientOptions> = {}, signal?: AbortSignal) {
  return createFetchClient({ url, apiKey: "k", ...options }).ask(GetSession, { id: "s" }, signal);
}

describe("the fetch client", () => {
  it("gives a refusal its code, its place in the input and its facts", async () => {
    const gateway = await startGateway();
    open.push(gateway);
    const store = createGraphqlStore(createFetchClient({ url: gateway.url, apiKey: () => gateway.tenant("acme") }));
    const title = await refusalOf(store.createSession({ id: "s", title: " " }));
    expect([title.code, title.path]).toEqual(["BAD_USER_INPUT", ["title"]]);
    const none = createGraphqlStore(createFetchClient({ url: gateway.url, apiKey: "wrong" }));
    expect((await refusalOf(none.getSessions(["s"]))).code).toBe("UNAUTHENTICATED");
  });

  it("gives 429 and 503 the seconds of Retry-After, GraphQL body or not", async () => {
    const plain = await answering((_, response) => {
      response.writeHead(429, { "retry-after": "7" }).end("slow down");
    });
    const limited = await refusalOf(ask(plain));
    expect([limited.code, limited.details.retryAfter]).toEqual(["RATE_LIMITED", 7]);
    const body = { errors: [{ message: "full", extensions: { code: "UNAVAILABLE" } }] };
    const full = await answering((_, response) => {
      response.writeHead(503, { "retry-after": "2" }).end(JSON.stringify(body));
    });
    const refused = await refusalOf(ask(full));
    expect([refused.code, refused.message, refused.details.retryAfter]).toEqual(["UNAVAILABLE", "full", 2]);
  });

  it.each([
    [502, "UNAVAILABLE"],
    [504, "UNAVAILABLE"],
    [401, "UNAUTHENTICATED"],
    [403, "FORBIDDEN"],
    [404, "BAD_USER_INPUT"],
    [200, "BAD_USER_INPUT"],
  ])("reads status %i without a GraphQL body as %s", async (status, code) => {
    const url = await answering((_, response) => {
      response.writeHead(status).end("<html>");
    });
    expect((await refusalOf(ask(url))).code).toBe(code);
  });

  it("calls what can't be reached, breaks off or takes too long UNAVAILABLE and names it", async () => {
    const gone = await refusalOf(ask("http://127.0.0.1:1/graphql"));
    expect([gone.code, gone.message]).toEqual(["UNAVAILABLE", expect.stringContaining("127.0.0.1:1")]);
    const cut = await listening(createServer((socket) => socket.on("data", () => socket.destroy())));
    expect((await refusalOf(ask(cut))).code).toBe("UNAVAILABLE");
    const silent = await listening(createServer((socket) => socket.resume().on("error", () => {})));
    const late = await refusalOf(ask(silent, { timeoutMilliseconds: 50 }));
    expect([late.code, late.message]).toEqual(["UNAVAILABLE", expect.stringContaining("did not answer in time")]);
  });

  it("ends with the caller's own reason where the caller gives up", async () => {
    const silent = await listening(createServer((socket) => socket.resume().on("error", () => {})));
    const stop = new AbortController();
    const asked = ask(silent, {}, stop.signal);
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  it("asks for its key before each request", async () => {
    const seen: (string | undefined)[] = [];
    const url = await answering((request, response) => {
      seen.push(request.headers.authorization);
      response.end(JSON.stringify({ data: { session: null } }));
    });
    let count = 0;
    const client = createFetchClient({ url, apiKey: async () => `k${++count}` });
    for (let round = 0; round < 2; round++) await client.ask(GetSession, { id: "s" });
    expect(seen).toEqual(["Bearer k1", "Bearer k2"]);
  });
});

async function listening(server: Server): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  open.push({ close });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/graphql`;
}
