import { afterEach, beforeEach, expect, it } from "vitest";
import type { DumpRecord } from "../../../src/store/contract.ts";
import { EVERYTHING, type UserId } from "../../../src/store/model.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let from: TestStore;
let to: TestStore;
beforeEach(() => {
  from = openTestStore();
  to = openTestStore();
});
afterEach(() => {
  from.dispose();
  to.dispose();
});

async function fill(): Promise<void> {
  const { store } = from;
  const run = await store.startRun({ sessionId: "a", requestId: "r", session: { title: "T", userId: "u" } });
  const assistant = { assistant: { text: "half \ud83d", provider: "p", toolCalls: [{ id: "c", name: "n" }] } };
  const messages = [{ message: assistant, usage: { inputTokens: 3 }, metadata: { k: 1 } }];
  await store.appendMessages({ sessionId: "a", runId: run.id, messages });
  for (let batch = 0; batch < 5; batch++) {
    await store.appendMessages({ sessionId: "b", messages: Array(100).fill({ message: { user: { text: "x" } } }) });
  }
  const event = { type: "CUSTOM", phase: "GENERATING", name: "n", payload: { deep: [1] } } as const;
  await store.recordRunEvents({ runId: run.id, events: [event] });
  await store.createSession({ id: "gone" });
  await store.deleteSession("gone");
}

async function recordsOf(test: TestStore): Promise<DumpRecord[]> {
  const records: DumpRecord[] = [];
  for await (const record of test.store.dump()) records.push(record);
  return records;
}

async function* each(records: readonly DumpRecord[]): AsyncGenerator<DumpRecord> {
  yield* records;
}

it("moves everything, exactly, through JSON; what was deleted stays deleted", async () => {
  await fill();
  const records = await recordsOf(from);
  const wire = JSON.parse(JSON.stringify(records)) as readonly DumpRecord[];
  await to.store.load(each(wire));
  expect(await recordsOf(to)).toEqual(records);
  const read = async (test: TestStore) => ({
    sessions: await test.store.listSessions({ page: { count: true } }),
    messages: await test.store.listMessages({ sessionId: "a", page: {}, select: EVERYTHING }),
    runs: await test.store.listRuns({ page: {} }),
    usage: (await test.store.tenantUsage()).tokens,
    changes: await test.store.changesAfter(0, 10),
  });
  expect(await read(to)).toEqual(await read(from));
  const late = { sessionId: "gone", messages: [{ message: { user: { text: "late" } } }] };
  expect(await refusalOf(to.store.appendMessages(late))).toBe("NOT_FOUND");
  await to.store.appendMessages({ sessionId: "b", messages: [{ message: { user: { text: "next" } } }] });
  expect((await to.store.getSessions(["b"]))[0]?.lastSequence).toBe(501);
});

it("refuses a filled store, a narrowed reach, and any wrong record, and leaves the store empty", async () => {
  await fill();
  const records = await recordsOf(from);
  expect(await refusalOf(from.store.load(each(records)))).toBe("BAD_USER_INPUT records");
  expect(await refusalOf(recordsOf({ ...from, store: from.within({ userId: "u" as UserId }) }))).toBe("FORBIDDEN");
  const at = records.findIndex((record) => record.kind === "message");
  const damaged = (change: object) =>
    records.map((record, index) => (index === at ? { ...record, record: { ...record.record, ...change } } : record));
  const wrong: readonly (readonly [readonly DumpRecord[], string])[] = [
    [damaged({ text_json: "no literal" }), `records.${at}`],
    [damaged({ surplus: 1 }), `records.${at}`],
    [damaged({ sequence: "one" }), `records.${at}`],
    [damaged({ metadata: { nested: true } }), `records.${at}`],
    [records.filter((_, index) => index !== at), "records"],
    [records.filter((record) => record.kind !== "header"), "records"],
  ];
  for (const [given, path] of wrong) {
    expect(await refusalOf(to.store.load(each(given)))).toBe(`BAD_USER_INPUT ${path}`);
    expect((await recordsOf(to)).map((record) => record.kind)).toEqual(["header"]);
  }
  await to.store.load(each(records));
  expect(await recordsOf(to)).toEqual(records);
});

it("is one view: what is appended meanwhile is not in it, a deletion meanwhile ends it", async () => {
  await fill();
  const before = await recordsOf(from);
  const during: DumpRecord[] = [];
  for await (const record of from.store.dump()) {
    if (during.length === 0) {
      await from.store.appendMessages({ sessionId: "b", messages: [{ message: { user: { text: "late" } } }] });
    }
    during.push(record);
  }
  expect(during).toEqual(before);
  const iterator = from.store.dump()[Symbol.asyncIterator]();
  await iterator.next();
  await from.store.deleteSession("b");
  const rest = async () => {
    while ((await iterator.next()).done !== true);
  };
  expect(await refusalOf(rest())).toBe("UNAVAILABLE");
});
