import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionChange } from "../../src/events/contract.ts";
import { matchesFilter } from "../../src/events/session-filter.ts";
import type { SessionFilter } from "../../src/store/contract.ts";
import type { UserId } from "../../src/store/model.ts";
import { type Instant, instant } from "../../src/time.ts";
import { openWorld, quiet, range, readAll, take, type World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = openWorld();
});
afterEach(() => world.test.dispose());

const open = (
  filter: SessionFilter | null = null,
  options: Parameters<World["feed"]>[0] = {},
  sessionId: string | null = null,
) => world.feed(options).sessionChanges({ sessionId, filter });
const told = (changes: readonly SessionChange[]) => changes.map((change) => `${change.kind} ${change.sessionId}`);
const rename = (sessionId: string, title: string) => world.store.updateSession({ sessionId, title });
const pause = async () => {
  await quiet();
  world.timers.advance(250);
  await quiet();
};

// What both kinds of stream promise: all sessions of the tenant, and one by its id.
describe.each([
  ["of a tenant", null],
  ["of one session", "s"],
])("session changes %s", (_, sessionId) => {
  it("tell of creation, change and deletion, each with the session after it", async () => {
    const reader = readAll(await open(null, {}, sessionId));
    await world.store.createSession({ id: "s", title: "One" });
    await reader.until(1);
    await pause();
    await rename("s", "Two");
    await reader.until(2);
    await pause();
    await world.append("s", 1);
    await reader.until(3);
    await pause();
    await world.store.deleteSession("s");
    await reader.until(4);
    await pause();
    await world.store.createSession({ id: "s" });
    await reader.until(5);
    expect(told(reader.items)).toEqual(["CREATED s", "UPDATED s", "UPDATED s", "DELETED s", "CREATED s"]);
    expect(reader.items.map((change) => change.session?.title)).toEqual(["One", "Two", "Two", undefined, null]);
    expect(reader.items[2]?.session?.lastSequence).toBe(1);
    expect(reader.state).toBe("open");
  });

  it("begin with what is new", async () => {
    await world.store.createSession({ id: "s", title: "Old" });
    const stream = await open(null, {}, sessionId);
    await rename("s", "New");
    const [change] = await take(stream, 1);
    expect(change).toMatchObject({ kind: "UPDATED", session: { title: "New" } });
  });

  it("are merged to four a second, and the last state always comes", async () => {
    await world.store.createSession({ id: "s" });
    const reader = readAll(await open(null, {}, sessionId));
    for (const number of range(1, 40)) await rename("s", `Title ${number}`);
    await quiet();
    const early = reader.items.length;
    expect(early).toBe(1);
    world.timers.advance(249);
    await quiet();
    expect(reader.items).toHaveLength(1);
    world.timers.advance(1);
    await reader.until(2);
    expect(reader.items[1]?.session?.title).toBe("Title 40");
    world.timers.advance(4_000);
    await quiet();
    expect(reader.items).toHaveLength(2);
    let last = "";
    for (const step of range(1, 40)) {
      last = `Step ${step}`;
      await rename("s", last);
      await quiet();
      world.timers.advance(25);
    }
    await pause();
    expect(reader.items.length).toBeGreaterThanOrEqual(5);
    expect(reader.items.length).toBeLessThanOrEqual(7);
    expect(reader.items.at(-1)?.session?.title).toBe(last);
  });

  it("hold back a change of what a reader has not heard of yet as CREATED still", async () => {
    await world.store.createSession({ id: "s" });
    const reader = readAll(await open(null, {}, sessionId));
    await world.store.deleteSession("s");
    await reader.until(1);
    await world.store.createSession({ id: "s" });
    await quiet();
    await rename("s", "Again");
    await pause();
    expect(told(reader.items)).toEqual(["DELETED s", "CREATED s"]);
    expect(reader.items[1]?.session?.title).toBe("Again");
  });

  it("are matched by the filter after the change; a deletion by what the session was", async () => {
    await world.store.createSession({ id: "s", agentName: "other" });
    const reader = readAll(await open({ agentNames: ["wanted"] }, {}, sessionId));
    await rename("s", "Not yet");
    await pause();
    expect(reader.items).toEqual([]);
    await world.store.updateSession({ sessionId: "s", agentName: "wanted" });
    await reader.until(1);
    await pause();
    await world.store.updateSession({ sessionId: "s", agentName: "other" });
    await pause();
    await world.store.updateSession({ sessionId: "s", agentName: "wanted" });
    await reader.until(2);
    await pause();
    await world.store.deleteSession("s");
    await reader.until(3);
    await world.store.createSession({ id: "s", agentName: "other" });
    await pause();
    await world.store.deleteSession("s");
    await pause();
    expect(told(reader.items)).toEqual(["UPDATED s", "UPDATED s", "DELETED s"]);
  });

  it("tell of what moves no number: deltas, a request to cancel, a lease that runs out", async () => {
    const run = await world.store.startRun({ sessionId: "s", leaseSeconds: 5 });
    const reader = readAll(await open(null, {}, sessionId));
    await quiet();
    const delta = { type: "TEXT_DELTA", phase: "GENERATING", delta: "x" } as const;
    await world.store.recordRunEvents({ runId: run.id, events: [delta] });
    await reader.until(1);
    await pause();
    await world.store.requestRunCancel(run.id);
    await reader.until(2);
    await pause();
    world.test.time.wallMs += 4_000;
    world.timers.advance(1_000);
    await quiet();
    expect(reader.items).toHaveLength(2);
    world.test.time.wallMs += 2_000;
    world.timers.advance(1_000);
    await reader.until(3);
    world.timers.advance(20_000);
    await quiet();
    expect(told(reader.items)).toEqual(["UPDATED s", "UPDATED s", "UPDATED s"]);
    expect(await world.store.activeRun("s")).toBeNull();
  });

  it("follow a filter by running through start, silence and end", async () => {
    await world.store.createSession({ id: "s" });
    const running = readAll(await open({ running: true }, {}, sessionId));
    const resting = readAll(await open({ running: false }, {}, sessionId));
    await world.store.startRun({ sessionId: "s", leaseSeconds: 5 });
    await running.until(1);
    await pause();
    expect(resting.items).toEqual([]);
    world.test.time.wallMs += 6_000;
    world.timers.advance(1_000);
    await resting.until(1);
    await pause();
    expect(running.items).toHaveLength(1);
  });

  it("are no repeats: an append that was known, a session that was there already", async () => {
    await world.store.createSession({ id: "s" });
    const id = crypto.randomUUID();
    const append = () =>
      world.store.appendMessages({ sessionId: "s", messages: [{ id, message: { user: { text: "a" } } }] });
    await append();
    const reader = readAll(await open(null, {}, sessionId));
    await append();
    await world.store.createSession({ id: "s", allowExisting: true });
    await pause();
    expect(reader.items).toEqual([]);
  });

  it("of another user's sessions do not exist, deletions among them", async () => {
    const reach = { userId: "ada" as UserId };
    const reader = readAll(await open(null, { reach }, sessionId));
    await world.store.createSession({ id: "s", userId: "bob" });
    await rename("s", "Bob's");
    await pause();
    await world.store.deleteSession("s");
    await pause();
    expect(reader.items).toEqual([]);
    await world.store.createSession({ id: "s" });
    await pause();
    await world.store.updateSession({ sessionId: "s", userId: "ada" });
    await reader.until(1);
    await pause();
    await world.store.deleteSession("s");
    await reader.until(2);
    // It is new to who follows it alone; who follows the tenant was past its creation.
    expect(told(reader.items)).toEqual([sessionId === null ? "UPDATED s" : "CREATED s", "DELETED s"]);
  });

  it("need no bus, and leave nothing behind", async () => {
    const stream = await open(null, {}, sessionId);
    const reader = readAll(stream);
    await quiet();
    await world.quiet.createSession({ id: "s" });
    await quiet();
    expect(reader.items).toEqual([]);
    world.timers.advance(5_000);
    await reader.until(1);
    await world.quiet.deleteSession("s");
    world.timers.advance(5_000);
    expect(told(await reader.until(2))).toEqual(["CREATED s", "DELETED s"]);
    await stream.return?.();
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });
});

