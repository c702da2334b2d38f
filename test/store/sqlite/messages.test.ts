import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AppendMessageInput } from "../../../src/store/contract.ts";
import { EVERYTHING, type RawMessage, type UserId } from "../../../src/store/model.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const user = (text: string, id?: string): AppendMessageInput => ({ message: { user: { text } }, ...(id && { id }) });
const append = (messages: readonly AppendMessageInput[], sessionId = "s", more = {}) =>
  test.store.appendMessages({ sessionId, messages, ...more });

async function walk(
  sessionId: string,
  direction: "forward" | "backward",
  rows: number,
): Promise<readonly RawMessage[]> {
  const pages: RawMessage[][] = [];
  let cursor: string | null = null;
  for (;;) {
    const page = direction === "forward" ? { first: rows, after: cursor } : { last: rows, before: cursor };
    // A page is an operation of its own, with a read budget of its own.
    const answer = await test.within({}).listMessages({ sessionId, page, select: EVERYTHING });
    if (answer === null) throw new Error("the session is there");
    pages.push([...answer.nodes]);
    const more = direction === "forward" ? answer.hasNextPage : answer.hasPreviousPage;
    if (!more) break;
    cursor = direction === "forward" ? answer.endCursor : answer.startCursor;
  }
  return direction === "forward" ? pages.flat() : pages.reverse().flat();
}

