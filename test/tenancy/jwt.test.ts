import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MESSAGE_ROLES } from "../../src/store/model.ts";
import { createJwtVerifier, type JwtConfig } from "../../src/tenancy/jwt.ts";
import { instantOfMilliseconds } from "../../src/time.ts";
import { refusalOf } from "../support/refusal.ts";

const SECRET = "a shared secret of thirty-two bytes or more";
const SECONDS = Date.UTC(2026, 0, 1) / 1000;
const clock = { now: () => instantOfMilliseconds(SECONDS * 1000) };
const good: JWTPayload = { iss: "us", aud: "gateway", exp: SECONDS + 60, tenant: "acme", scope: "READ WRITE" };

type Change = Omit<Partial<JwtConfig>, "source">;
const withSecret = (change: Change = {}) =>
  createJwtVerifier({
    source: { kind: "secret", secret: SECRET },
    issuer: "us",
    audience: "gateway",
    clock,
    ...change,
  });
const sign = (change: JWTPayload = {}, secret = SECRET, alg = "HS256") =>
  new SignJWT({ ...good, ...change }).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
async function refusal(change: JWTPayload, config: Change = {}) {
  return refusalOf(withSecret(config).verify(await sign(change)));
}

describe("a token signed with the shared secret", () => {
  it("says tenant, scopes and end", async () => {
    expect(await withSecret().verify(await sign())).toEqual({
      tenantId: "acme",
      scopes: new Set(["READ", "WRITE"]),
      userId: null,
      visibleRoles: new Set(MESSAGE_ROLES),
      writableRoles: new Set(MESSAGE_ROLES),
      expiresAt: (SECONDS + 60) * 1_000_000,
    });
  });

  it("holds for its issuer and audience, which must stand in it, as must its end", async () => {
    for (const change of [
      { iss: "them" },
      { iss: undefined },
      { aud: "other" },
      { aud: undefined },
      { exp: undefined },
      { tenant: undefined },
      { tenant: 7 as never },
      { nbf: SECONDS + 31 },
    ] as unknown as JWTPayload[]) {
      expect(await refusal(change)).toBe("UNAUTHENTICATED");
    }
    expect(await refusal({ aud: ["other", "gateway"], nbf: SECONDS + 30 })).toBe("accepted");
    expect(await refusal({ aud: "second" }, { audience: ["gateway", "second"] })).toBe("accepted");
  });

  it("is tolerated for 30 seconds after its end, which stays its end", async () => {
    expect(await refusal({ exp: SECONDS - 30 })).toBe("UNAUTHENTICATED");
    const late = await withSecret().verify(await sign({ exp: SECONDS - 29 }));
    expect(late.expiresAt).toBe((SECONDS - 29) * 1_000_000);
    const far = await withSecret().verify(await sign({ exp: 1e15 }));
    expect(far.expiresAt).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("needs an allowed algorithm and the right secret, unchanged", async () => {
    const verify = (token: string, config: Change = {}) => refusalOf(withSecret(config).verify(token));
    expect(await verify(await sign({}, SECRET.toUpperCase()))).toBe("UNAUTHENTICATED");
    expect(await verify(await sign({}, SECRET, "HS512"))).toBe("accepted");
    expect(await verify(await sign({}, SECRET, "HS512"), { algorithms: ["HS256"] })).toBe("UNAUTHENTICATED");
    expect(await verify(new UnsecuredJWT(good).encode())).toBe("UNAUTHENTICATED");
    const [header, , signature] = (await sign()).split(".");
    const forged = Buffer.from(JSON.stringify({ ...good, tenant: "other" })).toString("base64url");
    expect(await verify(`${header}.${forged}.${signature}`)).toBe("UNAUTHENTICATED");
    for (const token of ["", "a", "a.b", "a.b.c", "....", `${await sign()}.x`]) {
      expect(await verify(token)).toBe("UNAUTHENTICATED");
    }
  });

  it("is narrowed by its user, who never has ADMIN", async () => {
    const verify = async (change: JWTPayload) => withSecret().verify(await sign(change));
    const admin = { scope: ["READ", "ADMIN", "OWNER", 5] };
    expect((await verify(admin)).scopes).toEqual(new Set(["READ", "ADMIN"]));
    expect(await verify({ ...admin, user: "u1" })).toMatchObject({
      userId: "u1",
      scopes: new Set(["READ"]),
      visibleRoles: new Set(["USER", "ASSISTANT", "TOOL"]),
      writableRoles: new Set(["USER"]),
    });
    const said = { user: "u1", visible_roles: ["USER", "SYSTEM"], writable_roles: "USER ASSISTANT" };
    expect(await verify(said)).toMatchObject({
      visibleRoles: new Set(["SYSTEM", "USER"]),
      writableRoles: new Set(["USER", "ASSISTANT"]),
    });
    for (const user of ["", 7, null, ["u1"], "u\u0000", "u".repeat(201)]) {
      expect(await refusal({ user })).toBe("UNAUTHENTICATED");
    }
  });

  it("has no scope that it does not name", async () => {
    for (const scope of [undefined, "", "read", "READ,WRITE", 7, null, { READ: true }]) {
      expect((await withSecret().verify(await sign({ scope }))).scopes.size).toBe(0);
    }
  });

  it("is read by the names that the configuration gives", async () => {
    const claims = { tenant: "https://us/org", scopes: "roles", user: "sub", visibleRoles: null };
    const payload = { tenant: "wrong", "https://us/org": "acme", roles: ["DELETE"], sub: "u", visible_roles: [] };
    expect(await withSecret({ claims }).verify(await sign(payload))).toMatchObject({
      tenantId: "acme",
      scopes: new Set(["DELETE"]),
      userId: "u",
      visibleRoles: new Set(["USER", "ASSISTANT", "TOOL"]),
    });
    expect(await refusal({}, { claims: { tenant: "toString" } })).toBe("UNAUTHENTICATED");
    expect((await withSecret({ claims: { user: null } }).verify(await sign({ user: "u" }))).userId).toBeNull();
  });
});

describe("a token signed with a key of a JWKS", () => {
  let server: Server;
  let url: string;
  let answer: { status: number; body: string };
  let fetches: number;
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let jwks: string;
  beforeAll(async () => {
    pair = await generateKeyPair("ES256");
    jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "ES256" }] });
    server = createServer((_, response) => {
      fetches++;
      response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    answer = { status: 200, body: jwks };
    fetches = 0;
  });

  const verifier = (from = url, fetched?: typeof fetch) =>
    createJwtVerifier({
      source: { kind: "jwks", url: from, ...(fetched === undefined ? {} : { fetch: fetched }) },
      issuer: "us",
      audience: "gateway",
      clock,
    });
  const signed = (kid = "one") => new SignJWT(good).setProtectedHeader({ alg: "ES256", kid }).sign(pair.privateKey);

  it("holds, and the keys are fetched once", async () => {
    const jwt = verifier();
    const token = await signed();
    const verified = await Promise.all(Array.from({ length: 10 }, () => jwt.verify(token)));
    expect(new Set(verified.map(({ tenantId }) => tenantId))).toEqual(new Set(["acme"]));
    expect(fetches).toBe(1);
  });

  it("of an unknown key, or a stranger's, is UNAUTHENTICATED", async () => {
    expect(await refusalOf(verifier().verify(await signed("two")))).toBe("UNAUTHENTICATED");
    const stranger = await generateKeyPair("ES256");
    const token = await new SignJWT(good).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(stranger.privateKey);
    expect(await refusalOf(verifier().verify(token))).toBe("UNAUTHENTICATED");
  });

  it("never takes a public key for a shared secret", async () => {
    const [key] = JSON.parse(jwks).keys;
    for (const secret of [jwks, JSON.stringify(key), key.x]) {
      expect(await refusalOf(verifier().verify(await sign({}, secret)))).toBe("UNAUTHENTICATED");
    }
    expect(fetches).toBe(0);
  });

  it("can't be judged while the keys can't be had, and can as soon as they are back", async () => {
    const token = await signed();
    const jwt = verifier();
    for (const broken of [
      { status: 503, body: "" },
      { status: 200, body: "<html>" },
      { status: 200, body: "{}" },
    ]) {
      answer = broken;
      const error = await jwt.verify(token).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
      expect(String(error)).not.toContain("127.0.0.1");
    }
    answer = { status: 200, body: jwks };
    expect(await refusalOf(jwt.verify(token))).toBe("accepted");
    const unreachable = () => Promise.reject(new TypeError("fetch failed"));
    expect(await refusalOf(verifier(url, unreachable).verify(token))).toBe("UNAVAILABLE");
    expect(await refusalOf(verifier("http://127.0.0.1:1/").verify(token))).toBe("UNAVAILABLE");
  });
});

