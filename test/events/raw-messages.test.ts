import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unauthenticated } from "../../src/errors.ts";
import { createMemoryBus } from "../../src/events/memory-bus.ts";
import { silentLog } from "../../src/log.ts";
import { EVERYTHING, type RawMessage } from "../../src/store/model.ts";
import { createReadBudget } from "../../src/store/read-budget.ts";
import { refusalOf } from "../support/refusal.ts";
import { openWorld, quiet, range, readAll, take, type World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = openWorld();
});
afterEach(() => world.test.dispose());

const open = (afterSequence: number | null, options: Parameters<World["feed"]>[0] = {}, sessionId = "s") =>
  world.feed(options).rawMessages({ sessionId, afterSequence, select: EVERYTHING });
const sequences = (messages: readonly RawMessage[]) => messages.map((message) => message.sequence);
const toolText = (text: string) => ({ message: { tool: { toolCallId: "c", name: "n", text } } });

describe("raw messages as they are appended", () => {
  it("gives the backlog, then what is new, in order and with what was selected", async () => {
    await world.append("s", 3);
    const reader = readAll(await open(1));
    await reader.until(2);
    await world.append("s", 2);
    expect(sequences(await reader.until(4))).toEqual([2, 3, 4, 5]);
    expect(reader.items[3]).toMatchObject({ sessionId: "s", text: "message 1", metadata: {} });
  });

  it("begins with what is new where no place is given, counted from acceptance and not from the first pull", async () => {
    await world.append("s", 2);
    const stream = await open(null);
    await world.append("s", 1);
    expect(sequences(await take(stream, 1))).toEqual([3]);
  });

  it("refuses a session that is not there, a place beyond the end and a negative one, and frees everything", async () => {
    await world.append("s", 3);
    expect(await refusalOf(open(null, {}, "nowhere"))).toBe("NOT_FOUND");
    expect(await refusalOf(open(null, { reach: { userId: "u" as never } }))).toBe("NOT_FOUND");
    expect(await refusalOf(open(-1))).toBe("BAD_USER_INPUT afterSequence");
    expect(await refusalOf(open(4))).toBe("BAD_USER_INPUT afterSequence");
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });

  it("G4: refuses 999 on a session of three, also where it was longer before it was deleted", async () => {
    await world.append("s", 5);
    await world.store.deleteSession("s");
    await world.store.createSession({ id: "s" });
    await world.append("s", 3);
    expect(await refusalOf(open(5))).toBe("BAD_USER_INPUT afterSequence");
    expect(sequences(await take(await open(3 - 1), 1))).toEqual([3]);
  });

  it("G2: ten subscribers at random points of a running writer each see every sequence once", async () => {
    await world.append("s", 1);
    const total = 200;
    const writing = world.append("s", total - 1);
    const readers: { readonly after: number; readonly reader: ReturnType<typeof readAll<RawMessage>> }[] = [];
    for (let index = 0; index < 10; index++) {
      for (let wait = Math.random() * 15; wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve));
      const last = (await world.store.mark("s"))?.lastSequence ?? 0;
      const after = index % 2 === 0 ? 0 : last;
      readers.push({ after, reader: readAll(await open(after)) });
    }
    await writing;
    for (const { after, reader } of readers) {
      expect(sequences(await reader.until(total - after))).toEqual(range(after + 1, total));
    }
  });

  it("G3: cut after 20, resumed after 20: 21 is next and nothing comes twice", async () => {
    await world.append("s", 20);
    const first = await open(0);
    expect(sequences(await take(first, 20))).toEqual(range(1, 20));
    await first.return?.();
    await world.append("s", 10);
    expect(sequences(await take(await open(20), 10))).toEqual(range(21, 30));
  });

  it("G5: hears nothing of a session of the same name in another tenant", async () => {
    const bus = createMemoryBus({ log: silentLog });
    const [one, two] = [openWorld("one", bus), openWorld("two", bus)];
    await one.store.createSession({ id: "shared" });
    await two.store.createSession({ id: "shared" });
    const request = { sessionId: "shared", afterSequence: 0, select: EVERYTHING };
    const messages = readAll(await two.feed().rawMessages(request));
    const changes = readAll(await two.feed().sessionChanges({}));
    const items = readAll(await two.feed().session({ ...request, deltas: true }));
    await one.append("shared", 3);
    await quiet();
    expect([messages.items, changes.items, items.items]).toEqual([[], [], []]);
    await two.append("shared", 1);
    expect(sequences(await messages.until(1))).toEqual([1]);
    one.test.dispose();
    two.test.dispose();
  });

  it("E8: completes when the session is deleted, also where it comes back under its name", async () => {
    await world.append("s", 3);
    const slow = await open(0);
    const fast = readAll(await open(0));
    await fast.until(3);
    await take(slow, 1);
    await world.store.deleteSession("s");
    await world.store.createSession({ id: "s" });
    await world.append("s", 9);
    expect(await fast.end()).toBe("done");
    expect(sequences(fast.items)).toEqual([1, 2, 3]);
    const rest = readAll(slow);
    expect(await rest.end()).toBe("done");
    expect(sequences(rest.items).every((sequence) => sequence <= 3)).toBe(true);
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });

  it("goes past hidden roles without reading for ever, and does not starve what comes behind them", async () => {
    await world.append("s", 1);
    const reader = readAll(await open(0, { reach: { visibleRoles: new Set(["USER"]) }, settings: { rowsPerRead: 5 } }));
    for (let index = 0; index < 40; index++) {
      await world.store.appendMessages({ sessionId: "s", messages: [toolText(`${index}`)] });
    }
    await world.append("s", 2);
    expect(sequences(await reader.until(3))).toEqual([1, 42, 43]);
  });

  it("takes no sequence from the bus: a false one skips nothing", async () => {
    await world.append("s", 1);
    const reader = readAll(await open(1));
    await quiet();
    world.bus.publish({ kind: "log", tenantId: "acme" as never, sessionId: "s" as never, lastSequence: 999 });
    await quiet();
    await world.append("s", 2);
    expect(sequences(await reader.until(2))).toEqual([2, 3]);
  });

  it("needs no bus: the slow timer finds what nobody told of, deletions too", async () => {
    await world.append("s", 1);
    const reader = readAll(await open(1));
    await quiet();
    await world.quiet.appendMessages({ sessionId: "s", messages: [{ message: { user: { text: "quiet" } } }] });
    await quiet();
    expect(reader.items).toEqual([]);
    world.timers.advance(5_000);
    expect(sequences(await reader.until(1))).toEqual([2]);
    await world.quiet.deleteSession("s");
    world.timers.advance(5_000);
    expect(await reader.end()).toBe("done");
  });

  it("reads more than one operation may, since every pull has a budget of its own", async () => {
    const text = "x".repeat(3 * 1024 * 1024);
    for (let index = 0; index < 6; index++) {
      await world.store.appendMessages({ sessionId: "s", messages: [{ message: { user: { text } } }] });
    }
    const budget = createReadBudget(9 * 1024 * 1024);
    const select = { text: false, payload: true, metadata: false, tags: false };
    const stream = await world.feed({ budget }).rawMessages({ sessionId: "s", afterSequence: 0, select });
    expect(sequences(await take(stream, 6))).toEqual(range(1, 6));
  });
});

