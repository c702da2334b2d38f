import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunEventInput } from "../../src/store/contract.ts";
import { EVERYTHING, isDelta, type Run, type RunEvent } from "../../src/store/model.ts";
import { refusalOf } from "../support/refusal.ts";
import { openWorld, quiet, range, readAll, take, turn, type World } from "./world.ts";

let world: World;
let run: Run;
beforeEach(async () => {
  world = openWorld();
  run = await world.store.startRun({ sessionId: "s" });
});
afterEach(() => world.test.dispose());

type Request = Omit<Parameters<ReturnType<World["feed"]>["runEvents"]>[0], "sessionId">;
const open = (request: Request = {}, options: Parameters<World["feed"]>[0] = {}, sessionId = "s") =>
  world.feed(options).runEvents({ sessionId, ...request });
const delta = (text = "x"): RunEventInput => ({ type: "TEXT_DELTA", phase: "GENERATING", turn: 1, delta: text });
const phase: RunEventInput = { type: "PHASE_CHANGED", phase: "GENERATING" };
const record = (...events: readonly RunEventInput[]) => world.store.recordRunEvents({ runId: run.id, events });
const indexes = (events: readonly RunEvent[]) => events.map((event) => event.index);
const storedIndexes = (events: readonly RunEvent[]) => indexes(events.filter((event) => !isDelta(event.type)));

describe("run events", () => {
  it("come in their order, deltas between the stored ones, a run's start and end among them", async () => {
    const reader = readAll(await open());
    await record(delta("a"), phase, delta("b"));
    await record(delta("c"));
    await record(phase, delta("d"), delta("e"), phase);
    await world.store.finishRun({ runId: run.id, status: "COMPLETED" });
    const next = await world.store.startRun({ sessionId: "s" });
    await reader.until(10);
    expect(reader.items.map((event) => `${event.index} ${event.delta ?? event.type}`)).toEqual([
      ...["2 a", "3 PHASE_CHANGED", "4 b", "5 c", "6 PHASE_CHANGED", "7 d", "8 e", "9 PHASE_CHANGED"],
      ...["10 RUN_COMPLETED", "1 RUN_STARTED"],
    ]);
    expect(reader.items.at(-1)?.runId).toBe(next.id);
  });

  it("are in order too where many reports share one commit", async () => {
    const reader = readAll(await open());
    const reports = range(1, 50).map((number) =>
      number % 3 === 0 ? record(phase, delta()) : number % 3 === 1 ? record(delta(), delta()) : record(delta(), phase),
    );
    await Promise.all(reports);
    expect(indexes(await reader.until(100))).toEqual(range(2, 101));
  });

  it("G1: a reader that stops at 1,500 events loses deltas alone, and costs no more than the ring", async () => {
    const stream = await open();
    for (let index = 0; index < 500; index++) {
      await record(delta(), phase, delta());
      if (index % 50 === 0) await turn();
    }
    await record(phase);
    const events: RunEvent[] = [];
    while (events.at(-1)?.index !== 1_502) events.push(...(await take(stream, 1)));
    expect(storedIndexes(events)).toEqual([...range(0, 499).map((index) => 3 + 3 * index), 1_502]);
    expect(indexes(events)).toEqual([...indexes(events)].sort((left, right) => left - right));
    expect(events.filter((event) => isDelta(event.type))).toHaveLength(1_000);
  });

  it("G1: 1,100 events in one tick with a fast reader: the oldest deltas go, nobody else notices", async () => {
    const fast = readAll(await open());
    const messages = readAll(await world.feed().rawMessages({ sessionId: "s", afterSequence: 0, select: EVERYTHING }));
    const other = readAll(await open({ runId: run.id }));
    await quiet();
    await Promise.all([
      record(...range(1, 550).map(() => delta())),
      record(...range(1, 549).map(() => delta()), phase),
      world.append("s", 3),
    ]);
    expect(indexes(await fast.until(1_001))).toEqual(range(101, 1_101).slice(0));
    expect(storedIndexes(await other.until(1_001))).toEqual([1_101]);
    expect((await messages.until(3)).map((message) => message.sequence)).toEqual([1, 2, 3]);
    expect([fast.state, other.state]).toEqual(["open", "open"]);
  });

  it("G1: the ring is bounded in bytes too", async () => {
    const stream = await open();
    for (let index = 0; index < 100; index++) await record(delta("y".repeat(20_000)));
    await record(phase);
    const events: RunEvent[] = [];
    while (events.at(-1)?.type !== "PHASE_CHANGED") events.push(...(await take(stream, 1)));
    expect(events.length).toBeGreaterThan(10);
    expect(events.length).toBeLessThan(28);
    expect(indexes(events)).toEqual(range(103 - events.length, 102));
  });

  it("replay what is stored after an index, then go on live without a seam", async () => {
    for (let index = 0; index < 30; index++) await record(phase, delta());
    const stream = await open({ runId: run.id, afterIndex: 10 });
    await record(delta("live"), phase);
    const reader = readAll(stream);
    await quiet();
    await record(phase, delta("later"));
    await reader.until(29);
    await quiet();
    const expected = range(0, 29).map((index) => 2 + 2 * index);
    expect(indexes(reader.items)).toEqual([...expected.filter((index) => index > 10), 62, 63, 64, 65]);
  });

  it("replay 1,200 stored events over several pages while the run goes on", async () => {
    await record(...range(1, 700).map(() => phase));
    await record(...range(1, 500).map(() => phase));
    const reader = readAll(await open({ runId: run.id, afterIndex: 0 }));
    for (let index = 0; index < 20; index++) await record(phase);
    expect(indexes(await reader.until(1_221))).toEqual(range(1, 1_221));
  });

  it("of one run alone leave the others out", async () => {
    await world.store.finishRun({ runId: run.id, status: "COMPLETED" });
    const next = await world.store.startRun({ sessionId: "s" });
    const reader = readAll(await open({ runId: next.id.toUpperCase() }));
    const old = readAll(await open({ runId: run.id, afterIndex: 0 }));
    await world.store.recordRunEvents({ runId: next.id, events: [delta(), phase] });
    expect((await reader.until(2)).map((event) => event.runId)).toEqual([next.id, next.id]);
    await quiet();
    expect(indexes(old.items)).toEqual([1, 2]);
  });

  it("are refused for a missing session, another session's run and an index without a run", async () => {
    await world.store.createSession({ id: "other" });
    expect(await refusalOf(open({}, {}, "nowhere"))).toBe("NOT_FOUND");
    expect(await refusalOf(open({ runId: run.id }, {}, "other"))).toBe("NOT_FOUND");
    expect(await refusalOf(open({ runId: "no uuid" }))).toBe("NOT_FOUND");
    expect(await refusalOf(open({ runId: run.id }, { reach: { userId: "u" as never } }))).toBe("NOT_FOUND");
    expect(await refusalOf(open({ afterIndex: 0 }))).toBe("BAD_USER_INPUT afterIndex");
    expect(await refusalOf(open({ runId: run.id, afterIndex: -1 }))).toBe("BAD_USER_INPUT afterIndex");
    expect(await refusalOf(open({ runId: run.id, afterIndex: 2 }))).toBe("BAD_USER_INPUT afterIndex");
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });

  it("leave deltas out for who can't see the assistant's messages", async () => {
    const reader = readAll(await open({}, { reach: { visibleRoles: new Set(["USER"]) } }));
    await record(delta(), phase, delta());
    await record(delta(), phase);
    await reader.until(2);
    await quiet();
    expect(indexes(reader.items)).toEqual([3, 6]);
  });

  it("that the store no longer keeps, past 10,000, are passed on live", async () => {
    for (let index = 0; index < 10; index++) await record(...range(1, 1_000).map(() => phase));
    const reader = readAll(await open());
    await record(phase, delta(), phase);
    expect(indexes(await reader.until(3))).toEqual([10_002, 10_003, 10_004]);
  });

  it("need no bus but for deltas", async () => {
    const reader = readAll(await open());
    await world.quiet.recordRunEvents({ runId: run.id, events: [delta(), phase] });
    await quiet();
    world.timers.advance(5_000);
    expect(indexes(await reader.until(1))).toEqual([3]);
  });

  it("complete when the session is deleted", async () => {
    const reader = readAll(await open());
    await record(phase);
    await reader.until(1);
    await world.store.deleteSession("s");
    expect(await reader.end()).toBe("done");
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });
});