describe("an append", () => {
  it("is there after a restart, byte for byte, whatever its text", async () => {
    const text = "W\u0000\u0001\u001b[31m\r\n\u2028\ufeff ab\ud83d";
    const args = '{"order":9007199254740993,"zeta":1,"alpha":[1.0,1e21,-0],"10":3}';
    const assistant = {
      assistant: { text, toolCalls: [{ id: "c", name: "n", arguments: args }], replayBlocks: [args] },
    };
    const { messages } = await append([{ message: assistant, metadata: JSON.parse('{"__proto__":{"a":1}}') }]);
    test.reopen();
    const [read] = await walk("s", "forward", 10);
    expect(read).toEqual(messages[0]);
    expect(read?.text).toBe(text);
    expect(JSON.parse(read?.payload ?? "").toolCalls[0].arguments).toBe(args);
    expect(JSON.stringify(read?.metadata)).toBe('{"__proto__":{"a":1}}');
    expect(read?.byteSize).toBe(Buffer.byteLength(read?.payload ?? ""));
  });

  it("sent twenty times in parallel is stored once, and a stale expectation does not break the retry", async () => {
    const batch = [user("a", crypto.randomUUID()), user("b", crypto.randomUUID())];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => append(batch, "s", { expectedLastSequence: 0 })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.messages))).size).toBe(1);
    expect(answers.map((answer) => answer.duplicates).sort()).toEqual([0, ...Array(19).fill(2)]);
    expect((await test.store.getSessions(["s"]))[0]).toMatchObject({ lastSequence: 2, messageCount: 2 });
  });

  it("with another message under a known id is a conflict, and nothing of it is stored", async () => {
    const id = crypto.randomUUID();
    await append([user("a", id)]);
    expect(await refusalOf(append([user("new"), user("changed", id)]))).toBe("CONFLICT CONTENT_DIFFERS");
    expect(await refusalOf(append([user("a", id)], "other"))).toBe("CONFLICT ID_TAKEN");
    const twice = crypto.randomUUID();
    expect(await refusalOf(append([user("x", twice), user("y", twice)]))).toBe("CONFLICT CONTENT_DIFFERS");
    expect((await append([user("x", twice), user("x", twice)])).duplicates).toBe(1);
    expect((await walk("s", "forward", 10)).map((message) => message.text)).toEqual(["a", "x"]);
    expect(await test.store.getSessions(["other"])).toEqual([null]);
  });

  it("of two writers who expect the same end, one wins each round; the log stays dense", async () => {
    for (let round = 0; round < 20; round++) {
      const results = await Promise.all([
        refusalOf(append([user("a")], "s", { expectedLastSequence: round })),
        refusalOf(append([user("b")], "s", { expectedLastSequence: round })),
      ]);
      expect(results.sort()).toEqual(["CONFLICT STALE_SEQUENCE", "accepted"]);
    }
    expect((await walk("s", "forward", 7)).map((message) => message.sequence)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  it("is all or none where a quota is crossed in its middle, and a retry still gets its records", async () => {
    test.dispose();
    test = openTestStore({ maxMessages: 3 });
    const first = [user("a", crypto.randomUUID()), user("b", crypto.randomUUID())];
    await append(first);
    expect(await refusalOf(append([user("c"), user("d")]))).toBe("QUOTA_EXCEEDED");
    expect((await append(first)).duplicates).toBe(2);
    expect((await test.store.getSessions(["s"]))[0]?.lastSequence).toBe(2);
  });

  it("of a role that the key may not write is refused, and hidden roles do not exist in lists and counts", async () => {
    await append([user("a"), { message: { system: { text: "secret" } } }, user("b")]);
    const narrow = test.within({ visibleRoles: new Set(["USER"]), writableRoles: new Set(["USER"]) });
    expect(
      await refusalOf(narrow.appendMessages({ sessionId: "s", messages: [{ message: { agent: { text: "" } } }] })),
    ).toBe("FORBIDDEN");
    const page = await narrow.listMessages({ sessionId: "s", page: { count: true }, select: EVERYTHING });
    expect(page?.nodes.map((message) => message.text)).toEqual(["a", "b"]);
    expect(page?.totalCount).toBe(2);
    expect((await narrow.lastMessage("s", ["SYSTEM"], EVERYTHING)) ?? null).toBeNull();
  });
});

describe("a page walk", () => {
  it("equals the unpaged log in both directions, with rows and bytes both biting", async () => {
    const sizes = fc.array(fc.constantFrom(1, 10, 3 * 1024 * 1024), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 5 }), async (lengths, rows) => {
        const sessionId = crypto.randomUUID();
        await append(
          lengths.map((length, index) => user(`${index}`.padEnd(length, "x"))),
          sessionId,
        );
        const expected = lengths.map((_, index) => index + 1);
        expect((await walk(sessionId, "forward", rows)).map((message) => message.sequence)).toEqual(expected);
        expect((await walk(sessionId, "backward", rows)).map((message) => message.sequence)).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });

  it("refuses cursors of another session and of a deleted one that has the same id again", async () => {
    await append([user("a"), user("b")]);
    await append([user("a")], "other");
    const page = await test.store.listMessages({ sessionId: "s", page: { first: 1 }, select: EVERYTHING });
    const after = page?.endCursor ?? "";
    const list = (sessionId: string) => test.store.listMessages({ sessionId, page: { after }, select: EVERYTHING });
    expect(await refusalOf(list("other"))).toBe("BAD_USER_INPUT after");
    await test.store.deleteSession("s");
    await test.store.createSession({ id: "s" });
    expect(await refusalOf(list("s"))).toBe("BAD_USER_INPUT after");
  });

  it("knows its extremes", async () => {
    await append([user("a"), user("b"), user("c")]);
    const list = (page: object, more: object = {}) =>
      test.store.listMessages({ sessionId: "s", page, select: EVERYTHING, ...more });
    expect(await list({ first: 0 })).toMatchObject({ nodes: [], hasNextPage: true, endCursor: null });
    expect(await list({ offset: 1, first: 1 })).toMatchObject({ nodes: [{ text: "b" }], hasPreviousPage: true });
    expect(await list({}, { afterSequence: 3 })).toMatchObject({ nodes: [], hasNextPage: false });
    expect(await refusalOf(list({ first: -1 }))).toBe("BAD_USER_INPUT first");
    expect(await refusalOf(list({ first: 1, last: 1 }))).toBe("BAD_USER_INPUT last");
    expect(await refusalOf(list({ offset: 1, last: 1 }))).toBe("BAD_USER_INPUT offset");
    expect(await list({ first: 2 ** 31 - 1 })).toMatchObject({ hasNextPage: false });
  });
});

describe("what is deleted or another user's", () => {
  it("stays gone for late writers; only createSession brings the id back, empty", async () => {
    const id = crypto.randomUUID();
    await append([user("old", id)]);
    expect(await test.store.deleteSession("s")).toBe("s");
    expect(await test.store.deleteSession("s")).toBeNull();
    expect(await refusalOf(append([user("late")]))).toBe("NOT_FOUND");
    expect((await test.store.createSession({ id: "s" })).session).toMatchObject({ lastSequence: 0, messageCount: 0 });
    const { messages } = await append([user("new", id)]);
    expect(messages[0]).toMatchObject({ sequence: 1, text: "new" });
  });

  it("looks like what never was, on reads, and only its id is taken on writes", async () => {
    await test.store.createSession({ id: "theirs", userId: "u2" });
    const mine = test.within({ userId: "u1" as UserId });
    expect(await mine.getSessions(["theirs", "never"])).toEqual([null, null]);
    expect(await mine.listMessages({ sessionId: "theirs", page: {}, select: EVERYTHING })).toBeNull();
    expect(await mine.mark("theirs")).toBeNull();
    expect(await mine.deleteSession("theirs")).toBeNull();
    expect(await refusalOf(mine.updateSession({ sessionId: "theirs", title: "x" }))).toBe("NOT_FOUND");
    expect(await refusalOf(mine.createSession({ id: "theirs", allowExisting: true }))).toBe("CONFLICT ID_TAKEN");
    expect(await refusalOf(mine.createSession({ id: "x", userId: "u2" }))).toBe("FORBIDDEN");
    expect((await mine.createSession({ id: "mine" })).session.userId).toBe("u1");
  });
});