describe("a stream's end", () => {
  it("G8: 2,000 streams opened on idle sessions and cut leave no listener and no timer, without another event", async () => {
    await world.append("s", 1);
    const feed = world.feed();
    for (let index = 0; index < 2_000; index++) {
      const kind = index % 4;
      const stream: AsyncIterableIterator<unknown> =
        kind === 0
          ? await feed.rawMessages({ sessionId: "s", afterSequence: 0, select: EVERYTHING })
          : kind === 1
            ? await feed.session({ sessionId: "s", afterSequence: 0, deltas: true, select: EVERYTHING })
            : kind === 2
              ? await feed.sessionChanges({})
              : await feed.runEvents({ sessionId: "s" });
      if (kind < 2) expect((await stream.next()).done).toBe(false);
      const waiting = stream.next();
      expect(await stream.return?.()).toEqual({ done: true, value: undefined });
      expect(await waiting).toEqual({ done: true, value: undefined });
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    }
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
  });

  it("throws the credential's end on the pending pull and on every later one, and gives nothing after it", async () => {
    await world.append("s", 5);
    const controller = new AbortController();
    const idle = await open(null, { ended: controller.signal });
    const behind = await open(0, { ended: controller.signal });
    const pending = refusalOf(idle.next());
    await take(behind, 2);
    controller.abort(unauthenticated("The key was revoked."));
    expect(world.bus.listenerCount()).toBe(0);
    expect(world.timers.active()).toBe(0);
    await world.append("s", 1);
    expect(await pending).toBe("UNAUTHENTICATED");
    expect(await refusalOf(idle.next())).toBe("UNAUTHENTICATED");
    expect(await refusalOf(behind.next())).toBe("UNAUTHENTICATED");
    expect(await refusalOf(open(null, { ended: controller.signal }))).toBe("UNAUTHENTICATED");
    expect(world.bus.listenerCount()).toBe(0);
  });

  it("is ended by throw(), which rethrows what it was given", async () => {
    await world.append("s", 1);
    const stream = await open(0);
    await expect(stream.throw?.(new Error("reader broke"))).rejects.toThrow("reader broke");
    expect(world.bus.listenerCount()).toBe(0);
  });

  it("answers pulls that were made at once in their order", async () => {
    await world.append("s", 3);
    const stream = await open(0);
    const results = await Promise.all([stream.next(), stream.next(), stream.next()]);
    expect(results.map((result) => result.value.sequence)).toEqual([1, 2, 3]);
  });

  it("G10: of fifty subscribers one breaks and one leaves in the middle; the others see everything", async () => {
    await world.append("s", 1);
    const streams = await Promise.all(Array.from({ length: 50 }, () => open(0)));
    const [broken, leaver, ...others] = streams;
    const consume = async () => {
      for await (const message of broken ?? []) if (message.sequence === 3) throw new Error("poison");
    };
    const breaking = consume().catch(String);
    const readers = others.map((stream) => readAll(stream));
    const leaving = leaver?.next();
    const writing = world.append("s", 5);
    await leaving;
    await leaver?.return?.();
    await writing;
    expect(await breaking).toBe("Error: poison");
    for (const reader of readers) expect(sequences(await reader.until(6))).toEqual(range(1, 6));
    expect(world.bus.listenerCount()).toBe(48);
  });

  it("ends with the store's error, for that stream alone", async () => {
    await world.append("s", 1);
    const reader = readAll(await open(1));
    await quiet();
    world.test.handle().close();
    world.bus.publish({ kind: "session", tenantId: "acme" as never, sessionId: "s" as never });
    expect(await reader.end()).toBeInstanceOf(Error);
    expect(world.bus.listenerCount()).toBe(0);
    world.test.reopen();
  });
});
