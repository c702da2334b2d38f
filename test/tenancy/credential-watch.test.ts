import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GatewayError } from "../../src/errors.ts";
import { silentLog } from "../../src/log.ts";
import { createAuthenticator } from "../../src/tenancy/authenticate.ts";
import type { Caller } from "../../src/tenancy/contract.ts";
import { createCredentialWatch } from "../../src/tenancy/credential-watch.ts";
import { instant, plusSeconds } from "../../src/time.ts";
import { OPERATOR, OPERATOR_KEY, openTestTenancy, type TestTenancy, tenantId } from "../support/tenancy.ts";

let test: TestTenancy;
let secret: string;
const acme = tenantId("acme");
beforeEach(async () => {
  test = openTestTenancy();
  ({ secret } = await test.tenant("acme", { id: "k" }));
});
afterEach(() => {
  vi.useRealTimers();
  test.dispose();
});

const callerOf = (token: string, ...tenantIds: string[]) =>
  test.authenticator().authenticate({ authorization: `Bearer ${token}`, tenantIds });
const watch = (caller: Caller) => test.authenticator().watch(caller);
const reasonOf = (signal: AbortSignal) => (signal.reason instanceof GatewayError ? signal.reason.code : null);
/** Lets what is under way in the registry come to its end. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a watched credential", () => {
  it("ends inside the publish that tells of its revocation, before the revocation is answered", async () => {
    const { ended } = watch(await callerOf(secret));
    const order: string[] = [];
    ended.addEventListener("abort", () => order.push("ended"));
    await test
      .tenants()
      .revokeKey(acme, "k")
      .then(() => order.push("answered"));
    expect(order).toEqual(["ended", "answered"]);
    expect(reasonOf(ended)).toBe("UNAUTHENTICATED");
    expect(test.bus.listenerCount()).toBe(0);
  });

  it("ends when its tenant is suspended or deleted, an operator's and a token's too", async () => {
    const token: Caller = { ...(await callerOf(secret)), kind: "JWT", keyId: null };
    const watches = [await callerOf(secret), await callerOf(OPERATOR_KEY, "acme"), token].map(watch);
    await test.tenants().update({ tenantId: "acme", status: "SUSPENDED" });
    expect(watches.map(({ ended }) => reasonOf(ended))).toEqual(["FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]);
    expect(test.bus.listenerCount()).toBe(0);
  });

  it("lives on when another key dies, another tenant is suspended, or messages come", async () => {
    await test.tenant("other", { id: "o" });
    await test.tenants().createKey(acme, { id: "k2" }, OPERATOR);
    const one = watch(await callerOf(secret));
    const operator = watch(await callerOf(OPERATOR_KEY));
    await test.tenants().revokeKey(acme, "k2");
    await test.tenants().update({ tenantId: "other", status: "SUSPENDED" });
    test.bus.publish({ kind: "log", tenantId: acme, sessionId: "s" as never, lastSequence: 1 });
    await settle();
    expect([one.ended.aborted, operator.ended.aborted]).toEqual([false, false]);
    expect(test.bus.listenerCount()).toBe(1);
    one.release();
    operator.release();
    expect(test.bus.listenerCount()).toBe(0);
  });

  it("ends where it died after it was checked and before it was watched", async () => {
    const key = await callerOf(secret);
    const operator = await callerOf(OPERATOR_KEY, "acme");
    await test.tenants().revokeKey(acme, "k");
    const late = watch(key);
    await settle();
    expect(reasonOf(late.ended)).toBe("UNAUTHENTICATED");
    await test.tenants().update({ tenantId: "acme", status: "SUSPENDED" });
    const suspended = watch(operator);
    await settle();
    expect(reasonOf(suspended.ended)).toBe("FORBIDDEN");
    await test.tenants().remove("acme");
    await test.tenant("acme");
    const watches = [key, operator].map(watch);
    await settle();
    expect(watches.map(({ ended }) => reasonOf(ended))).toEqual(["FORBIDDEN", "FORBIDDEN"]);
    expect(test.bus.listenerCount()).toBe(0);
  });

  it("does not end for a registry that can't answer; the bus still ends it", async () => {
    const parts = { bus: test.bus, clock: test.registry().clock, operatorKey: null, jwt: null };
    const failing = () => Promise.reject(new Error("busy"));
    const note = (message: string) => void test.logged.push(message);
    const { ended } = createAuthenticator({
      ...parts,
      registry: { ...test.registry(), getKey: failing, getTenant: failing },
      log: { debug: note, info: note, warn: note, error: note },
    }).watch(await callerOf(secret));
    await settle();
    expect([ended.aborted, test.logged.length]).toEqual([false, 1]);
    test.bus.publish({ kind: "access", tenantId: acme, keyId: null });
    expect(reasonOf(ended)).toBe("FORBIDDEN");
  });

  it("once released hears nothing more, however often it is released", async () => {
    const { ended, release } = watch(await callerOf(secret));
    release();
    release();
    await test.tenants().revokeKey(acme, "k");
    await settle();
    expect(ended.aborted).toBe(false);
    expect(test.bus.listenerCount()).toBe(0);
  });
});

describe("a watched credential with an end", () => {
  async function expiring(seconds: number): Promise<Caller> {
    return { ...(await callerOf(secret)), expiresAt: plusSeconds(test.now(), seconds) };
  }
  const pass = (milliseconds: number) => {
    test.time.wallMs += milliseconds;
    vi.advanceTimersByTime(milliseconds);
  };

  it("ends at its end", async () => {
    const caller = await expiring(2);
    vi.useFakeTimers();
    const { ended } = watch(caller);
    pass(1_999);
    expect(ended.aborted).toBe(false);
    pass(1);
    expect(reasonOf(ended)).toBe("UNAUTHENTICATED");
    expect([vi.getTimerCount(), test.bus.listenerCount()]).toEqual([0, 0]);
  });

  it("ends at once where its end is past", async () => {
    const caller = await expiring(1);
    test.time.wallMs += 1_000;
    expect(reasonOf(watch(caller).ended)).toBe("UNAUTHENTICATED");
    expect(test.bus.listenerCount()).toBe(0);
  });

  it("waits for an end that is farther away than a timer can count", async () => {
    const far = [await expiring(30 * 86_400), { ...(await callerOf(secret)), expiresAt: instant(2 ** 53 - 1) }];
    vi.useFakeTimers();
    const clock = { now: vi.fn(test.now) };
    const watchFar = createCredentialWatch({ registry: test.registry(), bus: test.bus, clock, log: silentLog });
    const watches = far.map(watchFar);
    pass(60_000);
    expect(clock.now.mock.calls.length).toBeLessThan(10);
    expect(watches.map(({ ended }) => ended.aborted)).toEqual([false, false]);
    test.time.wallMs += 30 * 86_400_000;
    vi.advanceTimersByTime(60_000);
    expect(watches.map(({ ended }) => ended.aborted)).toEqual([true, false]);
    for (const { release } of watches) release();
    expect([vi.getTimerCount(), test.bus.listenerCount()]).toEqual([0, 0]);
  });
});
