import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KeyId, MESSAGE_ROLES, type TenantId, type UserId } from "../../../src/store/model.ts";
import type { Page, PageRequest } from "../../../src/store/page.ts";
import type { KeyRecord } from "../../../src/store/registry-contract.ts";
import { openConnection } from "../../../src/store/sqlite/open.ts";
import { openRegistry, type SqliteRegistry } from "../../../src/store/sqlite/registry.ts";
import { tenantPath } from "../../../src/store/sqlite/tenant-path.ts";
import { instant } from "../../../src/time.ts";
import { refusalOf } from "../../support/refusal.ts";
import { NO_LIMITS } from "../../support/store.ts";

let folder: string;
let path: string;
let registry: SqliteRegistry;
let wallMs: number;
const open = () => openRegistry({ path, time: { wall: () => wallMs, monotonic: () => 0 } });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-registry-"));
  path = join(folder, "data", "control.sqlite");
  wallMs = Date.UTC(2026, 0, 1);
  registry = open();
});
afterEach(() => {
  registry.close();
  rmSync(folder, { recursive: true });
});
function reopen() {
  registry.close();
  registry = open();
}

const acme = "acme" as TenantId;
const limits = { maxSessions: 1, maxMessages: null, maxBytes: 2 ** 40, requestsPerMinute: 60 };
const begin = (id: string) =>
  registry.beginTenant({ id: id as TenantId, name: null, limits, createdAt: registry.clock.now(), createdFrom: id });
async function active(id: string) {
  const { generation } = await begin(id);
  return registry.updateTenant(id as TenantId, generation, { state: "ACTIVE" });
}
function key(id: string, change: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: id as KeyId,
    tenantId: acme,
    name: "a key",
    scopes: ["READ", "WRITE"],
    userId: "u" as UserId,
    visibleRoles: MESSAGE_ROLES,
    writableRoles: ["USER"],
    createdAt: registry.clock.now(),
    lastUsedAt: null,
    expiresAt: instant(5),
    revokedAt: null,
    ...change,
  };
}
const hash = new Uint8Array(32).fill(7);

describe("tenants", () => {
  it("keeps every field over a restart", async () => {
    const tenant = await active("acme");
    const changed = await registry.updateTenant(acme, tenant.generation, { name: "Acme", limits: NO_LIMITS });
    reopen();
    expect(await registry.getTenant("acme")).toEqual({ ...changed, state: "ACTIVE", name: "Acme", limits: NO_LIMITS });
    expect(tenant.limits).toEqual(limits);
    expect(await registry.createdFrom(acme, tenant.generation)).toBe("acme");
  });

  it("never gives a generation twice, not even the newest one's after a restart", async () => {
    const first = await active("acme");
    await registry.removeTenant(acme, first.generation);
    reopen();
    const second = await begin("acme");
    expect(second.generation).toBeGreaterThan(first.generation);
    expect(await refusalOf(registry.updateTenant(acme, first.generation, { state: "ACTIVE" }))).toBe("NOT_FOUND");
    await registry.removeTenant(acme, first.generation);
    expect((await registry.getTenant("acme"))?.generation).toBe(second.generation);
  });

  it("refuses a taken id in any state, and finds ids exactly", async () => {
    await begin("acme");
    expect(await refusalOf(begin("acme"))).toBe("CONFLICT ID_TAKEN");
    for (const id of ["ACME", "acme ", "", "acm", "..", "acme\u0000"]) expect(await registry.getTenant(id)).toBeNull();
  });

  it("lists what is settled, and what is not apart", async () => {
    for (const id of ["c", "a", "b"]) await active(id);
    await begin("half");
    const [, suspended] = (await registry.listTenants({})).nodes;
    await registry.updateTenant(suspended?.id ?? acme, suspended?.generation ?? 0, { state: "SUSPENDED" });
    expect((await registry.listTenants({ count: true })).nodes.map(({ id, state }) => `${id} ${state}`)).toEqual([
      "a ACTIVE",
      "b SUSPENDED",
      "c ACTIVE",
    ]);
    expect((await registry.unfinishedTenants()).map(({ id }) => id)).toEqual(["half"]);
  });
});