it("a configuration that would verify nothing is refused", async () => {
  const jwks = { kind: "jwks", url: "http://127.0.0.1/" } as const;
  const secret = { kind: "secret", secret: SECRET } as const;
  const make = (config: Partial<JwtConfig>) =>
    refusalOf(() => void createJwtVerifier({ source: secret, issuer: "us", audience: "gateway", clock, ...config }));
  expect(await make({})).toBe("accepted");
  expect(await make({ source: jwks, algorithms: ["ES256"] })).toBe("accepted");
  expect(await make({ source: jwks, algorithms: ["ES256", "HS256"] })).toBe("BAD_USER_INPUT algorithms");
  expect(await make({ algorithms: ["RS256"] })).toBe("BAD_USER_INPUT algorithms");
  expect(await make({ algorithms: ["none"] })).toBe("BAD_USER_INPUT algorithms");
  expect(await make({ algorithms: [] })).toBe("BAD_USER_INPUT algorithms");
  expect(await make({ source: { kind: "secret", secret: "short" } })).toBe("BAD_USER_INPUT secret");
  expect(await make({ source: { kind: "jwks", url: "no url" } })).toBe("BAD_USER_INPUT url");
  expect(await make({ issuer: "" })).toBe("BAD_USER_INPUT issuer");
  expect(await make({ audience: "" })).toBe("BAD_USER_INPUT audience");
  expect(await make({ audience: [] })).toBe("BAD_USER_INPUT audience");
});
