import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CreateTenantInput } from "../../src/tenancy/contract.ts";
import { instant } from "../../src/time.ts";
import { refusalOf } from "../support/refusal.ts";
import { NO_LIMITS } from "../support/store.ts";
import { OPERATOR, openTestTenancy, type TestTenancy, tenantId } from "../support/tenancy.ts";

let test: TestTenancy;
beforeEach(() => {
  test = openTestTenancy();
});
afterEach(() => test.dispose());

const create = (input: CreateTenantInput) => test.tenants().create(input, OPERATOR);
const acme = tenantId("acme");
const suspend = (id: string) => test.tenants().update({ tenantId: id, status: "SUSPENDED" });

describe("creating a tenant", () => {
  it("makes its file, its default limits and its first key", async () => {
    const input = { id: "acme", name: " Acme ", limits: { maxBytes: 5, maxSessions: null }, firstKey: { id: "k" } };
    const { tenant, firstKey } = await create(input);
    expect(tenant).toMatchObject({ id: "acme", name: "Acme", state: "ACTIVE", createdAt: test.now() });
    expect(tenant.limits).toEqual({ ...NO_LIMITS, maxBytes: 5 });
    expect((await create({ id: "other" })).tenant.limits).toEqual({ ...NO_LIMITS, maxSessions: 1_000 });
    expect(existsSync(test.path("acme"))).toBe(true);
    expect(firstKey?.key).toMatchObject({ id: "k", tenantId: "acme", scopes: ["READ"], revokedAt: null });
    expect(firstKey?.secret).toMatch(/^sgw_k_/);
    expect(test.pool().use(tenant, () => "open")).toBe("open");
  });

  it("answers the same input with the tenant and no key, another with CONFLICT", async () => {
    const input = { id: "acme", name: "Acme", limits: { maxSessions: 3 }, firstKey: {} };
    const { tenant } = await create(input);
    const again = await create({ ...input, name: " Acme" });
    expect(again).toEqual({ tenant, firstKey: null });
    for (const other of [{ name: "Other" }, { name: null }, { limits: { maxSessions: 4 } }, { limits: null }]) {
      expect(await refusalOf(create({ ...input, ...other }))).toBe("CONFLICT ATTRIBUTES_DIFFER");
    }
    await test.tenants().update({ tenantId: "acme", name: "Renamed", status: "SUSPENDED" });
    test.restart();
    expect((await create(input)).tenant).toMatchObject({ name: "Renamed", state: "SUSPENDED" });
    expect((await test.tenants().listKeys(acme, {})).nodes).toHaveLength(1);
  });

  it("at once from many gives one key", async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create({ id: "acme", firstKey: {} })));
    expect(made.filter(({ firstKey }) => firstKey !== null)).toHaveLength(1);
    expect(new Set(made.map(({ tenant }) => tenant.generation)).size).toBe(1);
  });

  it("refuses ids that are no tenant's, and writes nothing", async () => {
    const ids = ["..", "a/../b", "a%2fb", "a\\b", "CON", "nul.txt", "ACME", "café", "cafe\u0301", "аcme", "acme."];
    for (const id of [...ids, "acme ", "a".repeat(300), "", "acme.db-wal", "acme\u0000", "-acme", "acme\n"]) {
      expect(await refusalOf(create({ id }))).toBe("BAD_USER_INPUT id");
      expect(await test.tenants().get(id)).toBeNull();
    }
    expect(readdirSync(test.folder).filter((name) => !name.startsWith("control.sqlite"))).toEqual([]);
  });

  it("names the field that it refuses, and makes no tenant", async () => {
    const refused = [
      [{ name: "" }, "name"],
      [{ limits: { maxSessions: -1 } }, "limits.maxSessions"],
      [{ limits: { maxBytes: 1.5 } }, "limits.maxBytes"],
      [{ limits: { requestsPerMinute: 2 ** 31 } }, "limits.requestsPerMinute"],
      [{ firstKey: { scopes: [] } }, "firstKey.scopes"],
      [{ firstKey: { expiresAt: instant(1) } }, "firstKey.expiresAt"],
    ] as const;
    for (const [change, field] of refused) {
      expect(await refusalOf(create({ id: "acme", ...change }))).toBe(`BAD_USER_INPUT ${field}`);
    }
    await create({ id: "first", firstKey: { id: "k" } });
    expect(await refusalOf(create({ id: "acme", firstKey: { id: "k" } }))).toBe("CONFLICT ID_TAKEN");
    expect(await test.registry().getTenant("acme")).toBeNull();
  });

  it("that failed half-way goes on when it is repeated, key included, or at the next start", async () => {
    test.files.fail = true;
    const error = await create({ id: "acme", firstKey: {} }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect(String(error)).not.toContain("secret/path");
    expect(await refusalOf(create({ id: "late" }))).toBe("UNAVAILABLE");
    expect(await test.tenants().get("acme")).toBeNull();
    expect(await refusalOf(test.tenants().update({ tenantId: "acme", name: "x" }))).toBe("NOT_FOUND");
    expect(await refusalOf(test.tenants().remove("acme"))).toBe("NOT_FOUND");
    expect(await refusalOf(create({ id: "acme", name: "Other" }))).toBe("CONFLICT ATTRIBUTES_DIFFER");
    test.files.fail = false;
    const { tenant, firstKey } = await create({ id: "acme", firstKey: {} });
    expect([tenant.state, firstKey === null]).toEqual(["ACTIVE", false]);
    test.restart();
    await test.tenants().resume();
    const late = await test.tenants().get("late");
    expect(late?.state).toBe("ACTIVE");
    expect((await create({ id: "late", firstKey: {} })).firstKey).toBeNull();
  });
});