describe("pages", () => {
  const ids = ["a", "b", "c", "d", "e"];

  async function walk<T>(list: (page: PageRequest) => Promise<Page<T>>, size: "first" | "last") {
    const nodes: T[] = [];
    let page = await list({ [size]: 2, count: true });
    for (;;) {
      expect(page.totalCount).toBe(5);
      if (size === "first") nodes.push(...page.nodes);
      else nodes.unshift(...page.nodes);
      if (size === "first" ? !page.hasNextPage : !page.hasPreviousPage) return nodes;
      const from = size === "first" ? { after: page.endCursor } : { before: page.startCursor };
      page = await list({ [size]: 2, count: true, ...from });
      expect(size === "first" ? page.hasPreviousPage : page.hasNextPage).toBe(true);
    }
  }

  it("walks tenants by id and keys newest first, in both directions", async () => {
    for (const id of [...ids].reverse()) await active(id);
    for (const id of ids) {
      wallMs += id === "d" ? 0 : 1;
      await registry.createKey(key(id, { tenantId: "a" as TenantId }), hash);
    }
    const newest = [...ids].reverse();
    for (const size of ["first", "last"] as const) {
      const tenants = await walk((page) => registry.listTenants(page), size);
      const keys = await walk((page) => registry.listKeys("a" as TenantId, page), size);
      expect([tenants.map(({ id }) => id), keys.map(({ id }) => id)]).toEqual([ids, newest]);
    }
  });

  it("tells on an empty page what lies beyond it, its own place included", async () => {
    await active("a");
    const { endCursor } = await registry.listTenants({});
    const edges = async (page: PageRequest) => {
      const { nodes, hasPreviousPage, hasNextPage, startCursor, endCursor: end } = await registry.listTenants(page);
      return [nodes.length, hasPreviousPage, hasNextPage, startCursor, end];
    };
    expect(await edges({ first: 0 })).toEqual([0, false, true, null, null]);
    expect(await edges({ first: 0, after: endCursor })).toEqual([0, true, false, null, endCursor]);
    expect(await edges({ after: endCursor })).toEqual([0, true, false, null, endCursor]);
    expect(await edges({ last: 5, before: endCursor })).toEqual([0, false, true, endCursor, null]);
  });

  it("refuses cursors of another list, and of the same tenant's earlier life", async () => {
    const first = await active("acme");
    await active("other");
    await registry.createKey(key("k"), hash);
    const { endCursor: after } = await registry.listKeys(acme, {});
    expect(await refusalOf(registry.listTenants({ after }))).toBe("BAD_USER_INPUT after");
    expect(await refusalOf(registry.listKeys("other" as TenantId, { after }))).toBe("BAD_USER_INPUT after");
    await registry.removeTenant(acme, first.generation);
    expect(await refusalOf(registry.listKeys(acme, { after }))).toBe("NOT_FOUND");
    await active("acme");
    expect(await refusalOf(registry.listKeys(acme, { after }))).toBe("BAD_USER_INPUT after");
    expect(await registry.listKeys(acme, { first: 0 })).toMatchObject({ nodes: [], hasNextPage: false });
  });
});