describe("session changes of a tenant", () => {
  it("reach a reader that was away for long: each session once, created ones as CREATED", async () => {
    const stream = await open(null, { settings: { rowsPerRead: 7 } });
    for (const number of range(1, 50)) await world.store.createSession({ id: `s${number}` });
    for (const number of range(1, 20)) await rename(`s${number}`, "Renamed");
    await world.store.deleteSession("s1");
    await world.store.deleteSession("s50");
    const reader = readAll(stream);
    await reader.until(50);
    await quiet();
    const created = range(2, 49).map((number) => `CREATED s${number}`);
    expect([...told(reader.items)].sort()).toEqual([...created, "DELETED s1", "DELETED s50"].sort());
    world.timers.advance(1_000);
    await quiet();
    expect(reader.items).toHaveLength(50);
  });

  it("of many sessions are merged each on its own", async () => {
    const reader = readAll(await open());
    await Promise.all(range(1, 300).map((number) => world.store.createSession({ id: `s${number}` })));
    await reader.until(300);
    for (const number of range(1, 300)) await rename(`s${number}`, "Renamed");
    await quiet();
    expect(reader.items).toHaveLength(300);
    world.timers.advance(250);
    await reader.until(600);
    expect(new Set(told(reader.items.slice(300))).size).toBe(300);
  });

  it("show a session as it is when it is given, not as it was when it changed", async () => {
    await world.store.createSession({ id: "s" });
    const stream = await open();
    for (const number of range(1, 100)) {
      await rename("s", `Title ${number}`);
      const [change] = await take(stream, 1);
      expect(change?.session?.title).toBe(`Title ${number}`);
      world.timers.advance(250);
    }
  });
});

