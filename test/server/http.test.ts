import { describe, expect, it } from "vitest";
import { rawRequest } from "../support/raw-http.ts";
import { closeServersAfterEach, KEY, READ_KEY, startServer } from "../support/server.ts";

closeServersAfterEach();

async function codeOf(response: Response): Promise<unknown> {
  const body: { errors?: { extensions?: { code?: unknown } }[] } = JSON.parse(await response.text());
  return body.errors?.[0]?.extensions?.code;
}

const HELLO = { query: "{ hello }" };
const APPEND = { query: 'mutation { append(text: "a") }' };

describe("J1: a body that a form could send", () => {
  const text = JSON.stringify(APPEND);
  it.each([
    ["text/plain", text],
    ["application/x-www-form-urlencoded", `query=${encodeURIComponent(APPEND.query)}`],
    [
      "multipart/form-data; boundary=x",
      `--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n${text}\r\n--x--`,
    ],
    ["application/graphql", APPEND.query],
    ["application/json; charset=latin1", text],
  ])("as %s is 415 and runs nothing", async (type, body) => {
    const server = await startServer();
    const response = await server.post(body, { "content-type": type });
    expect(response.status).toBe(415);
    expect(await codeOf(response)).toBe("BAD_USER_INPUT");
    expect(server.probe.appended).toEqual([]);
  });

  it("without a content type is 415", async () => {
    const server = await startServer();
    const answer = await rawRequest(server.port, { headers: { authorization: KEY }, body: text });
    expect(answer.status).toBe(415);
    expect(server.probe.appended).toEqual([]);
  });

  it("as a GET mutation is 405 and names POST", async () => {
    const server = await startServer();
    const query = new URLSearchParams(APPEND);
    const response = await fetch(`${server.graphql}?${query}`, { headers: { authorization: KEY } });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(server.probe.appended).toEqual([]);
  });
});

describe("credentials over HTTP", () => {
  it("answers UNAUTHENTICATED with 401 for no key, a wrong one and two at once, introspection included", async () => {
    const server = await startServer();
    for (const authorization of ["", "Bearer nobody"]) {
      const response = await server.post({ query: "{ __schema { types { name } } }" }, { authorization });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
      expect(await codeOf(response)).toBe("UNAUTHENTICATED");
    }
    const twice = { authorization: [KEY, KEY], "content-type": "application/json" };
    expect((await rawRequest(server.port, { headers: twice, body: JSON.stringify(HELLO) })).status).toBe(401);
  });

  it("refuses before the body is read", async () => {
    const server = await startServer();
    const headers = { "content-type": "application/json", "content-length": "1000" };
    expect((await rawRequest(server.port, { headers, body: "{" })).status).toBe(401);
  });

  it("takes x-tenant-id from an operator, once", async () => {
    const server = await startServer();
    const body = JSON.stringify({ query: "{ tenant }" });
    const operator = { authorization: "Bearer operator", "content-type": "application/json" };
    const named = await rawRequest(server.port, { headers: { ...operator, "x-tenant-id": "acme" }, body });
    expect(JSON.parse(named.body)).toEqual({ data: { tenant: "acme" } });
    const twice = await rawRequest(server.port, { headers: { ...operator, "x-tenant-id": ["acme", "globex"] }, body });
    expect(twice.status).toBe(400);
    const unknown = await rawRequest(server.port, { headers: { ...operator, "x-tenant-id": "nowhere" }, body });
    expect(unknown.status).toBe(404);
    const other = await server.post({ query: "{ tenant }" }, { "x-tenant-id": "globex" });
    expect([other.status, await codeOf(other)]).toEqual([403, "FORBIDDEN"]);
  });

  it("gives the operation a context of its own, nothing of the request in it", async () => {
    const server = await startServer();
    await server.ask(HELLO);
    const [context = {}] = server.probe.contexts;
    expect(Object.keys(context).sort()).toEqual(["caller", "ended", "probe", "requestId"]);
  });
});

