import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MESSAGE_ROLES, type UserId } from "../../src/store/model.ts";
import { SCOPES } from "../../src/store/registry-contract.ts";
import { createAuthenticator } from "../../src/tenancy/authenticate.ts";
import type { Caller } from "../../src/tenancy/contract.ts";
import type { JwtClaims, JwtVerifier } from "../../src/tenancy/jwt.ts";
import { reachOf } from "../../src/tenancy/reach.ts";
import { plusSeconds } from "../../src/time.ts";
import { refusalOf } from "../support/refusal.ts";
import { OPERATOR, OPERATOR_KEY, openTestTenancy, type TestTenancy, tenantId } from "../support/tenancy.ts";

let test: TestTenancy;
let secret: string;
let jwt: JwtVerifier | null;
beforeEach(async () => {
  test = openTestTenancy();
  jwt = null;
  ({ secret } = await test.tenant("acme", { id: "k", scopes: ["READ", "ADMIN"] }));
});
afterEach(() => test.dispose());

const send = (authorization: string | null, ...tenantIds: readonly string[]): Promise<Caller> =>
  test.authenticator(jwt).authenticate({ authorization, tenantIds });
const refusal = (authorization: string | null, ...tenantIds: readonly string[]) =>
  refusalOf(send(authorization, ...tenantIds));
const suspend = () => test.tenants().update({ tenantId: "acme", status: "SUSPENDED" });

describe("a key", () => {
  it("says who is calling, with what the key was given", async () => {
    const caller = await send(`Bearer ${secret}`);
    expect(caller).toMatchObject({ kind: "API_KEY", keyId: "k", userId: null, expiresAt: null });
    expect(caller.tenant).toMatchObject({ id: "acme", state: "ACTIVE", limits: { maxSessions: 1_000 } });
    expect([...caller.scopes]).toEqual(["READ", "ADMIN"]);
    expect(reachOf(caller)).toEqual({
      userId: null,
      visibleRoles: new Set(MESSAGE_ROLES),
      writableRoles: new Set(MESSAGE_ROLES),
    });
    const expiresAt = plusSeconds(test.now(), 60);
    const user = await test.tenants().createKey(tenantId("acme"), { userId: "u", expiresAt }, OPERATOR);
    const narrow = await send(`bearer  ${user.secret} `);
    expect(narrow).toMatchObject({ userId: "u", expiresAt });
    expect(reachOf(narrow)).toEqual({
      userId: "u",
      visibleRoles: new Set(["USER", "ASSISTANT", "TOOL"]),
      writableRoles: new Set(["USER"]),
    });
  });

  it("opens nothing unless it is exactly the key, under the scheme Bearer", async () => {
    const wrong = `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`;
    for (const authorization of [
      null,
      "",
      "Bearer",
      "Bearer ",
      secret,
      `Basic ${secret}`,
      `Bearer${secret}`,
      `Bearer ${secret}, Bearer ${secret}`,
      `Bearer ${wrong}`,
      `Bearer ${secret}x`,
      `Bearer ${secret.replace("sgw_k_", "sgw_l_")}`,
      `Bearer ${secret.replace("sgw_k_", "sgw_%6b_")}`,
      `Bearer sgw_${"x".repeat(100_000)}`,
      "Bearer not.a.token",
      `Bearer ${OPERATOR_KEY}x`,
    ]) {
      expect(await refusal(authorization)).toBe("UNAUTHENTICATED");
    }
    for (const authorization of [`Bearer ${secret}`, `BEARER ${secret}`, `bEaReR   ${secret}`]) {
      expect(await refusal(authorization)).toBe("accepted");
    }
  });

  it("ends at its very end, and when it is revoked", async () => {
    const expiresAt = plusSeconds(test.now(), 1);
    const made = await test.tenants().createKey(tenantId("acme"), { expiresAt }, OPERATOR);
    test.time.wallMs += 999;
    expect(await refusal(`Bearer ${made.secret}`)).toBe("accepted");
    test.time.wallMs += 1;
    expect(await refusal(`Bearer ${made.secret}`)).toBe("UNAUTHENTICATED");
    await test.tenants().revokeKey(tenantId("acme"), "k");
    expect(await refusal(`Bearer ${secret}`)).toBe("UNAUTHENTICATED");
  });

  it("that is revoked in the middle of many lookups opens nothing from the answer on", async () => {
    const lookups = Array.from({ length: 100 }, () => refusal(`Bearer ${secret}`));
    const revoked = test.tenants().revokeKey(tenantId("acme"), "k");
    const during = Array.from({ length: 100 }, () => refusal(`Bearer ${secret}`));
    await revoked;
    const after = Array.from({ length: 20 }, () => refusal(`Bearer ${secret}`));
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(["accepted"]));
    await Promise.all(during);
    expect(new Set(await Promise.all(after))).toEqual(new Set(["UNAUTHENTICATED"]));
  });

  it("of a suspended tenant is FORBIDDEN, and of one on its way in or out UNAUTHENTICATED", async () => {
    await suspend();
    expect(await refusal(`Bearer ${secret}`)).toBe("FORBIDDEN");
    const { generation } = (await test.registry().getTenant("acme")) ?? { generation: 0 };
    for (const state of ["CREATING", "DELETING"] as const) {
      await test.registry().updateTenant(tenantId("acme"), generation, { state });
      expect(await refusal(`Bearer ${secret}`)).toBe("UNAUTHENTICATED");
      expect(await refusal(`Bearer ${OPERATOR_KEY}`, "acme")).toBe("NOT_FOUND");
    }
  });

  it("names no tenant, not even its own", async () => {
    await test.tenant("other");
    for (const ids of [["acme"], ["other"], ["none"], [""], ["acme", "acme"]]) {
      expect(await refusal(`Bearer ${secret}`, ...ids)).toBe("FORBIDDEN");
    }
    expect(await refusal("Bearer wrong", "acme")).toBe("UNAUTHENTICATED");
  });

  it("is noted as used once an hour, however many requests come", async () => {
    let touches = 0;
    const registry = test.registry();
    const authenticator = createAuthenticator({
      registry: {
        ...registry,
        touchKey(id, hour) {
          touches++;
          return registry.touchKey(id, hour);
        },
      },
      bus: test.bus,
      clock: registry.clock,
      operatorKey: null,
      jwt: null,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    });
    const call = () => authenticator.authenticate({ authorization: `Bearer ${secret}`, tenantIds: [] });
    await Promise.all(Array.from({ length: 1_000 }, call));
    await expect.poll(async () => (await registry.getKey("k"))?.key.lastUsedAt).toBe(test.now());
    const first = test.now();
    test.time.wallMs += 3_599_999;
    await Promise.all(Array.from({ length: 1_000 }, call));
    expect(touches).toBe(1);
    test.time.wallMs += 1;
    await Promise.all(Array.from({ length: 1_000 }, call));
    expect(touches).toBe(2);
    await expect.poll(async () => (await registry.getKey("k"))?.key.lastUsedAt).toBe(plusSeconds(first, 3_600));
  });

  it("never stands in the log", async () => {
    const registry = { ...test.registry(), touchKey: () => Promise.reject(new Error("disk full")) };
    const note = (message: string, fields = {}) => void test.logged.push(message + JSON.stringify(fields));
    const log = { debug: note, info: note, warn: note, error: note };
    const parts = { registry, bus: test.bus, clock: test.registry().clock, operatorKey: null, jwt: null, log };
    await createAuthenticator(parts).authenticate({ authorization: `Bearer ${secret}`, tenantIds: [] });
    await expect.poll(() => test.logged.length).toBe(1);
    expect(test.logged.join()).not.toContain(secret.slice(-43));
  });
});

