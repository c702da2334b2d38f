import { gzipSync } from "node:zlib";
import type { ExecutionResult } from "graphql";
import { describe, expect, it } from "vitest";
import { bareSocket, rawRequest, until } from "../support/raw-http.ts";
import { closeServersAfterEach, KEY, type ProbeServer, startServer } from "../support/server.ts";

closeServersAfterEach();

function codes(result: ExecutionResult): readonly unknown[] {
  return (result.errors ?? []).map((error) => error.extensions?.code);
}

async function refusedThenFine(server: ProbeServer, query: string, variables?: unknown): Promise<string> {
  const response = await server.post({ query, variables }, { accept: "application/graphql-response+json" });
  const result: ExecutionResult = JSON.parse(await response.text());
  expect(response.status).toBe(400);
  expect(codes(result)).toEqual(["BAD_USER_INPUT"]);
  expect((await server.ask({ query: "{ hello }" })).data).toEqual({ hello: "world" });
  return result.errors?.[0]?.message ?? "";
}

const items = (depth: number, first: number): string =>
  depth === 0 ? "id" : `items(first: ${first}) { nodes { ${items(depth - 1, first)} } }`;

describe("J2: expensive documents are refused before execution", () => {
  it("counts aliases", async () => {
    const server = await startServer();
    const aliased = (count: number) =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: hello`).join(" ")} }`;
    expect(Object.keys((await server.ask({ query: aliased(30) })).data ?? {})).toHaveLength(30);
    expect(await refusedThenFine(server, aliased(31))).toContain("30 aliases");
    expect(await refusedThenFine(server, aliased(20_000))).toContain("bytes");
  });

  it("counts levels of fields, introspection aside, through fragments too", async () => {
    const server = await startServer();
    const nested = (levels: number): string =>
      levels === 1 ? "id" : `items(first: 1) { nodes { ${nested(levels - 2)} } }`;
    expect((await server.ask({ query: `{ item { ${nested(11)} } }` })).errors).toBeUndefined();
    expect(await refusedThenFine(server, `{ item { ${nested(13)} } }`)).toContain("12 levels");
    const fragments = `{ item { ...A } } fragment A on Item { ${nested(9).replace("id", "...B")} }
      fragment B on Item { ${nested(9)} }`;
    expect(await refusedThenFine(server, fragments)).toContain("12 levels");
    const introspection = `{ __schema { types { fields { type { ${"ofType { ".repeat(8)} name ${"} ".repeat(13)}`;
    expect((await server.ask({ query: introspection })).errors).toBeUndefined();
  });

  it("counts directives and tokens, and follows no cycle of fragments", async () => {
    const server = await startServer();
    const directives = (count: number) => `{ hello ${"@include(if: true) ".repeat(count)} }`;
    expect(await refusedThenFine(server, directives(21))).toContain("20 directives");
    expect(await refusedThenFine(server, `{ ${"hello ".repeat(2_000)} }`)).toContain("2000 tokens");
    const cycle = "{ item { ...A } } fragment A on Item { items { nodes { ...B } } } fragment B on Item { ...A }";
    expect(await refusedThenFine(server, cycle)).toContain("fragment");
  });

  it("bounds rows times nesting: 1,000 of one level pass, 100 × 100 × 100 do not", async () => {
    const server = await startServer();
    const one = "{ items(first: 1000) { totalCount nodes { id name } } }";
    expect((await server.ask({ query: one })).errors).toBeUndefined();
    expect((await server.ask({ query: `{ ${items(2, 100)} }` })).errors).toBeUndefined();
    expect(await refusedThenFine(server, `{ ${items(3, 100)} }`)).toContain("rows");
    expect(
      await refusedThenFine(server, "{ items { nodes { items { nodes { items { nodes { id } } } } } } }"),
    ).toContain("rows");
  });

  it("takes page sizes from variables, their defaults, and past fragments", async () => {
    const server = await startServer();
    const nested = "items(first: $n) { nodes { ...More } } } fragment More on Item { items(last: $n) { nodes { id } }";
    const query = `query ($n: Int) { ${nested} }`;
    expect((await server.ask({ query, variables: { n: 100 } })).errors).toBeUndefined();
    expect(await refusedThenFine(server, query, { n: 1000 })).toContain("rows");
    expect(await refusedThenFine(server, `query ($n: Int = 1000) { ${nested} }`)).toContain("rows");
    const counts = "{ items(first: 1000) { nodes { items { totalCount } } } }";
    expect((await server.ask({ query: counts })).errors).toBeUndefined();
  });
});

describe("B9: depth bombs", () => {
  const list = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  it.each([200, 900, 5_000, 30_000])("refuses a literal %d deep and a selection as deep", async (depth) => {
    const server = await startServer();
    await refusedThenFine(server, `{ echo(value: ${list(depth)}) }`);
    await refusedThenFine(server, `${"{ item ".repeat(depth)}${"}".repeat(depth)}`);
    await refusedThenFine(server, "{".repeat(depth));
  });

  it("accepts a literal 64 deep, and a variable of any depth reaches the field that judges it", async () => {
    const server = await startServer();
    expect((await server.ask({ query: `{ echo(value: ${list(64)}) }` })).errors).toBeUndefined();
    const body = `{"query":"query ($v: Json) { __typename @include(if: true) tenant }","variables":{"v":${list(100_000)}}}`;
    expect((await server.post(body)).status).toBe(200);
  });
});