describe("the draft of a run", () => {
  const messageId = "0198c2f0-7b1e-7c3a-9f54-1d2e3a4b5c6d";
  const say = (type: "TEXT_DELTA" | "REASONING_DELTA", text: string, turn = 1): RunEventInput => ({
    ...delta(text),
    type,
    turn,
    messageId,
  });
  const draft = (options: Parameters<World["feed"]>[0] = {}) => world.feed(options).draft(run.id);

  it("is what has streamed, until the model or the turn is done", async () => {
    expect(draft()).toBeNull();
    await record(say("REASONING_DELTA", "Hm"), say("TEXT_DELTA", "Hel"));
    await record(say("TEXT_DELTA", "lo"));
    expect(draft()).toEqual({ messageId, turn: 1, text: "Hello", reasoning: "Hm" });
    expect(draft({ reach: { visibleRoles: new Set(["USER"]) } })).toBeNull();
    await record({ type: "MODEL_COMPLETED", phase: "GENERATING", turn: 1 });
    expect(draft()).toBeNull();
  });

  it("begins anew with another turn", async () => {
    await record(say("TEXT_DELTA", "one"));
    await record(say("TEXT_DELTA", "two", 2));
    expect(draft()).toMatchObject({ turn: 2, text: "two" });
  });

  it("ends with the run, and when its message stands in the log", async () => {
    await record(say("TEXT_DELTA", "one"));
    const message = { id: messageId, message: { assistant: { text: "one" } } };
    await world.store.appendMessages({ sessionId: "s", runId: run.id, messages: [message] });
    expect(draft()).toBeNull();
    await record(say("TEXT_DELTA", "two", 2));
    await world.store.finishRun({ runId: run.id, status: "FAILED" });
    expect(draft()).toBeNull();
  });

  it("is another tenant's own under the same run id, and bounded in number and size", () => {
    const observe = (tenantId: string, runId: string, text: string) => {
      const event = { runId, type: "TEXT_DELTA", turn: 1, messageId: null, delta: text } as unknown as RunEvent;
      world.drafts.observe({ kind: "run", tenantId: tenantId as never, sessionId: "s" as never, events: [event] });
    };
    observe("acme", run.id, "ours");
    observe("other", run.id, "theirs");
    expect(draft()?.text).toBe("ours");
    observe("acme", "big", "z".repeat(3 * 1024 * 1024));
    expect(world.drafts.draft("acme" as never, "big")?.text).toHaveLength(1024 * 1024);
    for (const index of range(1, 256)) observe("acme", `run ${index}`, "x");
    expect(draft()).toBeNull();
    expect(world.drafts.draft("acme" as never, "run 256")?.text).toBe("x");
  });
});