describe("updating a tenant", () => {
  it("changes what is given, merges limits, and clears with null", async () => {
    await create({ id: "acme", name: "Acme", limits: { maxSessions: 1, maxMessages: 2 } });
    const update = (change: object) => test.tenants().update({ tenantId: "acme", ...change });
    expect((await update({ limits: { maxSessions: null, maxBytes: 7 } })).limits).toEqual({
      ...NO_LIMITS,
      maxMessages: 2,
      maxBytes: 7,
    });
    expect(await update({ name: undefined })).toMatchObject({ name: "Acme", limits: { maxMessages: 2 } });
    expect(await update({ name: null, limits: null })).toMatchObject({ name: null, limits: NO_LIMITS });
    expect(await refusalOf(update({ limits: { maxBytes: -1 } }))).toBe("BAD_USER_INPUT limits.maxBytes");
    expect(await refusalOf(test.tenants().update({ tenantId: "none" }))).toBe("NOT_FOUND");
    expect(test.bus.published).toEqual([]);
  });

  it("tells the streams of a suspension before it answers", async () => {
    await create({ id: "acme" });
    let stateWhenTold: unknown;
    test.bus.subscribe({ tenantId: acme, sessionId: null }, () => {
      stateWhenTold = test.registry().getTenant("acme");
    });
    expect((await suspend("acme")).state).toBe("SUSPENDED");
    expect(test.bus.published).toEqual([{ kind: "access", tenantId: "acme", keyId: null }]);
    expect(await stateWhenTold).toMatchObject({ state: "SUSPENDED" });
    expect((await test.tenants().update({ tenantId: "acme", status: "ACTIVE" })).state).toBe("ACTIVE");
    expect(test.bus.published).toHaveLength(1);
  });
});