describe("keys", () => {
  it("keeps every field and the hash over a restart", async () => {
    const tenant = await active("acme");
    await registry.createKey(key("k_1 ü"), hash);
    reopen();
    const found = await registry.getKey("k_1 ü");
    expect({ ...found, secretHash: [...(found?.secretHash ?? [])] }).toEqual({
      key: key("k_1 ü", { createdAt: instant(wallMs * 1000) }),
      tenant,
      secretHash: [...hash],
    });
    await registry.createKey(key("\ufffd"), hash);
    expect((await registry.getKey("\ufffd"))?.key.id).toBe("\ufffd");
    expect(await registry.getKey("\ud800")).toBeNull();
  });

  it("spends a key id for good: for its tenant, for others, and after the tenant is gone", async () => {
    const tenant = await active("acme");
    await active("other");
    await registry.createKey(key("k"), hash);
    expect(await refusalOf(registry.createKey(key("k"), hash))).toBe("CONFLICT ID_TAKEN");
    const foreign = key("k", { tenantId: "other" as TenantId });
    expect(await refusalOf(registry.createKey(foreign, hash))).toBe("CONFLICT ID_TAKEN");
    await registry.removeTenant(acme, tenant.generation);
    reopen();
    expect(await registry.getKey("k")).toBeNull();
    expect([await registry.isKeyIdSpent("k"), await registry.isKeyIdSpent("l")]).toEqual([true, false]);
    expect(await refusalOf(registry.createKey(foreign, hash))).toBe("CONFLICT ID_TAKEN");
  });

  it("belongs to a tenant that is there", async () => {
    expect(await refusalOf(registry.createKey(key("k"), hash))).toBe("NOT_FOUND");
    const { generation } = await active("acme");
    await registry.updateTenant(acme, generation, { state: "DELETING" });
    expect(await refusalOf(registry.createKey(key("k"), hash))).toBe("NOT_FOUND");
    expect(await registry.isKeyIdSpent("k")).toBe(false);
  });

  it("is revoked once, by its own tenant; its use only moves on", async () => {
    await active("acme");
    await active("other");
    await registry.createKey(key("k"), hash);
    expect(await registry.revokeKey("other" as TenantId, "k", instant(1))).toBeNull();
    expect((await registry.revokeKey(acme, "k", instant(2)))?.revokedAt).toBe(2);
    expect((await registry.revokeKey(acme, "k", instant(3)))?.revokedAt).toBe(2);
    await registry.touchKey("k" as KeyId, instant(20));
    await registry.touchKey("k" as KeyId, instant(10));
    expect((await registry.getKey("k"))?.key).toMatchObject({ lastUsedAt: 20, revokedAt: 2 });
  });
});

describe("the file", () => {
  it("is refused where it is empty, foreign, a tenant's or newer, and stays as it is", async () => {
    registry.close();
    const newer = openConnection(path, { create: false });
    newer.pragma("user_version = 99");
    newer.close();
    expect(await refusalOf(open)).toBe("UNAVAILABLE");
    for (const spoil of [() => truncateSync(path), () => writeFileSync(path, "not a database, but long enough")]) {
      spoil();
      expect(await refusalOf(open)).toBe("UNAVAILABLE");
    }
    rmSync(path);
    const foreign = openConnection(path, { create: true });
    foreign.exec("CREATE TABLE t (x)");
    foreign.close();
    expect(await refusalOf(open)).toBe("UNAVAILABLE");
    rmSync(path);
    registry = open();
    expect((await registry.listTenants({})).nodes).toEqual([]);
  });

  it("is made whole: what an interrupted start left is made anew, and an older file's log is not replayed", async () => {
    await active("old");
    copyFileSync(`${path}-wal`, join(folder, "log"));
    registry.close();
    rmSync(path);
    writeFileSync(`${path}.new`, "half");
    renameSync(join(folder, "log"), `${path}-wal`);
    registry = open();
    expect((await registry.listTenants({})).nodes).toEqual([]);
    await active("acme");
    expect(readdirSync(join(folder, "data")).filter((name) => !/^control\.sqlite(-wal|-shm)?$/.test(name))).toEqual([]);
  });

  it("answers UNAVAILABLE, without a path, once it is closed", async () => {
    registry.close();
    for (const work of [() => registry.getTenant("acme"), () => begin("acme"), () => registry.listTenants({})]) {
      const error = await work().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "UNAVAILABLE" });
      expect(String(error)).not.toMatch(/sqlite|SELECT|tmp/i);
    }
    registry = open();
  });

  it("anchors the clock on its newest time", async () => {
    wallMs += 3_600_000;
    reopen();
    await active("acme");
    const before = registry.clock.now();
    wallMs -= 3_600_000;
    reopen();
    expect(registry.clock.now()).toBe(before);
  });

  it("of a tenant lies inside the data folder, by an id of the strict alphabet alone", () => {
    expect(tenantPath("/data", "acme")).toBe("/data/tenants/82/acme.sqlite");
    for (const id of [
      "..",
      "a/../b",
      "a%2fb",
      "a\\b",
      "CON",
      "nul.txt",
      "ACME",
      "",
      "acme\u0000",
      "а",
      "a".repeat(64),
    ]) {
      expect(() => tenantPath("/data", id)).toThrow();
    }
    expect(existsSync(path)).toBe(true);
  });
});
