import type { ExecutionResult } from "graphql";
import { createClient } from "graphql-ws";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { forbidden, unauthenticated } from "../../src/errors.ts";
import { until } from "../support/raw-http.ts";
import { closeServersAfterEach, KEY, type ProbeServer, READ_KEY, startServer } from "../support/server.ts";

closeServersAfterEach();

type Options = { readonly origin?: string; readonly url?: string; readonly protocol?: string };

/** A socket that keeps what it got, spoken to in bare messages. */
function openSocket(server: ProbeServer, options: Options = {}) {
  const headers = options.origin === undefined ? {} : { origin: options.origin };
  const socket = new WebSocket(options.url ?? server.webSocket, options.protocol ?? "graphql-transport-ws", {
    headers,
  });
  const messages: { type: string; id?: string; payload?: unknown }[] = [];
  socket.on("message", (data) => void messages.push(JSON.parse(String(data))));
  const opened = new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  opened.catch(() => {});
  const closed = new Promise<number>((resolve) => void socket.once("close", resolve));
  const send = (message: object) => socket.send(JSON.stringify(message));
  const init = async (payload?: object) => {
    await opened;
    send({ type: "connection_init", payload });
  };
  const got = async (type: string, id?: string) => {
    const find = () => messages.find((message) => message.type === type && message.id === id);
    await until(() => find() !== undefined, `a message ${type} for ${id}`);
    return find();
  };
  const subscribe = (id: string, query: string) => send({ type: "subscribe", id, payload: { query } });
  return { socket, messages, opened, closed, send, init, got, subscribe };
}

async function admitted(server: ProbeServer, authorization = KEY) {
  const socket = openSocket(server);
  await socket.init({ authorization });
  await socket.got("connection_ack");
  return socket;
}

function codesOf(payload: unknown): readonly unknown[] {
  const errors = Array.isArray(payload) ? payload : ((payload as ExecutionResult | undefined)?.errors ?? []);
  return errors.map((error: { extensions?: { code?: unknown } }) => error.extensions?.code);
}