describe("J5: documents", () => {
  it("refuses one over 64 KiB, whose data belongs into variables", async () => {
    const server = await startServer();
    const message = await refusedThenFine(server, `{ echo(value: "${"x".repeat(64 * 1024)}") }`);
    expect(message).toContain("variables");
  });
});

describe("J3: body size", () => {
  const headers = { authorization: KEY, "content-type": "application/json" };

  it("refuses by Content-Length before a byte is read", async () => {
    const server = await startServer();
    const answer = await rawRequest(server.port, {
      headers: { ...headers, "content-length": String(32 * 1024 * 1024 + 1) },
      body: "{",
    });
    expect([answer.status, answer.body]).toEqual([413, expect.stringContaining("PAYLOAD_TOO_LARGE")]);
  });

  it("counts a body that does not say its length, and takes one of exactly the limit", async () => {
    const server = await startServer({ config: { bodyBytesMax: 100_000 } });
    const body = (bytes: number) => `{"query":"{ hello }","extensions":{"x":"${"y".repeat(bytes - 43)}"}}`;
    const send = (text: string) =>
      rawRequest(server.port, { headers: { ...headers, "transfer-encoding": "chunked" }, body: text });
    expect(body(100_000)).toHaveLength(100_000);
    expect((await send(body(100_000))).status).toBe(200);
    expect((await send(body(100_001))).status).toBe(413);
    expect((await server.post(body(100_001))).status).toBe(413);
  });

  it("refuses a compressed body", async () => {
    const server = await startServer();
    const zipped = gzipSync(JSON.stringify({ query: "{ hello }" }));
    const response = await fetch(server.graphql, {
      ...{ method: "POST", body: zipped },
      headers: { ...headers, "content-encoding": "gzip" },
    });
    expect(response.status).toBe(415);
  });

  it("answers 503 with Retry-After while too many bytes are in flight, and recovers", async () => {
    const server = await startServer({ config: { bodyBytesMax: 100_000, bodiesInFlightBytesMax: 150_000 } });
    const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${KEY}\r\nContent-Type: application/json\r\n`;
    const slow = await bareSocket(server.port, `${head}Content-Length: 90000\r\n\r\n{"query":"${" ".repeat(89_000)}`);
    const large = { query: `{ hello } #${"x".repeat(80_000)}` };
    let refused: Response | null = null;
    for (let tries = 0; tries < 100 && refused === null; tries++) {
      const response = await server.post(large);
      if (response.status === 503) refused = response;
    }
    expect(refused?.headers.get("retry-after")).toBe("1");
    slow.socket.destroy();
    await slow.closed;
    let status = 0;
    for (let tries = 0; tries < 100 && status !== 200 && status !== 400; tries++)
      status = (await server.post(large)).status;
    expect(status).not.toBe(503);
  });
});

describe("D6: a client that gives up half-way", () => {
  it("stores nothing of a body that was cut, and all of one that came whole", async () => {
    const server = await startServer();
    const body = JSON.stringify({ query: 'mutation { append(text: "whole") }' });
    const head =
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${KEY}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`;
    const cut = await bareSocket(server.port, head + body.slice(0, Math.floor(body.length * 0.6)));
    cut.socket.destroy();
    const before = server.probe.answers;
    const gone = await bareSocket(server.port, head + body);
    gone.socket.end();
    await until(() => server.probe.appended.length > 0, "the append");
    await until(() => server.probe.answers > before, "the answers' end");
    expect(server.probe.appended).toEqual(["whole"]);
    expect(server.logged).toEqual([]);
  });
});

describe("J4: slow senders", () => {
  it("closes on headers and bodies that take too long, while a stream may last", async () => {
    const server = await startServer({ config: { headersTimeoutSeconds: 0.2, bodyTimeoutSeconds: 0.3 } });
    const stream = await fetch(`${server.graphql}?query=subscription{pushed}`, {
      headers: { authorization: KEY, accept: "text/event-stream" },
    });
    const head = await bareSocket(server.port, "POST /graphql HTTP/1.1\r\nHost: x\r\n");
    const body = await bareSocket(
      server.port,
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: ${KEY}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 100\r\n\r\n{"query',
    );
    expect(await head.closed).toContain("408");
    expect(await body.closed).toContain("408");
    expect(server.server.counts().eventStreams).toBe(1);
    await stream.body?.cancel();
  });

  it("closes sockets beyond the most that it keeps", async () => {
    const server = await startServer({ config: { connectionsMax: 2 } });
    const first = await bareSocket(server.port, "");
    const second = await bareSocket(server.port, "");
    const third = await bareSocket(server.port, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await third.closed).toBe("");
    first.socket.destroy();
    second.socket.destroy();
  });
});