describe("a filter of changes", () => {
  const base = Date.UTC(2026, 0, 1);
  const text = fc.constantFrom("a", "B", "ab", "Äb", "ß", "");
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 1 });
  const time: fc.Arbitrary<Instant> = fc
    .integer({ min: -1, max: 8 })
    .map((step) => instant((base + step * 1_000) * 1_000));
  const filters: fc.Arbitrary<SessionFilter> = fc.record(
    {
      sessionTypes: maybe(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 })),
      agentNames: maybe(fc.array(fc.constantFrom("x", "y"), { maxLength: 2 })),
      userIds: maybe(fc.array(fc.constantFrom("u", "v"), { maxLength: 2 })),
      parentSessionId: maybe(fc.constantFrom("s0", "gone")),
      root: maybe(fc.boolean()),
      running: maybe(fc.boolean()),
      titleContains: maybe(text),
      updatedAfter: maybe(time),
      updatedBefore: maybe(time),
      createdAfter: maybe(time),
      createdBefore: maybe(time),
    },
    { requiredKeys: [] },
  );
  const sessions = fc.array(
    fc.record({
      sessionType: fc.integer({ min: 0, max: 2 }),
      agentName: maybe(fc.constantFrom("x", "y")),
      userId: maybe(fc.constantFrom("u", "v")),
      parentSessionId: maybe(fc.constantFrom("s0", "gone")),
      title: maybe(fc.constantFrom("a", "cAb", "äB", "STRASSE ß", "İ")),
      running: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );

  it("means the same as in a list, whatever the sessions and the filter", async () => {
    await fc.assert(
      fc.asyncProperty(sessions, fc.array(filters, { minLength: 3, maxLength: 8 }), async (models, asked) => {
        const own = openWorld();
        try {
          for (const [index, { running, ...model }] of models.entries()) {
            own.test.time.wallMs = base + index * 1_000;
            const parent = model.parentSessionId === `s${index}` ? null : model.parentSessionId;
            await own.store.createSession({ id: `s${index}`, ...model, parentSessionId: parent });
            if (running) await own.store.startRun({ sessionId: `s${index}` });
          }
          const all = (await own.store.listSessions({ page: { first: 100 } })).nodes;
          for (const filter of asked) {
            const listed = (await own.store.listSessions({ filter, page: { first: 100 } })).nodes;
            const matched = [];
            for (const session of all) {
              const running = (await own.store.activeRun(session.id)) !== null;
              if (matchesFilter(session, filter, running)) matched.push(session.id);
            }
            expect(matched).toEqual(listed.map((session) => session.id));
          }
        } finally {
          own.test.dispose();
        }
      }),
      { numRuns: 40 },
    );
  });
});