describe("G7: the WebSocket door", () => {
  it("closes with 4408 where no connection_init comes", async () => {
    const server = await startServer({ config: { initTimeoutSeconds: 0.05 } });
    expect(await openSocket(server).closed).toBe(4408);
  });

  it.each([
    ["no payload", undefined, 4401],
    ["no key", {}, 4401],
    ["a wrong key", { authorization: "Bearer nobody" }, 4401],
    ["a key that is no text", { authorization: 7 }, 4401],
    ["a tenant from somebody who may not name one", { authorization: KEY, "x-tenant-id": "acme" }, 4403],
    ["two tenants", { authorization: "Bearer operator", "x-tenant-id": ["acme", "globex"] }, 4400],
  ])("closes on an init with %s", async (_name, payload, code) => {
    const server = await startServer();
    const socket = openSocket(server);
    await socket.init(payload);
    expect(await socket.closed).toBe(code);
    expect(server.watches()).toBe(0);
  });

  it("takes no key from the address", async () => {
    const server = await startServer();
    const url = `${server.webSocket}?authorization=${encodeURIComponent(KEY)}&token=writer`;
    const socket = openSocket(server, { url });
    await socket.init({});
    expect(await socket.closed).toBe(4401);
  });

  it("closes with 4401 on an operation before the init, and 4406 on another protocol", async () => {
    const server = await startServer();
    const early = openSocket(server);
    await early.opened;
    early.subscribe("1", "{ hello }");
    expect(await early.closed).toBe(4401);
    const other = openSocket(server, { protocol: "graphql-ws" });
    await other.opened.catch(() => {});
    expect(await other.closed).not.toBe(1000);
  });

  it("opens at its own path alone, for its own origin and the configured ones", async () => {
    const server = await startServer({ config: { corsOrigins: ["https://app.example.com"] } });
    const refused: readonly Options[] = [
      { origin: "https://evil.example.com" },
      { origin: "null" },
      { url: `${server.webSocket}/` },
      { url: server.webSocket.replace("/graphql", "/") },
    ];
    for (const options of refused) await expect(openSocket(server, options).opened).rejects.toThrow(/40[34]/);
    for (const origin of [server.url, "https://app.example.com"]) {
      const socket = openSocket(server, { origin });
      await socket.opened;
      socket.socket.close();
    }
  });

  it("runs queries and mutations under the same scopes as HTTP", async () => {
    const server = await startServer();
    const socket = await admitted(server, READ_KEY);
    socket.subscribe("q", "{ hello }");
    expect((await socket.got("next", "q"))?.payload).toEqual({ data: { hello: "world" } });
    socket.subscribe("m", 'mutation { append(text: "a") }');
    expect(codesOf((await socket.got("next", "m"))?.payload)).toEqual(["FORBIDDEN"]);
    expect(server.probe.appended).toEqual([]);
    const operator = openSocket(server);
    await operator.init({ authorization: "Bearer operator", "x-tenant-id": "globex" });
    await operator.got("connection_ack");
    operator.subscribe("t", "{ tenant }");
    expect((await operator.got("next", "t"))?.payload).toEqual({ data: { tenant: "globex" } });
  });

  it("holds documents to the same limits, and one refusal takes nothing else down", async () => {
    const server = await startServer({ budget: 3 });
    const socket = await admitted(server);
    socket.subscribe("live", "subscription { pushed }");
    const aliases = Array.from({ length: 31 }, (_, index) => `a${index}: hello`).join(" ");
    const refused = [
      `{ ${aliases} }`,
      "{".repeat(5_000),
      "{ items { nodes { items { nodes { items { nodes { id } } } } } } }",
    ];
    for (const [index, query] of [...refused, "{ nothing }", "{", ""].entries()) {
      socket.subscribe(`r${index}`, query);
      expect(codesOf((await socket.got("error", `r${index}`))?.payload)).toContain("BAD_USER_INPUT");
    }
    socket.subscribe("two", "{ a: hello b: hello }");
    await socket.got("complete", "two");
    socket.subscribe("over", "{ hello }");
    expect(codesOf((await socket.got("next", "over"))?.payload)).toEqual(["RATE_LIMITED"]);
    server.probe.pushed.push(4);
    expect((await socket.got("next", "live"))?.payload).toEqual({ data: { pushed: 4 } });
  });

  it("refuses one subscription too many for that id alone", async () => {
    const server = await startServer({ config: { operationsPerConnectionMax: 10 } });
    const socket = await admitted(server);
    for (let id = 0; id < 12; id++) socket.subscribe(String(id), "subscription { pushed }");
    for (const id of ["10", "11"]) expect(codesOf((await socket.got("error", id))?.payload)).toEqual(["RATE_LIMITED"]);
    await until(() => server.probe.pushed.listeners === 10, "ten listeners");
    socket.send({ type: "complete", id: "3" });
    await until(() => server.probe.pushed.listeners === 9, "nine listeners");
    socket.subscribe("12", "subscription { pushed }");
    await until(() => server.probe.pushed.listeners === 10, "ten again");
    socket.socket.terminate();
    await until(() => server.watches() === 0 && server.probe.pushed.listeners === 0, "nothing left");
    expect(server.server.counts()).toEqual({ eventStreams: 0, webSockets: 0, subscriptions: 0 });
  });

  it("closes with 1009 on a frame over the body limit, and on a stranger's far smaller one", async () => {
    const server = await startServer({ config: { bodyBytesMax: 100_000 } });
    const known = await admitted(server);
    known.subscribe("fits", `{ hello } # ${"x".repeat(50_000)}`);
    await known.got("next", "fits");
    known.socket.send("x".repeat(100_001));
    expect(await known.closed).toBe(1009);
    const stranger = openSocket(server);
    await stranger.opened;
    stranger.socket.send("x".repeat(50_000));
    expect(await stranger.closed).toBe(1009);
  });

  it("masks what an iterator throws", async () => {
    const server = await startServer();
    const socket = await admitted(server);
    socket.subscribe("f", "subscription { fails }");
    await socket.got("complete", "f");
    expect(JSON.stringify(socket.messages)).toContain("INTERNAL_SERVER_ERROR");
    expect(JSON.stringify(socket.messages)).not.toMatch(/malformed|sqlite/);
  });

  it("G6: closes with 4403 when the key dies, and sends nothing after that", async () => {
    for (const error of [unauthenticated("The key was revoked."), forbidden("The tenant is suspended.")]) {
      const server = await startServer();
      const socket = await admitted(server);
      socket.subscribe("live", "subscription { pushed }");
      await until(() => server.probe.pushed.listeners === 1, "a listener");
      server.kill("writer", error);
      server.probe.pushed.push(1);
      expect(await socket.closed).toBe(4403);
      expect(JSON.stringify(socket.messages)).not.toContain("pushed");
      await until(() => server.watches() === 0 && server.probe.pushed.listeners === 0, "nothing left");
      const again = openSocket(server);
      await again.init({ authorization: KEY });
      expect(await again.closed).toBeGreaterThan(4400);
    }
  });

  it("serves graphql-ws's own client", async () => {
    const server = await startServer();
    const client = createClient({
      ...{ url: server.webSocket, webSocketImpl: WebSocket, retryAttempts: 0 },
      connectionParams: { authorization: KEY },
    });
    const values: unknown[] = [];
    for await (const result of client.iterate({ query: "subscription { count(to: 3) }" }))
      values.push(result.data?.count);
    expect(values).toEqual([1, 2, 3]);
    await client.dispose();
  });
});
