import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/errors.ts";
import { EVERYTHING, type RawMessageSelection } from "../../../src/store/model.ts";
import { A, contextOf, excluded, seen, T, U } from "../../support/context.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(async () => {
  test = openTestStore();
  await append(10);
});
afterEach(() => test.dispose());

const NOTHING: RawMessageSelection = { text: false, payload: false, metadata: false, tags: false };
const append = (count: number, sessionId = "s") =>
  test.store.appendMessages({ sessionId, messages: Array.from({ length: count }, (_, index) => U(`line ${index}`)) });
const rewind = (
  throughSequence: number,
  expectedLastSequence: number,
  more: { id?: string; sessionId?: string } = {},
) => test.within({}).rewindSession({ sessionId: "s", throughSequence, expectedLastSequence, ...more }, EVERYTHING);
const snapshot = (compactedThroughSequence: number, expectedVersion: number) =>
  test.store.createSnapshot({ sessionId: "s", summary: "so far", compactedThroughSequence, expectedVersion });
const removed = async (work: ReturnType<typeof rewind>) => (await work).removed.map((message) => message.sequence);
const context = async () => seen((await contextOf(test.within({}))).nodes);
const logOf = async () => (await test.store.listMessages({ sessionId: "s", page: {}, select: EVERYTHING }))?.nodes;

describe("rewindSession", () => {
  it("takes the newest messages out of the context, not out of the log; later ones follow what is left", async () => {
    const log = await logOf();
    const before = (await test.store.getSessions(["s"]))[0];
    const { session, removed: gone } = await rewind(7, 10);
    expect(gone).toEqual(log?.slice(7));
    expect(session).toMatchObject({ lastSequence: 10, messageCount: 10 });
    expect(session.changeNumber).toBeGreaterThan(before?.changeNumber ?? 0);
    expect(await logOf()).toEqual(log);
    await append(2);
    expect(await context()).toEqual([1, 2, 3, 4, 5, 6, 7, 11, 12]);
    expect(await removed(rewind(6, 12))).toEqual([7, 11, 12]);
    expect(await context()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("to the end removes nothing but is an edit; beyond the end it is refused", async () => {
    const before = await contextOf(test.store);
    expect(await removed(rewind(10, 10))).toEqual([]);
    const after = await contextOf(test.store);
    expect(after.pin.edits).toBe(before.pin.edits + 1);
    expect(after.nodes).toEqual(before.nodes);
    expect(await refusalOf(rewind(11, 10))).toBe("BAD_USER_INPUT throughSequence");
    expect(await refusalOf(rewind(-1, 10))).toBe("BAD_USER_INPUT throughSequence");
    expect(await refusalOf(rewind(1, 10, { sessionId: "never" }))).toBe("NOT_FOUND");
  });

  it("of a log that has grown is a conflict that says where it ends", async () => {
    const stale = await rewind(3, 9).catch((error: unknown) => error);
    expect(stale instanceof GatewayError && [stale.code, stale.details]).toEqual([
      "CONFLICT",
      { reason: "STALE_SEQUENCE", lastSequence: 10 },
    ]);
    expect(await context()).toHaveLength(10);
  });

  it("stops at the boundary of the snapshot, but for 0, which retires it", async () => {
    await snapshot(5, 0);
    expect(await refusalOf(rewind(4, 10))).toBe("BAD_USER_INPUT throughSequence");
    expect(await removed(rewind(8, 10))).toEqual([9, 10]);
    expect(await removed(rewind(5, 10))).toEqual([6, 7, 8]);
    await append(1);
    expect(await removed(rewind(0, 11))).toEqual([11]);
    expect(await contextOf(test.store)).toMatchObject({ snapshot: null, snapshotVersion: 0, nodes: [] });
    await append(2);
    expect(await context()).toEqual([12, 13]);
    expect(await refusalOf(snapshot(12, 1))).toBe("CONFLICT STALE_VERSION");
    expect(await snapshot(12, 0)).toMatchObject({ version: 2 });
    expect(await context()).toEqual([13]);
    expect(await refusalOf(rewind(11, 13))).toBe("BAD_USER_INPUT throughSequence");
  });

  it("repeated under its id gives the original answer; another rewind is a conflict", async () => {
    const id = crypto.randomUUID();
    const first = await rewind(8, 10, { id });
    await append(3);
    await rewind(2, 13);
    const before = (await test.store.getSessions(["s"]))[0];
    const again = await rewind(8, 10, { id: id.toUpperCase() });
    expect(again.removed).toEqual(first.removed);
    expect(again.removed).toHaveLength(2);
    expect((await test.store.getSessions(["s"]))[0]).toEqual(before);
    expect(await context()).toEqual([1, 2]);
    expect(await refusalOf(rewind(7, 10, { id }))).toBe("CONFLICT CONTENT_DIFFERS");
    await append(10, "other");
    expect(await refusalOf(rewind(8, 10, { id, sessionId: "other" }))).toBe("CONFLICT ID_TAKEN");
    await test.store.deleteSession("s");
    expect(await refusalOf(rewind(8, 10, { id }))).toBe("NOT_FOUND");
    expect(await removed(rewind(8, 10, { id, sessionId: "other" }))).toEqual([9, 10]);
  });

  it("of two for one end, the later still finds that end; an append between makes it stale", async () => {
    const results = await Promise.all([
      refusalOf(append(1)),
      refusalOf(rewind(5, 10)),
      refusalOf(rewind(5, 11)),
      refusalOf(rewind(4, 11)),
    ]);
    expect(results).toEqual(["accepted", "CONFLICT STALE_SEQUENCE", "accepted", "accepted"]);
    expect(await context()).toEqual([1, 2, 3, 4]);
  });

  it("lists what the context would have filtered too, and nothing twice", async () => {
    await test.store.appendMessages({ sessionId: "s", messages: [A(""), excluded(U("note")), A("", "c"), T("c")] });
    expect(await removed(rewind(11, 14))).toEqual([12, 13, 14]);
    expect(await removed(rewind(10, 14))).toEqual([11]);
  });

  it("lists at most 1,000 messages and a page's bytes, oldest first; all of them are gone", async () => {
    for (const count of [1_000, 500]) await append(count, "long");
    const gone = await rewind(100, 1_500, { sessionId: "long" });
    expect([gone.removed.length, gone.removed[0]?.sequence, gone.removed.at(-1)?.sequence]).toEqual([
      1_000, 101, 1_100,
    ]);
    expect(seen((await contextOf(test.store, "long")).nodes)).toHaveLength(100);
    const big = U("x".repeat(1_500_000));
    for (let index = 0; index < 4; index++) {
      await test.store.appendMessages({ sessionId: "heavy", messages: [big] });
    }
    const heavy = { sessionId: "heavy", throughSequence: 0, expectedLastSequence: 4 };
    expect((await test.within({}).rewindSession(heavy, EVERYTHING)).removed).toHaveLength(2);
    expect(seen((await contextOf(test.store, "heavy")).nodes)).toEqual([]);
    await test.store.appendMessages({ sessionId: "heavy", messages: [big] });
    const light = { ...heavy, expectedLastSequence: 5 };
    const [only] = (await test.within({}).rewindSession(light, NOTHING)).removed;
    expect(only).toMatchObject({ sequence: 5, payload: undefined, text: undefined });
  });
});