describe("an operator", () => {
  it("names a tenant, once and exactly, or none", async () => {
    const nobody = await send(`Bearer ${OPERATOR_KEY}`);
    expect(nobody).toMatchObject({ kind: "OPERATOR", tenant: null, keyId: null, userId: null, expiresAt: null });
    expect([...nobody.scopes]).toEqual([...SCOPES]);
    expect((await send(`bearer ${OPERATOR_KEY}`, "acme")).tenant?.id).toBe("acme");
    expect(await refusal(`Bearer ${OPERATOR_KEY}`, "acme", "acme")).toBe("BAD_USER_INPUT x-tenant-id");
    for (const id of ["ACME", "acme ", "", "acme, acme", "none", "../acme"]) {
      expect(await refusal(`Bearer ${OPERATOR_KEY}`, id)).toBe("NOT_FOUND");
    }
  });

  it("finds a suspended tenant closed", async () => {
    await suspend();
    expect(await refusal(`Bearer ${OPERATOR_KEY}`, "acme")).toBe("FORBIDDEN");
    expect(await refusal(`Bearer ${OPERATOR_KEY}`)).toBe("accepted");
  });
});

describe("a token", () => {
  const claims = (tenant: string): JwtClaims => ({
    tenantId: tenant,
    scopes: new Set(["READ"]),
    userId: "u" as UserId,
    visibleRoles: new Set(["USER"]),
    writableRoles: new Set([]),
    expiresAt: plusSeconds(test.now(), 60),
  });

  it("has its tenant, scopes and user from its claims", async () => {
    jwt = { verify: async (token) => claims(token) };
    expect(await send("Bearer acme")).toEqual({
      ...claims("acme"),
      tenantId: undefined,
      kind: "JWT",
      keyId: null,
      tenant: await test.registry().getTenant("acme"),
    });
    for (const token of ["none", "ACME"]) expect(await refusal(`Bearer ${token}`)).toBe("UNAUTHENTICATED");
    expect(await refusal("Bearer acme", "acme")).toBe("FORBIDDEN");
    await suspend();
    expect(await refusal("Bearer acme")).toBe("FORBIDDEN");
  });
});
