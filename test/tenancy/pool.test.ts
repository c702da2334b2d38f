import { beforeEach, describe, expect, it } from "vitest";
import { createReadBudget } from "../../src/store/read-budget.ts";
import type { TenantRecord } from "../../src/store/registry-contract.ts";
import { connectionLimit, createPool, type Pool, poolLimit } from "../../src/tenancy/pool.ts";
import { instant } from "../../src/time.ts";
import { refusalOf } from "../support/refusal.ts";
import { NO_LIMITS } from "../support/store.ts";
import { openTestTenancy, tenantId } from "../support/tenancy.ts";

class Handle {
  closed = false;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
  close() {
    if (this.closed) throw new Error("closed twice");
    this.closed = true;
    opened.delete(this);
  }
}
let opened: Set<Handle>;
let most: number;
let failing: Error | null;
let logged: string[];
let pool: Pool<Handle>;
beforeEach(() => {
  opened = new Set();
  most = 0;
  failing = null;
  logged = [];
  pool = make(4);
});

function make(limit: number) {
  const note = (message: string) => void logged.push(message);
  return createPool<Handle>({
    limit,
    log: { debug: note, info: note, warn: note, error: note },
    open(tenant) {
      if (failing !== null) throw failing;
      const handle = new Handle(`${tenant.id}/${tenant.generation}`);
      opened.add(handle);
      most = Math.max(most, opened.size);
      return handle;
    },
  });
}
function tenant(id: string, generation = 1): TenantRecord {
  return { id: tenantId(id), generation, name: null, state: "ACTIVE", limits: NO_LIMITS, createdAt: instant(0) };
}
const use = (id: string, generation = 1) => pool.use(tenant(id, generation), (handle) => handle);
const names = () => [...opened].map(({ name }) => name).sort();

describe("the pool", () => {
  it("opens each store once and makes room before it opens: the least recently used goes", () => {
    const a = use("a");
    expect(use("a")).toBe(a);
    for (const id of ["b", "c", "d", "a", "e"]) use(id);
    expect(names()).toEqual(["a/1", "c/1", "d/1", "e/1"]);
    expect([most, pool.size]).toEqual([4, 4]);
    for (let index = 0; index < 1_000; index++) use(`t${index}`);
    expect([most, pool.size, opened.size]).toEqual([4, 4, 4]);
  });

  it("never closes a handle that is lent, in calls within calls neither", () => {
    pool.use(tenant("a"), (a) => {
      for (const id of ["b", "c", "d", "e", "f", "g"]) {
        pool.use(tenant(id), (handle) => {
          expect([a.closed, handle.closed]).toEqual([false, false]);
        });
      }
      pool.trim();
      expect(use("a")).toBe(a);
      pool.close(tenantId("a"));
      expect(a.closed).toBe(false);
      pool.use(tenant("a"), (again) => expect(again).not.toBe(a));
      expect(a.closed).toBe(false);
    });
    expect(names().filter((name) => name === "a/1")).toHaveLength(1);
    expect([...opened].every(({ closed }) => !closed)).toBe(true);
    pool.closeAll();
    expect(opened.size).toBe(0);
  });

  it("lends more than its limit where calls within calls need them, and is back in bounds after", () => {
    const nest = (depth: number): number =>
      pool.use(tenant(`n${depth}`), () => (depth === 0 ? opened.size : nest(depth - 1)));
    expect(nest(99)).toBe(100);
    expect([...opened].every(({ closed }) => !closed)).toBe(true);
    use("after");
    expect(opened.size).toBe(4);
  });

  it("closes a handle whose work throws only when it must", () => {
    expect(() =>
      pool.use(tenant("a"), () => {
        throw new Error("work");
      }),
    ).toThrow("work");
    expect(names()).toEqual(["a/1"]);
    pool.close(tenantId("a"));
    pool.close(tenantId("a"));
    expect(names()).toEqual([]);
  });

  it("does not keep a failed open: the store is well as soon as its file is", async () => {
    failing = new Error("/secret/path");
    expect(await refusalOf(() => use("a"))).toBe("UNAVAILABLE");
    expect(pool.size).toBe(0);
    failing = null;
    expect(use("a").name).toBe("a/1");
  });

  it("lends no life of a tenant for another", async () => {
    const first = use("a", 1);
    expect(use("a", 2).name).toBe("a/2");
    expect(first.closed).toBe(true);
    expect(await refusalOf(() => use("a", 1))).toBe("UNAVAILABLE");
    expect(names()).toEqual(["a/2"]);
  });

  it("trims to eight below its limit, a small one to half", () => {
    for (const [limit, left] of [
      [20, 12],
      [4, 2],
      [1, 1],
    ] as const) {
      pool = make(limit);
      for (let index = 0; index < 30; index++) use(`t${index}`);
      expect(pool.size).toBe(limit);
      pool.trim();
      expect(pool.size).toBe(left);
      pool.closeAll();
    }
  });

  it("is of no use once it is closed, and survives a handle that closes badly", async () => {
    const bad = use("a");
    bad.closed = true;
    use("b");
    pool.closeAll();
    expect([names(), logged.length]).toEqual([["a/1"], 1]);
    expect(await refusalOf(() => use("a"))).toBe("UNAVAILABLE");
    pool.closeAll();
  });

  it("keeps writes that were queued when their handle had to go", async () => {
    const test = openTestTenancy();
    const tenants = await Promise.all(Array.from({ length: 12 }, (_, index) => test.tenant(`t${index}`)));
    const everything = { userId: null, visibleRoles: new Set<never>(), writableRoles: new Set<never>() };
    const writes = tenants.map(({ tenant: { id }, tenant }) =>
      test.pool().use(tenant, (handle) =>
        handle.write(everything, createReadBudget(), NO_LIMITS, ({ sql }) => {
          sql("UPDATE tenant SET change_number = 7").run();
          return id;
        }),
      ),
    );
    expect(await Promise.all(writes)).toEqual(tenants.map(({ tenant: { id } }) => id));
    for (const { tenant } of tenants) {
      const row = test
        .pool()
        .use(tenant, ({ connection }) => connection.sql("SELECT change_number AS n FROM tenant").get());
      expect(row).toEqual({ n: 7 });
    }
    expect(test.pool().size).toBeLessThanOrEqual(4);
    test.dispose();
  });
});

it("bounds databases and connections by the descriptors that the process may have", () => {
  expect([64, 40, 256, 1_024, 1_000_000].map((descriptors) => poolLimit(500, descriptors))).toEqual([
    4, 4, 36, 164, 500,
  ]);
  expect(poolLimit(2, 1_024)).toBe(2);
  expect([connectionLimit(1_024, 164), connectionLimit(64, 4), connectionLimit(40, 4)]).toEqual([492, 12, 1]);
});
