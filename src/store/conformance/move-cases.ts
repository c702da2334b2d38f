import type { DumpRecord, SessionStore } from "../contract.ts";
import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame } from "./expectation.ts";
import { assistant, logOf, user } from "./messages.ts";

async function recordsOf(store: SessionStore): Promise<readonly DumpRecord[]> {
  const records: DumpRecord[] = [];
  for await (const record of store.dump()) records.push(record);
  return records;
}

async function* each(records: readonly DumpRecord[]): AsyncGenerator<DumpRecord> {
  yield* records;
}

/** Dump and load. */
export const moveCases: readonly ConformanceCase[] = [
  storeCase("a dump gives every record; a filled store refuses to be loaded", async (store) => {
    await store.appendMessages({ sessionId: "s", messages: [user("a"), assistant("b", ["c"])] });
    await store.startRun({ sessionId: "s" });
    const records = await recordsOf(store);
    const kinds = new Set(records.map((record) => record.kind));
    expectSame(
      ["header", "session", "message", "run", "runEvent", "usage"].every((kind) => kinds.has(kind as never)),
      true,
      "kinds",
    );
    expectSame(JSON.parse(JSON.stringify(records)), records, "JSON-safe records");
    await expectRefusal(store.load(each(records)), "BAD_USER_INPUT");
    expectSame((await logOf(store, "s")).length, 2, "the log");
  }),
  {
    name: "what was dumped is loaded exactly into another store",
    needsClock: null,
    async run(open) {
      const [from, to] = [await open(), await open()];
      try {
        const store = from.within();
        await store.appendMessages({ sessionId: "s", messages: [user("half \\ud83d"), assistant("b", ["c"])] });
        await store.createSnapshot({ sessionId: "s", summary: "x", compactedThroughSequence: 1, expectedVersion: 0 });
        const records = await recordsOf(store);
        await to.within().load(each(records));
        expectSame(await recordsOf(to.within()), records, "records");
        expectSame(await logOf(to.within(), "s"), await logOf(store, "s"), "log");
      } finally {
        await from.close();
        await to.close();
      }
    },
  },
];
