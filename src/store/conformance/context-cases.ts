import type { SessionStore } from "../contract.ts";
import type { ContextMessage } from "../model.ts";
import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame } from "./expectation.ts";
import { assistant, logOf, result, user, uuid } from "./messages.ts";

async function contextOf(store: SessionStore, sessionId = "s", page: object = { first: 1_000 }) {
  const view = await store.readContext({ sessionId, page });
  if (view === null) throw new Error("the session is missing");
  return view;
}

function shape(messages: readonly ContextMessage[] | undefined): readonly (number | string)[] {
  return (messages ?? []).map(({ sequence, payload }) => sequence ?? `made ${JSON.parse(payload).toolCallId}`);
}

async function places(store: SessionStore): Promise<readonly (number | string)[]> {
  return shape((await contextOf(store)).messages?.nodes);
}

/** Contexts, snapshots, rewinds. */
export const contextCases: readonly ConformanceCase[] = [
  storeCase(
    "an unanswered call is answered as failed until its result is there; the log is not touched",
    async (store) => {
      await store.appendMessages({ sessionId: "s", messages: [user("deploy?"), assistant("", ["c1"])] });
      const before = await logOf(store, "s");
      const broken = await contextOf(store);
      expectSame(shape(broken.messages?.nodes), [1, 2, "made c1"], "context");
      expectSame(broken.repairs, [{ kind: "MISSING_RESULT", sequence: 2, toolCallId: "c1" }], "repairs");
      expectSame(await logOf(store, "s"), before, "the log");
      await store.appendMessages({ sessionId: "s", messages: [result("c1")] });
      const whole = await contextOf(store);
      expectSame([shape(whole.messages?.nodes), whole.repairs], [[1, 2, 3], []], "answered");
    },
  ),
  storeCase("late, doubled and orphaned results are mended and named", async (store) => {
    const messages = [result("c0"), assistant("", ["c1"]), user("still there?"), result("c1"), result("c1")];
    await store.appendMessages({ sessionId: "s", messages });
    const view = await contextOf(store);
    expectSame(shape(view.messages?.nodes), [2, 4, 3], "context");
    expectSame(
      view.repairs.map(({ kind, sequence }) => [kind, sequence]),
      [
        ["ORPHAN_RESULT", 1],
        ["LATE_RESULT", 4],
        ["DUPLICATE_RESULT", 5],
      ],
      "repairs",
    );
  }),
  storeCase("a snapshot stands for what it compacts; a stale version is CONFLICT, a repeat is safe", async (store) => {
    await store.appendMessages({ sessionId: "s", messages: [user("a"), user("b"), user("c")] });
    const id = uuid();
    const input = { id, sessionId: "s", summary: "half \ud83d", compactedThroughSequence: 2, expectedVersion: 0 };
    const snapshot = await store.createSnapshot(input);
    expectSame([snapshot.version, snapshot.summary], [1, "half \ud83d"], "snapshot");
    expectSame(await store.createSnapshot({ ...input, expectedVersion: 9 }), snapshot, "repeat");
    await expectRefusal(store.createSnapshot({ ...input, summary: "other" }), "CONFLICT CONTENT_DIFFERS");
    const next = { sessionId: "s", summary: "x", compactedThroughSequence: 3 };
    await expectRefusal(store.createSnapshot({ ...next, expectedVersion: 0 }), "CONFLICT STALE_VERSION");
    const back = { ...next, compactedThroughSequence: 2, expectedVersion: 1 };
    await expectRefusal(store.createSnapshot(back), "BAD_USER_INPUT");
    await expectRefusal(store.createSnapshot({ ...back, compactedThroughSequence: 4 }), "BAD_USER_INPUT");
    const view = await contextOf(store);
    expectSame([view.snapshotVersion, view.snapshot?.id, await places(store)], [1, id, [3]], "context");
  }),
  storeCase("a rewind takes messages out of the context, not out of the log; 0 retires the snapshot", async (store) => {
    await store.appendMessages({ sessionId: "s", messages: [user("a"), user("b"), user("c")] });
    await store.createSnapshot({ sessionId: "s", summary: "x", compactedThroughSequence: 1, expectedVersion: 0 });
    const select = { text: true, payload: false, metadata: false, tags: false };
    const input = { id: uuid(), sessionId: "s", throughSequence: 2, expectedLastSequence: 3 };
    const rewound = await store.rewindSession(input, select);
    expectSame(
      rewound.removed.map((message) => message.sequence),
      [3],
      "removed",
    );
    await store.appendMessages({ sessionId: "s", messages: [user("d")] });
    expectSame(await places(store), [2, 4], "context");
    expectSame((await store.rewindSession(input, select)).removed.length, 1, "repeat");
    const stale = { sessionId: "s", throughSequence: 2, expectedLastSequence: 3 };
    await expectRefusal(store.rewindSession(stale, select), "CONFLICT STALE_SEQUENCE");
    const below = { sessionId: "s", throughSequence: 0, expectedLastSequence: 4 };
    await store.rewindSession(below, select);
    expectSame([(await contextOf(store)).snapshotVersion, await places(store)], [0, []], "emptied");
    const fresh = { sessionId: "s", summary: "y", compactedThroughSequence: 4, expectedVersion: 0 };
    expectSame((await store.createSnapshot(fresh)).version, 2, "the next version never used");
    expectSame((await logOf(store, "s")).length, 4, "the log");
  }),
  storeCase("pages of a context are one view: joined they are the whole at their pin", async (store) => {
    const calls = Array.from({ length: 30 }, (_, index) => `c${index}`);
    const messages = [user("a"), assistant("", calls), ...calls.map((id) => result(id)), user("b"), user("c")];
    await store.appendMessages({ sessionId: "s", messages });
    const whole = await places(store);
    const joined: (number | string)[] = [];
    for (let after: string | null = null; ; ) {
      const view = await contextOf(store, "s", { first: 7, after });
      joined.push(...shape(view.messages?.nodes));
      await store.appendMessages({ sessionId: "s", messages: [user("meanwhile")] });
      if (view.messages?.hasNextPage !== true) break;
      after = view.messages.endCursor;
    }
    expectSame(joined, whole, "joined pages");
  }),
  storeCase(
    "looks back: what was stored before a message came counts, snapshots and rewinds included",
    async (store) => {
      await store.appendMessages({ sessionId: "s", messages: [user("a"), user("b")] });
      await store.createSnapshot({ sessionId: "s", summary: "x", compactedThroughSequence: 1, expectedVersion: 0 });
      await store.appendMessages({ sessionId: "s", messages: [user("c")] });
      const at = async (throughSequence: number) => {
        const view = await store.readContext({ sessionId: "s", throughSequence, page: {} });
        return [view?.snapshotVersion, shape(view?.messages?.nodes)];
      };
      expectSame(
        [await at(1), await at(2), await at(3), await at(99)],
        [
          [0, [1]],
          [1, [2]],
          [1, [2, 3]],
          [1, [2, 3]],
        ],
        "views",
      );
      await expectRefusal(store.readContext({ sessionId: "s", throughSequence: -1 }), "BAD_USER_INPUT");
      expectSame(await store.readContext({ sessionId: "none" }), null, "a missing session");
    },
  ),
];
