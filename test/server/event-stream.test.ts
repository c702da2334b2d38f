import type { ExecutionResult } from "graphql";
import { createClient } from "graphql-sse";
import { describe, expect, it } from "vitest";
import { forbidden, unauthenticated } from "../../src/errors.ts";
import { type EventReader, openEvents, type StreamEvent } from "../support/event-reader.ts";
import { until } from "../support/raw-http.ts";
import { closeServersAfterEach, KEY, type ProbeServer, READ_KEY, startServer } from "../support/server.ts";

closeServersAfterEach();

const open = (server: ProbeServer, query: string, authorization = KEY, headers: Record<string, string> = {}) =>
  openEvents(server.graphql, { query, authorization, headers });

function resultOf(event: StreamEvent | null): ExecutionResult {
  return JSON.parse(event?.data ?? "null");
}

async function expectRefusal(reader: EventReader, code: string): Promise<void> {
  const event = await reader.next();
  expect(event?.event).toBe("next");
  expect(resultOf(event).errors?.[0]?.extensions?.code).toBe(code);
  expect(await reader.next()).toEqual({ event: "complete", data: "" });
  expect(await reader.next()).toBeNull();
}

describe("subscriptions over server-sent events", () => {
  it("sends each result as next, then complete, and lets go of everything", async () => {
    const server = await startServer();
    const reader = await open(server, "subscription { count(to: 2) }");
    expect(resultOf(await reader.next())).toEqual({ data: { count: 1 } });
    expect(resultOf(await reader.next())).toEqual({ data: { count: 2 } });
    expect(await reader.next()).toEqual({ event: "complete", data: "" });
    expect(await reader.next()).toBeNull();
    await until(() => server.server.counts().subscriptions === 0 && server.watches() === 0, "the end");
  });

  it("G9: tells proxies not to buffer, compress or cache, whatever is asked for", async () => {
    const server = await startServer();
    const reader = await open(server, "subscription { pushed }", KEY, { "accept-encoding": "gzip" });
    const header = (name: string) => reader.response.headers.get(name);
    expect(reader.response.status).toBe(200);
    expect(header("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(header("x-accel-buffering")).toBe("no");
    expect(header("cache-control")).toBe("no-cache, no-transform");
    expect(header("content-encoding")).toBeNull();
    await reader.close();
  });

  it("G9: says by comments that it lives", async () => {
    const server = await startServer({ config: { streamCommentSeconds: 0.02 } });
    const reader = await open(server, "subscription { pushed }");
    setTimeout(() => server.probe.pushed.push(1), 200);
    await reader.next();
    expect(reader.comments()).toBeGreaterThan(3);
    await reader.close();
  });

  it("is refused by one next with errors, then complete", async () => {
    const server = await startServer();
    await expectRefusal(await open(server, "subscription { refusedAtOnce }"), "BAD_USER_INPUT");
    await expectRefusal(await open(server, "subscription { nothing }"), "BAD_USER_INPUT");
    const limited = await startServer({ budget: 0 });
    await expectRefusal(await open(limited, "subscription { pushed }"), "RATE_LIMITED");
    expect([server.watches(), limited.watches()]).toEqual([0, 0]);
  });

  it("masks an error that its iterator throws", async () => {
    const server = await startServer();
    const reader = await open(server, "subscription { fails }");
    await reader.next();
    const event = await reader.next();
    expect(event?.data).not.toMatch(/malformed|sqlite/);
    expect(resultOf(event).errors?.[0]?.extensions?.code).toBe("INTERNAL_SERVER_ERROR");
    expect(await reader.next()).toEqual({ event: "complete", data: "" });
  });

  it("needs a key like everything else, and answers without one as JSON", async () => {
    const server = await startServer();
    const reader = await open(server, "subscription { pushed }", "Bearer nobody");
    expect(reader.response.status).toBe(401);
  });

  it("also answers a GET, and a query where nothing but a stream is accepted", async () => {
    const server = await startServer();
    const headers = { authorization: KEY, accept: "text/event-stream" };
    const response = await fetch(`${server.graphql}?query=subscription{count(to:1)}`, { headers });
    expect(await response.text()).toContain('event: next\ndata: {"data":{"count":1}}\n\nevent: complete\n');
    const reader = await open(server, "{ hello }");
    expect(resultOf(await reader.next())).toEqual({ data: { hello: "world" } });
    const mixed = await server.post({ query: "{ hello }" }, { accept: "application/json, text/event-stream" });
    expect(await mixed.json()).toEqual({ data: { hello: "world" } });
  });

  it("ends its source without another event once the client is gone", async () => {
    const server = await startServer();
    const readers = await Promise.all(Array.from({ length: 5 }, () => open(server, "subscription { pushed }")));
    await until(() => server.probe.pushed.listeners === 5, "five listeners");
    await Promise.all(readers.map((reader) => reader.close()));
    await until(() => server.probe.pushed.listeners === 0 && server.watches() === 0, "no listener, no watch");
    expect(server.server.counts()).toEqual({ eventStreams: 0, webSockets: 0, subscriptions: 0 });
  });

  it("waits for a reader that does not read", async () => {
    const server = await startServer();
    const reader = await open(server, "subscription { large }");
    await until(() => server.probe.answers > 5, "some results");
    let seen = -1;
    await until(() => {
      const still = seen === server.probe.answers;
      seen = server.probe.answers;
      return still;
    }, "a halt");
    expect(seen).toBeLessThan(500);
    await reader.close();
    await until(() => server.server.counts().subscriptions === 0, "the end");
  });

  it("are so many a tenant, and no more", async () => {
    const server = await startServer({ config: { subscriptionsPerTenantMax: 2 } });
    const first = await open(server, "subscription { pushed }");
    await open(server, "subscription { pushed }", READ_KEY);
    await expectRefusal(await open(server, "subscription { pushed }"), "RATE_LIMITED");
    const other = await open(server, "subscription { pushed }", "Bearer globex");
    await first.close();
    await until(() => server.server.counts().subscriptions === 2, "room");
    const again = await open(server, "subscription { pushed }");
    await until(() => server.probe.pushed.listeners === 3, "three listeners");
    server.probe.pushed.push(5);
    expect(resultOf(await other.next())).toEqual({ data: { pushed: 5 } });
    expect(resultOf(await again.next())).toEqual({ data: { pushed: 5 } });
  });
});

describe("G6: a credential that dies under a stream", () => {
  it.each([
    ["UNAUTHENTICATED", unauthenticated("The key was revoked.")],
    ["FORBIDDEN", forbidden("The tenant is suspended.")],
  ])("ends it with %s, and passes nothing on that came after", async (code, error) => {
    const server = await startServer();
    const reader = await open(server, "subscription { pushed }");
    const other = await open(server, "subscription { pushed }", READ_KEY);
    await until(() => server.probe.pushed.listeners === 2, "two listeners");
    server.kill("writer", error);
    server.probe.pushed.push(7);
    await expectRefusal(reader, code);
    expect(resultOf(await other.next())).toEqual({ data: { pushed: 7 } });
    await until(() => server.watches() === 1, "one watch left");
    expect((await server.post({ query: "{ hello }" })).status).toBe(code === "FORBIDDEN" ? 403 : 401);
  });
});

describe("graphql-sse's own client", () => {
  it("subscribes, and takes a key that died for an answer", async () => {
    const server = await startServer();
    const client = createClient({ url: server.graphql, headers: { authorization: KEY }, retryAttempts: 0 });
    const stream = client.iterate({ query: "subscription { pushed }" });
    const first = stream.next();
    await until(() => server.probe.pushed.listeners === 1, "a listener");
    server.probe.pushed.push(1);
    expect((await first).value).toEqual({ data: { pushed: 1 } });
    const last = stream.next();
    server.kill("writer", unauthenticated("The key was revoked."));
    expect((await last).value?.errors?.[0]?.message).toContain("revoked");
    expect((await stream.next()).done).toBe(true);
  });
});