describe("deleting a tenant", () => {
  it("takes a suspended one alone, and its files with it", async () => {
    const { tenant } = await create({ id: "acme" });
    test.pool().use(tenant, ({ connection }) => connection.exec("UPDATE tenant SET newest_time = 1"));
    expect(existsSync(`${test.path("acme")}-wal`)).toBe(true);
    expect(await refusalOf(test.tenants().remove("acme"))).toBe("FORBIDDEN");
    await suspend("acme");
    expect(await test.tenants().remove("acme")).toBe("acme");
    expect(readdirSync(join(test.path("acme"), ".."))).toEqual([]);
    expect(test.pool().size).toBe(0);
    expect(await test.registry().getTenant("acme")).toBeNull();
    expect(await refusalOf(test.tenants().remove("acme"))).toBe("NOT_FOUND");
    expect(test.bus.published.at(-1)).toEqual({ kind: "access", tenantId: "acme", keyId: null });
  });

  it("leaves nothing to the next life of its id: no data, no key, no handle, no grant", async () => {
    const markerOf = ({ connection }: { connection: { sql: (text: string) => { get(): unknown } } }) =>
      connection.sql("SELECT newest_time AS marker FROM tenant").get();
    let before = null;
    for (let round = 1; round <= 20; round++) {
      const { tenant, secret } = await test.tenant("acme");
      expect(test.pool().use(tenant, markerOf)).toEqual({ marker: 0 });
      if (before !== null) {
        const old = before;
        expect(await refusalOf(() => test.pool().use(old.tenant, markerOf))).toBe("UNAVAILABLE");
        const authorization = `Bearer ${old.secret}`;
        const refused = test.authenticator().authenticate({ authorization, tenantIds: [] });
        expect(await refusalOf(refused)).toBe("UNAUTHENTICATED");
        const stale = test.tenants().createKey(acme, {}, { ...OPERATOR, tenant: old.tenant });
        expect(await refusalOf(stale)).toBe("NOT_FOUND");
      }
      test.pool().use(tenant, ({ connection }) => connection.exec(`UPDATE tenant SET newest_time = ${round}`));
      before = { tenant, secret };
      await suspend("acme");
      await test.tenants().remove("acme");
    }
  });

  it("that failed half-way goes on when it is repeated, or at the next start, or before the id is used anew", async () => {
    for (const id of ["a", "b", "c"]) {
      await create({ id });
      await suspend(id);
    }
    test.files.fail = true;
    for (const id of ["a", "b", "c"]) {
      expect(await refusalOf(test.tenants().remove(id))).toBe("UNAVAILABLE");
      expect(await test.tenants().get(id)).toBeNull();
    }
    await test.tenants().resume();
    expect(test.logged.filter((line) => line.includes("could not be finished"))).toHaveLength(3);
    test.files.fail = false;
    expect(await test.tenants().remove("a")).toBe("a");
    expect((await create({ id: "b", name: "new" })).tenant).toMatchObject({ name: "new", state: "ACTIVE" });
    test.restart();
    await test.tenants().resume();
    expect(await test.registry().getTenant("c")).toBeNull();
    expect(existsSync(test.path("c"))).toBe(false);
  });
});

describe("keys", () => {
  it("are made for a tenant, shown without their secret, and revoked with word to the streams first", async () => {
    await create({ id: "acme" });
    const { key, secret } = await test.tenants().createKey(acme, { name: "n", scopes: ["WRITE"] }, OPERATOR);
    expect(key).toMatchObject({ name: "n", scopes: ["WRITE"], tenantId: "acme", createdAt: test.now() });
    const [listed] = (await test.tenants().listKeys(acme, {})).nodes;
    expect(listed).toEqual(key);
    expect(JSON.stringify(listed)).not.toContain(secret.slice(-43));
    test.time.wallMs += 5;
    const revoked = await test.tenants().revokeKey(acme, key.id);
    expect(revoked.revokedAt).toBe(test.now());
    expect(test.bus.published).toEqual([{ kind: "access", tenantId: "acme", keyId: key.id }]);
    test.time.wallMs += 5;
    expect(await test.tenants().revokeKey(acme, key.id)).toEqual(revoked);
  });

  it("of other tenants, and of none, are NOT_FOUND", async () => {
    await create({ id: "acme" });
    await create({ id: "other", firstKey: { id: "k" } });
    expect(await refusalOf(test.tenants().revokeKey(acme, "k"))).toBe("NOT_FOUND");
    expect(await refusalOf(test.tenants().revokeKey(acme, "none"))).toBe("NOT_FOUND");
    expect(await refusalOf(test.tenants().createKey(tenantId("none"), {}, OPERATOR))).toBe("NOT_FOUND");
    expect(await refusalOf(test.tenants().createKey(acme, { id: "k" }, OPERATOR))).toBe("CONFLICT ID_TAKEN");
    expect(await refusalOf(test.tenants().createKey(acme, { name: "" }, OPERATOR))).toBe("BAD_USER_INPUT name");
  });
});
