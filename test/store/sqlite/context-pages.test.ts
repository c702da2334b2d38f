import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ContextPin } from "../../../src/store/contract.ts";
import { createReadBudget } from "../../../src/store/read-budget.ts";
import { readContext } from "../../../src/store/sqlite/context.ts";
import { A, contextOf, repairsIn, S, seen, T, U } from "../../support/context.ts";
import { refusalOf } from "../../support/refusal.ts";
import { FULL_REACH, openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const lines = (count: number) => Array.from({ length: count }, (_, index) => U(`line ${index}`));
const append = (...messages: readonly ReturnType<typeof U>[]) =>
  test.store.appendMessages({ sessionId: "s", messages });
const snapshot = (compactedThroughSequence: number, expectedVersion: number) =>
  test.store.createSnapshot({ sessionId: "s", summary: "so far", compactedThroughSequence, expectedVersion });
const rewind = (throughSequence: number, expectedLastSequence: number) =>
  test.store.rewindSession(
    { sessionId: "s", throughSequence, expectedLastSequence },
    { text: false, payload: false, metadata: false, tags: false },
  );
const at = async (throughSequence: number | null) => {
  const view = await contextOf(test.within({}), "s", { throughSequence });
  return { version: view.snapshotVersion, last: view.lastSequence, seen: seen(view.nodes) };
};

describe("a page of a context", () => {
  it("belongs to the view that its walk began with, whatever is written meanwhile", async () => {
    for (const forward of [true, false]) {
      const sessionId = forward ? "forward" : "backward";
      const session = { sessionId };
      await test.store.appendMessages({ ...session, messages: [...lines(28), A("", "c")] });
      const whole = seen((await contextOf(test.within({}), sessionId)).nodes);
      const walked: (number | string)[] = [];
      let cursor: string | null = null;
      for (let round = 0; ; round++) {
        const page = forward ? { first: 7, after: cursor } : { last: 7, before: cursor };
        const view = await contextOf(test.within({}), sessionId, { page: { ...page, count: true } });
        expect(view.messages?.totalCount).toBe(30);
        if (forward) walked.push(...seen(view.nodes));
        else walked.unshift(...seen(view.nodes));
        expect(view.lastSequence).toBe([29, 30, 31, 32, 33][round]);
        if (!(forward ? view.messages?.hasNextPage : view.messages?.hasPreviousPage)) break;
        cursor = (forward ? view.messages?.endCursor : view.messages?.startCursor) ?? null;
        const { session: grown } = await test.store.appendMessages({ ...session, messages: [T("c")] });
        const edit = { ...session, throughSequence: 3, expectedLastSequence: grown.lastSequence };
        const nothing = { text: false, payload: false, metadata: false, tags: false };
        if (round === 0) await test.store.rewindSession(edit, nothing);
        const made = { ...session, summary: "x", compactedThroughSequence: 2, expectedVersion: 0 };
        if (round === 1) await test.store.createSnapshot(made);
      }
      expect(walked).toEqual(whole);
    }
  });

  it("with a pin given answers every field from it", async () => {
    await append(...lines(5));
    const before = await contextOf(test.store);
    await append(...lines(2));
    await snapshot(6, 0);
    await rewind(6, 7);
    const again = await contextOf(test.within({}), "s", { pin: before.pin });
    expect({ ...again, session: null }).toEqual({ ...before, session: null });
    expect(again.session.lastSequence).toBe(7);
    await test.store.deleteSession("s");
    await test.store.createSession({ id: "s" });
    expect(await test.store.readContext({ sessionId: "s", pin: before.pin })).toBe(null);
  });

  it("refuses cursors of elsewhere, of another life of the session, and of two views at once", async () => {
    await append(...lines(5));
    await test.store.appendMessages({ sessionId: "other", messages: lines(5) });
    const page = (await contextOf(test.store)).messages;
    const after = page?.startCursor ?? "";
    await append(...lines(1));
    const before = (await contextOf(test.store)).messages?.endCursor ?? "";
    const read = (request: object, sessionId = "s") => refusalOf(contextOf(test.store, sessionId, { page: request }));
    expect(await read({ after })).toBe("accepted");
    expect(await read({ after, before })).toBe("BAD_USER_INPUT before");
    expect(await read({ after }, "other")).toBe("BAD_USER_INPUT after");
    for (const broken of [`${after}!`, after.slice(1), "", "x".repeat(10_000), btoa('{"s":-1}')]) {
      expect(await read({ after: broken })).toBe("BAD_USER_INPUT after");
    }
    const raw = await test.store.listMessages({
      sessionId: "s",
      page: {},
      select: { text: false, payload: false, metadata: false, tags: false },
    });
    expect(await read({ after: raw?.endCursor })).toBe("BAD_USER_INPUT after");
    expect(await read({ first: -1 })).toBe("BAD_USER_INPUT first");
    expect(await read({ first: 1, last: 1 })).toBe("BAD_USER_INPUT last");
    await test.store.deleteSession("s");
    await test.store.createSession({ id: "s" });
    await append(...lines(6));
    expect(await read({ after })).toBe("BAD_USER_INPUT after");
  });

  it("of no rows says truthfully what lies beyond, and gives the cursors back", async () => {
    expect(await test.store.readContext({ sessionId: "s", page: {} })).toBe(null);
    await test.store.createSession({ id: "s" });
    const empty = (await contextOf(test.store, "s", { page: { count: true } })).messages;
    expect(empty).toMatchObject({
      nodes: [],
      hasNextPage: false,
      hasPreviousPage: false,
      endCursor: null,
      totalCount: 0,
    });
    await append(...lines(3));
    const none = (await contextOf(test.store, "s", { page: { first: 0 } })).messages;
    expect(none).toMatchObject({ nodes: [], hasNextPage: true, hasPreviousPage: false, endCursor: null });
    const all = (await contextOf(test.store)).messages;
    const after = all?.endCursor ?? "";
    const end = (await contextOf(test.store, "s", { page: { after } })).messages;
    expect(end).toMatchObject({ nodes: [], hasNextPage: false, hasPreviousPage: true, endCursor: after });
    expect((await contextOf(test.store, "s", { page: { first: 5_000 } })).messages?.nodes).toHaveLength(3);
  });

  it("holds whole batches while they fit into 8 MiB, at least one, from either end", async () => {
    const big = "x".repeat(1_500_000);
    for (const batch of [[A("", "a"), T("a", big)], [U(big)], [A("", "b"), T("b", big)], [A("", "c")], [T("c", big)]]) {
      await append(...batch);
    }
    const forward = await contextOf(test.within({}), "s", { page: { first: 100 } });
    expect(seen(forward.nodes)).toEqual([1, 2, 3]);
    expect(forward.messages).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const rest = await contextOf(test.within({}), "s", { page: { after: forward.messages?.endCursor ?? "" } });
    expect(seen(rest.nodes)).toEqual([4, 5, 6, 7]);
    expect(rest.messages).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const backward = await contextOf(test.within({}), "s", { page: { last: 100 } });
    expect(seen(backward.nodes)).toEqual([4, 5, 6, 7]);
    expect(backward.messages).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const calls = ["d", "e", "f", "g"];
    await append(A("", ...calls));
    for (const call of calls) await append(T(call, big));
    const huge = await contextOf(test.within({}), "s", { page: { last: 1 } });
    expect(seen(huge.nodes)).toHaveLength(5);
    const once = test.within({});
    for (let read = 0; read < 2; read++) await contextOf(once, "s", { page: { last: 1 } });
    expect(await refusalOf(contextOf(once, "s", { page: { last: 1 } }))).toBe("PAYLOAD_TOO_LARGE");
  });

  it("a damaged message is UNAVAILABLE where a page holds it, and only there", async () => {
    await append(...lines(5), A("", "c"));
    const { connection } = test.handle();
    connection.sql("UPDATE raw_messages SET text_json = '\"half' WHERE sequence = 2").run();
    expect(await refusalOf(contextOf(test.store))).toBe("UNAVAILABLE");
    expect(seen((await contextOf(test.store, "s", { page: { last: 3 } })).nodes)).toEqual([5, 6, "c"]);
    expect((await test.store.readContext({ sessionId: "s" }))?.messages).toBe(null);
    connection.sql("UPDATE raw_messages SET calls_json = '[[' WHERE sequence = 6").run();
    test.reopen();
    expect(await refusalOf(test.store.readContext({ sessionId: "s" }))).toBe("UNAVAILABLE");
  });

  it("reads the skeleton of the log once for a whole walk", async () => {
    await append(...lines(50));
    let scans = 0;
    const read = (after: string | null) =>
      test.handle().read(FULL_REACH, createReadBudget(), (scope) => {
        const sql = (text: string) => {
          if (text.includes("calls_json")) scans++;
          return scope.sql(text);
        };
        return readContext({ ...scope, sql }, { sessionId: "s", page: { first: 10, after } })?.messages;
      });
    let page = read(null);
    while (page?.hasNextPage) page = read(page.endCursor);
    expect(scans).toBe(1);
    await append(...lines(1));
    read(page?.startCursor ?? null);
    expect(scans).toBe(2);
  });
});

describe("looking back", () => {
  it("shows the state when the log ended there: what was stored before the next message counts", async () => {
    await append(...lines(4));
    await snapshot(2, 0);
    await append(...lines(2));
    await rewind(4, 6);
    await append(U("again"));
    await snapshot(4, 1);
    await rewind(0, 7);
    await append(U("afresh"));
    expect(await at(0)).toEqual({ version: 0, last: 0, seen: [] });
    expect(await at(3)).toEqual({ version: 0, last: 3, seen: [1, 2, 3] });
    expect(await at(4)).toEqual({ version: 1, last: 4, seen: [3, 4] });
    expect(await at(5)).toEqual({ version: 1, last: 5, seen: [3, 4, 5] });
    expect(await at(6)).toEqual({ version: 1, last: 6, seen: [3, 4] });
    expect(await at(7)).toEqual({ version: 0, last: 7, seen: [] });
    for (const now of [8, 9, 2_147_483_647, null]) expect(await at(now)).toEqual({ version: 0, last: 8, seen: [8] });
    expect(await refusalOf(at(-1))).toBe("BAD_USER_INPUT throughSequence");
  });

  it("judges completeness by the log of that moment", async () => {
    await append(S("prompt"), A("", "c"), U("late"), T("c"));
    const back = await contextOf(test.store, "s", { throughSequence: 3 });
    expect([seen(back.nodes), repairsIn(back.repairs)]).toEqual([[2, "c", 3], ["MISSING_RESULT 2 c"]]);
    const now = await contextOf(test.store);
    expect([seen(now.nodes), repairsIn(now.repairs)]).toEqual([[2, 4, 3], ["LATE_RESULT 4 c"]]);
    const pin: ContextPin = { ...now.pin, lastSequence: 3 };
    expect((await contextOf(test.store, "s", { pin })).repairs).toEqual(back.repairs);
  });
});
