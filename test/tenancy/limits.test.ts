import { beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../src/errors.ts";
import type { TenantRecord } from "../../src/store/registry-contract.ts";
import { createLimiter, type Limiter } from "../../src/tenancy/limits.ts";
import { instant, plusSeconds } from "../../src/time.ts";
import { NO_LIMITS } from "../support/store.ts";
import { tenantId } from "../support/tenancy.ts";

let now = instant(0);
let limiter: Limiter;
beforeEach(() => {
  now = instant(0);
  limiter = createLimiter({ clock: { now: () => now } });
});

function tenant(id: string, requestsPerMinute: number | null): TenantRecord {
  const limits = { ...NO_LIMITS, requestsPerMinute };
  return { id: tenantId(id), generation: 1, name: null, state: "ACTIVE", limits, createdAt: instant(0) };
}
/** "ok", or the seconds after which to come back. */
function spend(count: number, perMinute: number | null = 10, id = "acme") {
  try {
    limiter.spend(tenant(id, perMinute), count);
    return "ok";
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== "RATE_LIMITED") throw error;
    return error.details.retryAfter;
  }
}

describe("the limit of requests a minute", () => {
  it("counts every root field, and says when to come back", () => {
    expect([spend(4), spend(6), spend(1)]).toEqual(["ok", "ok", 6]);
    now = plusSeconds(now, 5);
    expect(spend(1)).toBe(1);
    now = plusSeconds(now, 1);
    expect([spend(1), spend(1)]).toEqual(["ok", 6]);
    expect(spend(5)).toBe(30);
  });

  it("takes nothing from a tenant that it refuses, and never gives more than a minute's worth", () => {
    expect([spend(8), spend(3), spend(2)]).toEqual(["ok", 6, "ok"]);
    now = plusSeconds(now, 86_400);
    expect([spend(10), spend(1)]).toEqual(["ok", 6]);
    expect(spend(11)).toBe(60);
  });

  it("is each tenant's own; none is free", () => {
    expect([spend(10), spend(1), spend(10, 10, "other")]).toEqual(["ok", 6, "ok"]);
    expect([spend(1_000, null), spend(1, 0, "closed")]).toEqual(["ok", 60]);
  });

  it("holds as it is changed, and what was spent stays spent", () => {
    expect(spend(9)).toBe("ok");
    expect([spend(11, 20), spend(1, 20)]).toEqual(["ok", 3]);
    expect(spend(1, 5)).toBeGreaterThan(60);
  });

  it("keeps no bucket that is full again: many tenants cost no memory", () => {
    for (let index = 0; index < 3_000; index++) {
      if (index % 1_000 === 0) now = plusSeconds(now, 61);
      expect(spend(10, 10, `t${index}`)).toBe("ok");
    }
    expect(spend(1, 10, "t2999")).toBe(6);
    now = plusSeconds(now, 61);
    expect(spend(10, 10, "t2999")).toBe("ok");
  });
});
