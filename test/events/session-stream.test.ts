import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionFeedItem } from "../../src/events/contract.ts";
import type { RunEventInput } from "../../src/store/contract.ts";
import { EVERYTHING } from "../../src/store/model.ts";
import { refusalOf } from "../support/refusal.ts";
import { openWorld, quiet, range, readAll, take, type World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = openWorld();
});
afterEach(() => world.test.dispose());

interface Asked {
  readonly afterSequence?: number;
  readonly deltas?: boolean;
}
const open = ({ afterSequence, deltas = true }: Asked = {}, options: Parameters<World["feed"]>[0] = {}) =>
  world.feed(options).session({ sessionId: "s", afterSequence, deltas, select: EVERYTHING });
const told = (items: readonly SessionFeedItem[]) =>
  items.map((item) => {
    if (item.type === "RawMessage") return `message ${item.message.sequence}`;
    if (item.type === "RunEvent") return item.event.delta ?? item.event.type;
    return item.change.kind;
  });
const withoutChanges = (items: readonly SessionFeedItem[]) => told(items).filter((text) => text !== "UPDATED");
const say = (text: string): RunEventInput => ({ type: "TEXT_DELTA", phase: "GENERATING", delta: text });
const completed: RunEventInput = { type: "MODEL_COMPLETED", phase: "GENERATING" };

describe("all of a session in one order", () => {
  it("gives the backlog, then deltas before their message, events, and the session's changes", async () => {
    await world.append("s", 2);
    const reader = readAll(await open({ afterSequence: 1 }));
    await reader.until(1);
    const run = await world.store.startRun({ sessionId: "s" });
    await world.store.recordRunEvents({ runId: run.id, events: [say("a"), say("b")] });
    const answer = { message: { assistant: { text: "ab" } } };
    // Not awaited between: they stand in one commit, or in neighbouring ones.
    await Promise.all([
      world.store.recordRunEvents({ runId: run.id, events: [say("c"), completed, say("d")] }),
      world.store.appendMessages({ sessionId: "s", runId: run.id, messages: [answer] }),
    ]);
    await world.store.finishRun({ runId: run.id, status: "COMPLETED" });
    await quiet();
    world.timers.advance(250);
    await quiet();
    expect(withoutChanges(reader.items)).toEqual([
      ...["message 2", "RUN_STARTED", "a", "b", "c", "MODEL_COMPLETED", "d", "message 3", "RUN_COMPLETED"],
    ]);
    const changes = reader.items.filter((item) => item.type === "SessionChange");
    expect(changes.at(-1)?.change.session).toMatchObject({ id: "s", lastSequence: 3 });
    expect(changes.length).toBeLessThanOrEqual(2);
  });

  it("keeps that order for a slow reader and a long backlog of events", async () => {
    const run = await world.store.startRun({ sessionId: "s" });
    const stream = await open({}, { settings: { rowsPerRead: 5 } });
    const expected: string[] = [];
    for (const number of range(1, 40)) {
      const events = [say(`${number}`), completed, completed, say(`${number}+`)];
      await world.store.recordRunEvents({ runId: run.id, events });
      const messages = [{ message: { assistant: { text: "x" } } }];
      await world.store.appendMessages({ sessionId: "s", runId: run.id, messages });
      expected.push(`${number}`, "MODEL_COMPLETED", "MODEL_COMPLETED", `${number}+`);
    }
    const reader = readAll(stream);
    while (!told(reader.items).includes("message 40")) await quiet();
    const seen = withoutChanges(reader.items);
    expect(seen.filter((text) => !text.startsWith("message"))).toEqual(expected);
    expect(seen.filter((text) => text.startsWith("message"))).toEqual(
      range(1, 40).map((number) => `message ${number}`),
    );
    for (const number of range(1, 40))
      expect(seen.indexOf(`message ${number}`)).toBeGreaterThan(seen.indexOf(`${number}+`));
  });

  it("is not starved of messages by a run that never pauses", async () => {
    const run = await world.store.startRun({ sessionId: "s" });
    const reader = readAll(await open({}, { settings: { rowsPerRead: 2 } }));
    await quiet();
    for (const number of range(1, 20)) {
      await world.store.recordRunEvents({ runId: run.id, events: [completed, completed, completed] });
      if (number === 5) await world.append("s", 1);
    }
    await world.append("s", 1);
    while (!told(reader.items).includes("message 2")) await quiet();
    const seen = withoutChanges(reader.items);
    expect(seen.indexOf("message 1")).toBeLessThan(seen.length - 5);
  });

  it("leaves deltas out on request, and for who can't see the assistant's messages", async () => {
    const run = await world.store.startRun({ sessionId: "s" });
    const plain = readAll(await open({ deltas: false }));
    const narrow = readAll(await open({}, { reach: { visibleRoles: new Set(["USER"]) } }));
    await world.store.recordRunEvents({ runId: run.id, events: [say("a"), completed, say("b")] });
    const answer = { message: { assistant: { text: "ab" } } };
    await world.store.appendMessages({ sessionId: "s", messages: [answer, { message: { user: { text: "u" } } }] });
    await quiet();
    expect(withoutChanges(plain.items)).toEqual(["MODEL_COMPLETED", "message 1", "message 2"]);
    expect(withoutChanges(narrow.items)).toEqual(["MODEL_COMPLETED", "message 2"]);
  });

  it("gives DELETED, then completes; nothing of the session that comes after under its name", async () => {
    await world.append("s", 1);
    const reader = readAll(await open({ afterSequence: 0 }));
    const idle = await open();
    await reader.until(1);
    await world.store.deleteSession("s");
    await world.append("s", 0);
    await world.store.createSession({ id: "s" });
    await world.append("s", 3);
    expect(await reader.end()).toBe("done");
    expect(told(reader.items)).toEqual(["message 1", "DELETED"]);
    expect(reader.items[1]).toMatchObject({ change: { sessionId: "s", session: null } });
    expect(told(await take(idle, 5))).toEqual(["DELETED"]);
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });

  it("tells of a lease that ran out, and needs no bus for what is stored", async () => {
    const run = await world.store.startRun({ sessionId: "s", leaseSeconds: 5 });
    const reader = readAll(await open());
    await quiet();
    world.test.time.wallMs += 6_000;
    world.timers.advance(1_000);
    expect(told(await reader.until(1))).toEqual(["UPDATED"]);
    world.timers.advance(250);
    await world.quiet.recordRunEvents({ runId: run.id, events: [completed] });
    await world.quiet.appendMessages({ sessionId: "s", messages: [{ message: { user: { text: "q" } } }] });
    world.timers.advance(5_000);
    await reader.until(4);
    expect(told(reader.items)).toEqual(["UPDATED", "MODEL_COMPLETED", "message 1", "UPDATED"]);
  });

  it("merges bursts of changes", async () => {
    await world.append("s", 1);
    const reader = readAll(await open());
    for (const number of range(1, 30)) await world.store.updateSession({ sessionId: "s", title: `${number}` });
    await quiet();
    expect(reader.items).toHaveLength(1);
    world.timers.advance(250);
    await reader.until(2);
    expect(reader.items[1]).toMatchObject({ change: { kind: "UPDATED", session: { title: "30" } } });
  });

  it("is refused like the log's own stream", async () => {
    expect(await refusalOf(open())).toBe("NOT_FOUND");
    await world.append("s", 1);
    expect(await refusalOf(open({ afterSequence: 2 }))).toBe("BAD_USER_INPUT afterSequence");
    expect(await refusalOf(open({ afterSequence: -1 }))).toBe("BAD_USER_INPUT afterSequence");
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });
});
