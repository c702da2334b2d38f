import { type ConformanceCase, storeCase, timedCase } from "./case.ts";
import { expectRefusal, expectSame } from "./expectation.ts";
import { user, uuid } from "./messages.ts";

const phase = (turn: number) => ({ type: "TURN_STARTED", phase: "GENERATING", turn }) as const;

/** Runs: lease, fencing, events. */
export const runCases: readonly ConformanceCase[] = [
  storeCase("a run holds its session's lease; its own id is safe to repeat", async (store) => {
    const id = uuid();
    const run = await store.startRun({ id, sessionId: "s", requestId: "r" });
    expectSame([run.status, run.lastEventIndex, (await store.activeRun("s"))?.id], ["RUNNING", 1, id], "run");
    expectSame((await store.startRun({ id, sessionId: "s", requestId: "r" })).id, id, "repeat");
    await expectRefusal(store.startRun({ sessionId: "s" }), "CONFLICT LEASE_HELD");
    await expectRefusal(store.startRun({ id, sessionId: "s", requestId: "q" }), "CONFLICT ATTRIBUTES_DIFFER");
  }),
  storeCase("events have indexes without gaps; known ones are passed over, a gap is refused", async (store) => {
    const { id } = await store.startRun({ sessionId: "s" });
    await store.recordRunEvents({ runId: id, events: [phase(1), phase(2)], firstIndex: 2 });
    const { recorded } = await store.recordRunEvents({ runId: id, events: [phase(2), phase(3)], firstIndex: 3 });
    expectSame(
      recorded.map((event) => event.index),
      [4],
      "recorded",
    );
    await expectRefusal(store.recordRunEvents({ runId: id, events: [phase(4)], firstIndex: 9 }), "BAD_USER_INPUT");
    const events = await store.listRunEvents(id, {});
    expectSame(
      events?.nodes.map((event) => event.index),
      [1, 2, 3, 4],
      "stored",
    );
  }),
  storeCase("the first end stands, and an ended run refuses reports and appends", async (store) => {
    const { id } = await store.startRun({ sessionId: "s" });
    const end = await store.finishRun({ runId: id, status: "FAILED", error: { name: "E", message: "m" } });
    expectSame([end.ended, end.run.status, end.run.error], [true, "FAILED", { name: "E", message: "m" }], "end");
    expectSame((await store.finishRun({ runId: id, status: "COMPLETED" })).run.status, "FAILED", "second end");
    await expectRefusal(store.recordRunEvents({ runId: id, events: [] }), "CONFLICT RUN_ENDED");
    const append = { sessionId: "s", runId: id, messages: [user("late")] };
    await expectRefusal(store.appendMessages(append), "CONFLICT RUN_ENDED");
  }),
  timedCase(
    "silence beyond the lease is ABANDONED, a sign of life revives, a later run fences for good",
    "a lease is at least a second long",
    async (store, advanceSeconds) => {
      const old = await store.startRun({ sessionId: "s", leaseSeconds: 5 });
      advanceSeconds(6);
      expectSame((await store.getRuns([old.id]))[0]?.status, "ABANDONED", "status");
      expectSame((await store.recordRunEvents({ runId: old.id, events: [] })).run.status, "RUNNING", "revived");
      advanceSeconds(6);
      await store.startRun({ sessionId: "s" });
      await expectRefusal(store.recordRunEvents({ runId: old.id, events: [] }), "CONFLICT RUN_FENCED");
      expectSame((await store.finishRun({ runId: old.id, status: "FAILED" })).run.status, "FAILED", "its end");
    },
  ),
];