describe("statuses", () => {
  it("answers what a field raised with 200 and its code", async () => {
    const server = await startServer();
    const response = await server.post({ query: "{ refused }" });
    expect([response.status, await codeOf(response)]).toEqual([200, "BAD_USER_INPUT"]);
    const denied = await server.post(APPEND, { authorization: READ_KEY });
    expect([denied.status, await codeOf(denied)]).toEqual([200, "FORBIDDEN"]);
  });

  it("answers 400 for a body that is no operation, and for a batch", async () => {
    const server = await startServer();
    for (const body of ["", "{", "[]", JSON.stringify([HELLO]), "7", '{"query": 7}']) {
      const response = await server.post(body);
      expect([body, response.status, await codeOf(response)]).toEqual([body, 400, "BAD_USER_INPUT"]);
    }
    const broken = await server.post("{", { authorization: KEY });
    expect(broken.headers.get("content-type")).toContain("application/json");
  });

  it("answers 400 for a body that is not UTF-8", async () => {
    const server = await startServer();
    const headers = { authorization: KEY, "content-type": "application/json" };
    const response = await fetch(server.graphql, { method: "POST", headers, body: Buffer.from([0x22, 0xff, 0x22]) });
    expect(response.status).toBe(400);
  });

  it("answers 406 where it has no form that the client takes", async () => {
    const server = await startServer();
    expect((await server.post(HELLO, { accept: "text/csv" })).status).toBe(406);
    expect((await server.post({ query: "subscription { pushed }" })).status).toBe(406);
  });

  it("H7: masks what is not meant for clients, with the request's id", async () => {
    const server = await startServer();
    const response = await server.post({ query: "{ broken }" });
    const text = await response.text();
    expect(text).not.toMatch(/SQLITE|\.sqlite|\/var|stack/);
    expect(text).toContain(response.headers.get("x-request-id"));
  });

  it("H8: counts root fields, answers 429 with Retry-After, and leaves other tenants alone", async () => {
    const server = await startServer({ budget: 10 });
    const six = { query: `{ ${["a", "b", "c", "d", "e", "f"].map((name) => `${name}: hello`).join(" ")} }` };
    expect((await server.post(six)).status).toBe(200);
    const refused = await server.post(six);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await codeOf(refused)).toBe("RATE_LIMITED");
    expect((await server.post(six, { authorization: "Bearer globex" })).status).toBe(200);
  });
});

describe("paths", () => {
  it("serves health and readiness with fixed bodies", async () => {
    let ready = false;
    const server = await startServer({ ready: () => ready });
    expect(await (await fetch(`${server.url}/health`)).text()).toBe('{"status":"ok"}');
    expect((await fetch(`${server.url}/ready`)).status).toBe(503);
    ready = true;
    expect(await (await fetch(`${server.url}/ready?verbose=1`)).text()).toBe('{"status":"ready"}');
    expect((await fetch(`${server.url}/health`, { method: "POST" })).status).toBe(405);
  });

  it("matches exactly", async () => {
    const server = await startServer();
    for (const path of ["/graphql/", "/graphqlx", "/GraphQL", "//graphql", "/x/health", "/health/", "/%67raphql"]) {
      const response = await fetch(`${server.url}${path}`, { headers: { authorization: KEY } });
      expect([path, response.status, await codeOf(response)]).toEqual([path, 404, "NOT_FOUND"]);
    }
    expect((await fetch(server.url)).status).toBe(200);
  });

  it("J6: shows GraphiQL to browsers, from its own scripts alone", async () => {
    const server = await startServer();
    const page = await fetch(server.graphql, { headers: { accept: "text/html" } });
    const html = await page.text();
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(html).not.toMatch(/<script[^>]+src=|<link[^>]+href="http/);
    const query = await fetch(`${server.graphql}?query={hello}`, { headers: { accept: "text/html" } });
    expect(query.status).toBe(401);
  });
});

describe("CORS", () => {
  const preflight = (url: string, origin: string) =>
    fetch(url, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });

  it("lets its own origin and the configured ones in, and no other", async () => {
    const server = await startServer({ config: { corsOrigins: ["https://app.example.com"] } });
    for (const origin of [server.url, "https://app.example.com"]) {
      const response = await preflight(server.graphql, origin);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-allow-headers")).toContain("X-Tenant-Id");
    }
    const foreign = await preflight(server.graphql, "https://evil.example.com");
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
    expect(foreign.headers.get("access-control-allow-headers")).toBeNull();
    const answer = await server.post(HELLO, { origin: "https://app.example.com" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(answer.headers.get("vary")).toBe("Origin");
  });
});
