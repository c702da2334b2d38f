import { describe, expect, it } from "vitest";
import type { BusEvent } from "../../src/events/bus.ts";
import { createMemoryBus } from "../../src/events/memory-bus.ts";
import { type Log, silentLog } from "../../src/log.ts";
import type { SessionId, TenantId } from "../../src/store/model.ts";

const a = "a" as TenantId;
const b = "b" as TenantId;
const shared = "shared" as SessionId;
const session = (tenantId: TenantId, sessionId: SessionId): BusEvent => ({ kind: "session", tenantId, sessionId });

describe("the bus in memory", () => {
  it("brings a session's events to its listeners and the tenant's, and to no other tenant", () => {
    const bus = createMemoryBus({ log: silentLog });
    const heard: string[] = [];
    const listen = (name: string, tenantId: TenantId, sessionId: SessionId | null) =>
      bus.subscribe({ tenantId, sessionId }, (event) => void heard.push(`${name} ${event.kind}`));
    listen("a shared", a, shared);
    listen("a other", a, "other" as SessionId);
    listen("a wide", a, null);
    listen("b shared", b, shared);
    listen("b wide", b, null);
    bus.publish(session(a, shared));
    expect(heard.splice(0)).toEqual(["a shared session", "a wide session"]);
    bus.publish({ kind: "access", tenantId: b, keyId: null });
    expect(heard).toEqual(["b wide access"]);
  });

  it("can't be fooled by ids that look like other topics", () => {
    const bus = createMemoryBus({ log: silentLog });
    const heard: string[] = [];
    for (const [tenantId, sessionId] of [
      ["a", "b:c"],
      ["a:b", "c"],
      ["a", "__proto__"],
    ] as const) {
      bus.subscribe({ tenantId: tenantId as TenantId, sessionId: sessionId as SessionId }, () => {
        heard.push(`${tenantId}/${sessionId}`);
      });
    }
    bus.publish(session("a:b" as TenantId, "c" as SessionId));
    bus.publish(session("a" as TenantId, "toString" as SessionId));
    expect(heard).toEqual(["a:b/c"]);
  });

  it("logs a listener that throws, without the event's content, and goes on", () => {
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, error: (...line) => void lines.push(line) };
    const bus = createMemoryBus({ log });
    let heard = 0;
    bus.subscribe({ tenantId: a, sessionId: shared }, () => {
      throw new Error("broken");
    });
    bus.subscribe({ tenantId: a, sessionId: shared }, () => heard++);
    bus.publish(session(a, shared));
    bus.publish(session(a, shared));
    expect(heard).toBe(2);
    expect(lines).toHaveLength(2);
  });

  it("counts its listeners exactly, whoever leaves how often", () => {
    const bus = createMemoryBus({ log: silentLog });
    const listener = () => {};
    const ends = [null, shared, shared].map((sessionId) => bus.subscribe({ tenantId: a, sessionId }, listener));
    expect(bus.listenerCount()).toBe(3);
    ends[1]?.();
    ends[1]?.();
    expect(bus.listenerCount()).toBe(2);
    for (const end of ends) end();
    expect(bus.listenerCount()).toBe(0);
  });

  it("does not call who left during a publish, nor who came", () => {
    const bus = createMemoryBus({ log: silentLog });
    const heard: string[] = [];
    const topic = { tenantId: a, sessionId: shared };
    bus.subscribe(topic, () => {
      heard.push("first");
      leave();
      bus.subscribe(topic, () => void heard.push("late"));
    });
    const leave = bus.subscribe(topic, () => void heard.push("second"));
    bus.publish(session(a, shared));
    expect(heard).toEqual(["first"]);
  });

  it("lets go of a topic and takes it up again", () => {
    const bus = createMemoryBus({ log: silentLog });
    let heard = 0;
    const topic = { tenantId: a, sessionId: shared };
    bus.subscribe(topic, () => {})();
    const stop = bus.subscribe(topic, () => heard++);
    bus.publish(session(a, shared));
    stop();
    bus.publish(session(a, shared));
    expect(heard).toBe(1);
  });
});
