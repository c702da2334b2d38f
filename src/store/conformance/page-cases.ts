import type { SessionStore } from "../contract.ts";
import { EVERYTHING, type RawMessage } from "../model.ts";
import type { Page } from "../page.ts";
import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame, expectThat } from "./expectation.ts";
import { assistant, result, user } from "./messages.ts";

async function fill(store: SessionStore, sessionId = "s"): Promise<void> {
  for (let batch = 0; batch < 3; batch++) {
    const messages = Array.from({ length: 10 }, (_, index) =>
      index % 5 === 0 ? user(`u${index}`) : result(`c${index}`),
    );
    await store.appendMessages({ sessionId, messages });
  }
}

async function pageOf(store: SessionStore, page: object, range: object = {}): Promise<Page<RawMessage>> {
  const found = await store.listMessages({ sessionId: "s", page, select: EVERYTHING, ...range });
  if (found === null) throw new Error("the session is missing");
  return found;
}

const sequences = (page: Page<RawMessage>) => page.nodes.map((message) => message.sequence);

/** Pages of the raw log. */
export const pageCases: readonly ConformanceCase[] = [
  storeCase("walks in both directions meet every message once, whatever is appended meanwhile", async (store) => {
    await fill(store);
    const walk = async (direction: "forward" | "backward", range: object): Promise<number[]> => {
      const met: number[] = [];
      for (let cursor: string | null = null; ; ) {
        const request = direction === "forward" ? { first: 7, after: cursor } : { last: 7, before: cursor };
        const page: Page<RawMessage> = await pageOf(store, request, range);
        if (direction === "forward") met.push(...sequences(page));
        else met.unshift(...sequences(page));
        const more = direction === "forward" ? page.hasNextPage : page.hasPreviousPage;
        cursor = direction === "forward" ? page.endCursor : page.startCursor;
        if (!more) return met;
      }
    };
    const all = Array.from({ length: 30 }, (_, index) => index + 1);
    expectSame([await walk("forward", {}), await walk("backward", {})], [all, all], "the whole log");
    const users = all.filter((sequence) => sequence % 5 === 1);
    const filtered = { roles: ["USER"] };
    expectSame([await walk("forward", filtered), await walk("backward", filtered)], [users, users], "one role");
    const range = { afterSequence: 3, throughSequence: 9 };
    expectSame(await walk("backward", range), all.slice(3, 9), "a range");
  }),
  storeCase("hasNextPage and hasPreviousPage are exact, with either cursor and with both", async (store) => {
    await fill(store);
    const whole = await pageOf(store, { first: 1_000 });
    const at = (sequence: number) => whole.cursors[sequence - 1];
    const flags = async (request: object) => {
      const page = await pageOf(store, request);
      return [sequences(page).join(), page.hasPreviousPage, page.hasNextPage];
    };
    expectSame(await flags({ first: 0 }), ["", false, true], "first 0");
    expectSame(await flags({ first: 2 }), ["1,2", false, true], "the start");
    expectSame(await flags({ first: 5, after: at(28) }), ["29,30", true, false], "the end");
    expectSame(await flags({ first: 9, after: at(3), before: at(6) }), ["4,5", true, true], "between two cursors");
    expectSame(await flags({ last: 2, before: at(3) }), ["1,2", false, true], "backward to the start");
    expectSame(await flags({ last: 1, after: at(3), before: at(6) }), ["5", true, true], "backward between");
    expectSame(await flags({ first: 2, offset: 28 }), ["29,30", true, false], "offset");
    expectSame(await flags({ first: 2, offset: 30 }), ["", true, false], "offset at the end");
    expectSame((await pageOf(store, { count: true, first: 1 })).totalCount, 30, "totalCount");
    expectSame((await pageOf(store, { count: true }, { roles: ["USER"] })).totalCount, 6, "filtered totalCount");
  }),
  storeCase("what is no cursor of this list is refused, as are arguments that contradict each other", async (store) => {
    await fill(store);
    await fill(store, "other");
    const cursor = (await pageOf(store, { first: 1 })).endCursor ?? "";
    const sessions = await store.listSessions({ page: {} });
    const foreign = await store.listMessages({ sessionId: "other", page: { first: 1 }, select: EVERYTHING });
    const broken = [`${cursor}!`, cursor.slice(1), "", "x".repeat(10_000), btoa('{"s":-1}'), btoa("'; --")];
    for (const after of [...broken, sessions.endCursor, foreign?.endCursor]) {
      await expectRefusal(pageOf(store, { after }), "BAD_USER_INPUT");
    }
    const mixed = [{ first: -1 }, { last: -1 }, { first: 1, last: 1 }, { offset: -1 }, { offset: 1, after: cursor }];
    for (const request of [...mixed, { offset: 1, last: 1 }]) {
      await expectRefusal(pageOf(store, request), "BAD_USER_INPUT");
    }
  }),
  storeCase("cursors of a deleted session are refused by the one that has its id now", async (store) => {
    await fill(store);
    const after = (await pageOf(store, { first: 3 })).endCursor;
    await store.deleteSession("s");
    await store.createSession({ id: "s" });
    await fill(store);
    await expectRefusal(pageOf(store, { after }), "BAD_USER_INPUT");
  }),
  storeCase("a page is bounded in bytes, gives at least one row, and says that more follow", async (store) => {
    const large = { ...assistant("x".repeat(3 * 1024 * 1024)) };
    for (let count = 0; count < 5; count++) await store.appendMessages({ sessionId: "s", messages: [large] });
    const first = await pageOf(store, { first: 100 });
    expectThat(first.nodes.length >= 1 && first.nodes.length < 5, "a page of fewer rows than asked for");
    expectSame([first.hasPreviousPage, first.hasNextPage], [false, true], "the first page");
    const last = await pageOf(store, { last: 100 });
    expectSame(sequences(last).at(-1), 5, "anchored at the end");
  }),
];
