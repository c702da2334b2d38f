import { createClient as createSseClient } from "graphql-sse";
import { createClient as createWsClient } from "graphql-ws";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { openEvents } from "../support/event-reader.ts";
import { bareSocket, until } from "../support/raw-http.ts";
import { closeServersAfterEach, KEY, startServer } from "../support/server.ts";

closeServersAfterEach();

const PUSHED = { query: "subscription { pushed }" };

describe("D8: orderly shutdown", () => {
  it("answers what runs, closes what idles, and ends streams so that clients resume", async () => {
    const server = await startServer({ config: { graceSeconds: 20 } });
    const running = Promise.all(Array.from({ length: 5 }, () => server.ask({ query: "{ slow }" })));
    const idle = await bareSocket(server.port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => idle.received().includes("ok"), "an answer on the connection that then idles");
    const reader = await openEvents(server.graphql, { query: PUSHED.query, authorization: KEY });
    const closes: number[] = [];
    const client = createWsClient({
      ...{ url: server.webSocket, webSocketImpl: WebSocket, retryAttempts: 0 },
      connectionParams: { authorization: KEY },
      on: { closed: (event) => void closes.push((event as { code: number }).code) },
    });
    const completed: string[] = [];
    const sink = {
      next: () => {},
      error: () => void completed.push("error"),
      complete: () => void completed.push("complete"),
    };
    client.subscribe(PUSHED, sink);
    const slowOverSocket = new Promise((resolve) => {
      client.subscribe({ query: "{ slow }" }, { next: resolve, error: resolve, complete: () => {} });
    });
    await until(() => server.probe.slow.length === 6 && server.probe.pushed.listeners === 2, "everything under way");

    let over = false;
    const closing = server.close().then(() => {
      over = true;
    });
    // No complete: clients take the end for a cut line.
    expect(await reader.next()).toBeNull();
    await idle.closed;
    expect(over).toBe(false);
    for (const answer of server.probe.slow) answer();
    expect(await running).toEqual(Array.from({ length: 5 }, () => ({ data: { slow: "slow" } })));
    expect(await slowOverSocket).toEqual({ data: { slow: "slow" } });
    await closing;
    await until(() => closes.length > 0 && completed.length > 0, "the client's end");
    expect(closes).toEqual([1001]);
    expect(completed).toEqual(["error"]);
    expect([server.watches(), server.probe.pushed.listeners]).toEqual([0, 0]);
  });

  it("is over after the grace time, whatever hangs", async () => {
    const server = await startServer({ config: { graceSeconds: 0.05 } });
    const hanging = server.ask({ query: "{ slow }" }).catch(() => "cut");
    const silent = await bareSocket(server.port, "POST /graphql HTTP/1.1\r\n");
    await until(() => server.probe.slow.length === 1, "a slow field");
    await server.close();
    expect(await hanging).toBe("cut");
    await silent.closed;
  });

  it("closes twice as once, and takes nothing new meanwhile", async () => {
    const server = await startServer();
    const kept = await bareSocket(
      server.port,
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${KEY}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 20\r\n\r\n{"query":"{ slow }"}',
    );
    await until(() => server.probe.slow.length === 1, "a slow field");
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await expect(fetch(`${server.url}/ready`)).rejects.toThrow();
    server.probe.slow[0]?.();
    expect(await kept.closed).toMatch(/connection: close[\s\S]*"slow":"slow"/i);
    await closing;
  });

  it("lets the clients of both protocols resume at once on the next server", async () => {
    const first = await startServer();
    const seen: unknown[] = [];
    const state = { url: first.graphql };
    const sse = createSseClient({
      ...{ url: () => state.url, headers: { authorization: KEY }, retryAttempts: 5 },
      retry: async () => {},
    });
    const ws = createWsClient({
      ...{ url: () => state.url.replace("http", "ws"), webSocketImpl: WebSocket, retryAttempts: 5 },
      ...{ connectionParams: { authorization: KEY }, retryWait: async () => {} },
    });
    const sink = { next: (value: unknown) => void seen.push(value), error: () => {}, complete: () => {} };
    const stop = [sse.subscribe(PUSHED, sink), ws.subscribe(PUSHED, sink)];
    await until(() => first.probe.pushed.listeners === 2, "both on the first");
    const second = await startServer();
    state.url = second.graphql;
    await first.close();
    await until(() => second.probe.pushed.listeners === 2, "both on the second");
    second.probe.pushed.push(9);
    await until(() => seen.length === 2, "both values");
    expect(seen).toEqual([{ data: { pushed: 9 } }, { data: { pushed: 9 } }]);
    for (const end of stop) end();
  });
});
