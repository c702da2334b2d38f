import { afterEach, beforeEach, expect, it } from "vitest";
import type { Bus, BusEvent } from "../../src/events/bus.ts";
import { publishing } from "../../src/events/publishing.ts";
import type { RunEventInput } from "../../src/store/contract.ts";
import type { TenantId } from "../../src/store/model.ts";
import { refusalOf } from "../support/refusal.ts";
import { openWorld, type World } from "./world.ts";

let world: World;
let published: BusEvent[];
beforeEach(() => {
  world = openWorld();
  published = [];
});
afterEach(() => world.test.dispose());

const heard = () =>
  published.splice(0).map((event) => {
    if (event.kind === "log") return `log ${event.sessionId} ${event.lastSequence}`;
    if (event.kind === "run") return `run ${event.sessionId} ${event.events.map((entry) => entry.index)}`;
    return event.kind === "session" ? `session ${event.sessionId}` : event.kind;
  });
const recording: Bus = {
  publish: (event) => void published.push(event),
  subscribe: () => () => {},
  listenerCount: () => 0,
};
const storeOf = (own: World) => publishing(own.quiet, { bus: recording, tenantId: "acme" as TenantId });

it("tells of each write that changed something, under its tenant, once it can be read", async () => {
  const store = storeOf(world);
  await store.createSession({ id: "s" });
  expect(published[0]?.tenantId).toBe("acme");
  expect(heard()).toEqual(["session s"]);
  await store.createSession({ id: "s", allowExisting: true });
  expect(heard()).toEqual([]);
  await store.updateSession({ sessionId: "s", title: "T" });
  expect(heard()).toEqual(["session s"]);
  const append = { sessionId: "s", messages: [{ id: crypto.randomUUID(), message: { user: { text: "a" } } }] };
  await store.appendMessages(append);
  expect(heard()).toEqual(["log s 1", "session s"]);
  await store.appendMessages(append);
  expect(heard()).toEqual([]);
  await store.createSession({ id: "t", userId: "ada" });
  await store.createSession({ id: "u", userId: "ada" });
  heard();
  await store.deleteUserSessions("ada");
  expect(heard().sort()).toEqual(["session t", "session u"]);
  await store.deleteSession("s");
  expect(heard()).toEqual(["session s"]);
  await store.deleteSession("s");
  expect(heard()).toEqual([]);
});

it("tells of runs, with what a report added and nothing that was known before", async () => {
  const store = storeOf(world);
  const run = await store.startRun({ sessionId: "s" });
  expect(heard()).toEqual(["run s ", "session s"]);
  const events: readonly RunEventInput[] = [
    { type: "TEXT_DELTA", phase: "GENERATING", delta: "x" },
    { type: "CUSTOM", phase: "GENERATING", name: "n" },
  ];
  await store.recordRunEvents({ runId: run.id, events, firstIndex: 2 });
  expect(heard()).toEqual(["run s 2,3"]);
  await store.recordRunEvents({ runId: run.id, events: [...events, ...events], firstIndex: 2 });
  expect(heard()).toEqual(["run s 4,5"]);
  await store.requestRunCancel(run.id);
  expect(heard()).toEqual(["session s"]);
  await store.finishRun({ runId: run.id, status: "CANCELLED" });
  expect(heard()).toEqual(["run s ", "session s"]);
  await store.finishRun({ runId: run.id, status: "CANCELLED" });
  expect(heard()).toEqual([]);
});

it("tells of nothing that was refused", async () => {
  const store = storeOf(world);
  expect(await refusalOf(store.appendMessages({ sessionId: "s", messages: [] }))).toContain("BAD_USER_INPUT");
  expect(await refusalOf(store.updateSession({ sessionId: "s", title: "T" }))).toBe("NOT_FOUND");
  expect(heard()).toEqual([]);
});

it("hands reads and moves through", async () => {
  const store = storeOf(world);
  await store.createSession({ id: "s" });
  heard();
  expect((await store.getSessions(["s"]))[0]?.id).toBe("s");
  expect(await store.lastChangeNumber()).toBe(1);
  expect(await store.activeRun("s")).toBeNull();
  expect(heard()).toEqual([]);
});
