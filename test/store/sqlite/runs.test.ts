import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunEventInput, StartRunInput } from "../../../src/store/contract.ts";
import type { UserId } from "../../../src/store/model.ts";
import { RUN_VERDICTS } from "../../../src/store/run-state.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const uuid = () => crypto.randomUUID();
const user = (text: string) => ({ message: { user: { text } } });
const start = (input: Partial<StartRunInput> = {}) => test.store.startRun({ sessionId: "s", ...input });
const report = (runId: string, events: readonly RunEventInput[] = [], firstIndex?: number) =>
  test.store.recordRunEvents({ runId, events, ...(firstIndex === undefined ? {} : { firstIndex }) });
const phase = (turn = 0): RunEventInput => ({ type: "TURN_STARTED", phase: "GENERATING", turn });
const delta = (text: string): RunEventInput => ({ type: "TEXT_DELTA", phase: "GENERATING", delta: text });
const silence = (seconds: number) => {
  test.time.wallMs += seconds * 1000;
};
const indexes = async (runId: string) =>
  (await test.store.listRunEvents(runId, {}))?.nodes.map((event) => `${event.index} ${event.type}`);

describe("a run", () => {
  it("starts, takes the lease, makes its session, and is the active one", async () => {
    const run = await start({ session: { title: "T", agentName: "helper" }, requestId: "r1" });
    expect(run).toMatchObject({ status: "RUNNING", phase: "CREATED", turn: 0, agentName: "helper", requestId: "r1" });
    expect(run.leaseExpiresAt - run.startedAt).toBe(60_000_000);
    expect(await test.store.activeRun("s")).toEqual(run);
    expect((await test.store.getSessions(["s"]))[0]).toMatchObject({ title: "T", agentName: "helper" });
    expect(await indexes(run.id)).toEqual(["1 RUN_STARTED"]);
  });

  it("comes back unchanged for the same id, renewed; another session or request is refused", async () => {
    const id = uuid();
    const first = await start({ id, requestId: "r1" });
    silence(10);
    const again = await start({ id: id.toUpperCase(), requestId: "r1" });
    expect(again.id).toBe(first.id);
    expect(again.leaseExpiresAt).toBeGreaterThan(first.leaseExpiresAt);
    expect(await refusalOf(start({ id, requestId: "r2" }))).toBe("CONFLICT ATTRIBUTES_DIFFER");
    expect(await refusalOf(start({ id, sessionId: "other" }))).toBe("CONFLICT ATTRIBUTES_DIFFER");
    expect(await test.store.getSessions(["other"])).toEqual([null]);
    expect((await test.store.listRuns({ page: {} }))?.nodes).toHaveLength(1);
  });

  it("holds the lease against others until it has been silent for longer", async () => {
    const first = await start({ leaseSeconds: 5 });
    const error = await start().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ details: { reason: "LEASE_HELD", runId: first.id, retryAfter: 5 } });
    silence(6);
    expect(await test.store.activeRun("s")).toBeNull();
    expect((await test.store.latestRun("s"))?.status).toBe("ABANDONED");
    const second = await start();
    expect((await test.store.activeRun("s"))?.id).toBe(second.id);
  });

  it("E7: is ABANDONED by time, through a restart, and a late sign of life revives it", async () => {
    const run = await start({ leaseSeconds: 5 });
    silence(60);
    test.reopen();
    expect((await test.store.getRuns([run.id]))[0]?.status).toBe("ABANDONED");
    expect((await report(run.id)).run.status).toBe("RUNNING");
    const { run: done, ended } = await test.store.finishRun({ runId: run.id, status: "COMPLETED" });
    expect([done.status, done.phase, ended]).toEqual(["COMPLETED", "COMPLETED", true]);
  });

  it("is fenced for good by a later one, ended or not; only its end is still recorded", async () => {
    const old = await start({ leaseSeconds: 1 });
    silence(2);
    const next = await start();
    await test.store.finishRun({ runId: next.id, status: "COMPLETED" });
    const [session] = await test.store.getSessions(["s"]);
    expect(await refusalOf(report(old.id))).toBe("CONFLICT RUN_FENCED");
    expect(await refusalOf(start({ id: old.id }))).toBe("CONFLICT RUN_FENCED");
    const append = { sessionId: "s", runId: old.id, messages: [user("late")] };
    expect(await refusalOf(test.store.appendMessages(append))).toBe("CONFLICT RUN_FENCED");
    silence(1);
    expect((await test.store.finishRun({ runId: old.id, status: "FAILED" })).run.status).toBe("FAILED");
    expect(await test.store.getSessions(["s"])).toEqual([session]);
  });

  it("ends once: the first end stands, and an ended run refuses reports and appends", async () => {
    const run = await start();
    await test.store.finishRun({ runId: run.id, status: "CANCELLED", error: { name: "", message: "ignored" } });
    const again = await test.store.finishRun({ runId: run.id, status: "COMPLETED" });
    expect([again.run.status, again.run.error, again.ended]).toEqual(["CANCELLED", null, false]);
    expect(await refusalOf(report(run.id))).toBe("CONFLICT RUN_ENDED");
    const append = { sessionId: "s", runId: run.id, messages: [user("late")] };
    expect(await refusalOf(test.store.appendMessages(append))).toBe("CONFLICT RUN_ENDED");
    expect((await start({ id: run.id })).status).toBe("CANCELLED");
    expect(await indexes(run.id)).toEqual(["1 RUN_STARTED", "2 RUN_CANCELLED"]);
  });

  it("keeps an error with FAILED, odd text and all", async () => {
    const run = await start();
    const error = { name: "Boom\u0000", message: "half \ud83d" };
    expect((await test.store.finishRun({ runId: run.id, status: "FAILED", error })).run.error).toEqual(error);
  });

  it("counts an append that names it, renews its lease, and refuses it in another session", async () => {
    const run = await start({ leaseSeconds: 10 });
    silence(9);
    const usage = { inputTokens: 5, outputTokens: 2 };
    const message = { assistant: { text: "hi" } };
    await test.store.appendMessages({ sessionId: "s", runId: run.id, messages: [{ message, usage, turn: 3 }] });
    const [after] = await test.store.getRuns([run.id]);
    expect(after?.usage.inputTokens).toBe(5);
    const renewedBy = (after?.leaseExpiresAt ?? 0) - run.leaseExpiresAt;
    expect(Math.round(renewedBy / 1_000_000)).toBe(9);
    const page = await test.store.listRunMessages(
      run.id,
      {},
      { text: true, payload: false, metadata: false, tags: false },
    );
    expect(page?.nodes.map((node) => [node.sequence, node.runId, node.turn])).toEqual([[1, run.id, 3]]);
    const other = { sessionId: "elsewhere", runId: run.id, messages: [user("x")] };
    expect(await refusalOf(test.store.appendMessages(other))).toBe("NOT_FOUND");
    expect(await test.store.getSessions(["elsewhere"])).toEqual([null]);
  });

  it("asks a live run to cancel, once; an ended one comes back as it is", async () => {
    const run = await start();
    const asked = await test.store.requestRunCancel(run.id);
    silence(1);
    expect((await test.store.requestRunCancel(run.id)).cancelRequestedAt).toBe(asked.cancelRequestedAt);
    expect((await report(run.id)).run.cancelRequestedAt).not.toBeNull();
    await test.store.finishRun({ runId: run.id, status: "CANCELLED" });
    expect((await test.store.requestRunCancel(run.id)).status).toBe("CANCELLED");
    expect(await refusalOf(test.store.requestRunCancel(uuid()))).toBe("NOT_FOUND");
  });

  it("E1: of a deleted session is gone, and no late write brings the session back", async () => {
    const run = await start();
    await test.store.deleteSession("s");
    expect(await refusalOf(report(run.id, [phase()]))).toBe("NOT_FOUND");
    expect(await refusalOf(test.store.finishRun({ runId: run.id, status: "COMPLETED" }))).toBe("NOT_FOUND");
    expect(await refusalOf(start())).toBe("NOT_FOUND");
    expect(await test.store.getRuns([run.id])).toEqual([null]);
    await test.store.createSession({ id: "s" });
    expect((await start({ id: run.id })).id).toBe(run.id);
    expect((await test.store.listRuns({ sessionId: "s", page: {} }))?.nodes).toHaveLength(1);
  });

  it("decides every command in every standing", () => {
    expect(Object.values(RUN_VERDICTS).flatMap((row) => Object.values(row))).toHaveLength(15);
  });
});

describe("a report", () => {
  it("gives indexes to deltas too, stores all but them, and survives a restart", async () => {
    const run = await start();
    const { recorded } = await report(run.id, [phase(1), delta("a"), delta("b")]);
    expect(recorded.map((event) => event.index)).toEqual([2, 3, 4]);
    test.reopen();
    expect((await report(run.id, [phase(2)])).recorded[0]?.index).toBe(5);
    expect(await indexes(run.id)).toEqual(["1 RUN_STARTED", "2 TURN_STARTED", "5 TURN_STARTED"]);
  });

  it("passes over what is recorded already; a known report is safe even after the end", async () => {
    const run = await start();
    await report(run.id, [phase(1), phase(2)], 2);
    const overlap = await report(run.id, [phase(2), phase(3)], 3);
    expect(overlap.recorded.map((event) => [event.index, event.turn])).toEqual([[4, 3]]);
    await test.store.finishRun({ runId: run.id, status: "COMPLETED" });
    expect((await report(run.id, [phase(1), phase(2)], 2)).recorded).toEqual([]);
    expect(await refusalOf(report(run.id, [phase(9)], 6))).toBe("CONFLICT RUN_ENDED");
  });

  it("refuses gaps, own events, terminal phases, and events without what they need", async () => {
    const { id } = await start();
    expect(await refusalOf(report(id, [phase()], 3))).toBe("BAD_USER_INPUT firstIndex");
    expect(await refusalOf(report(id, [phase()], 0))).toBe("BAD_USER_INPUT firstIndex");
    const refusals: readonly (readonly [Partial<RunEventInput>, string])[] = [
      [{ type: "RUN_STARTED" }, "type"],
      [{ phase: "FAILED" }, "phase"],
      [{ type: "CUSTOM" }, "name"],
      [{ type: "CUSTOM", name: "x".repeat(201) }, "name"],
      [{ type: "TEXT_DELTA" }, "delta"],
      [{ delta: "x" }, "delta"],
      [{ type: "TEXT_DELTA", delta: "x".repeat(65_537) }, "delta"],
      [{ turn: -1 }, "turn"],
      [{ messageId: "no" }, "messageId"],
      [{ payload: { big: "x".repeat(70_000) } }, "payload"],
      [{ toolCall: { id: "", name: "n" } }, "toolCall.id"],
    ];
    for (const [event, field] of refusals) {
      const refused = await refusalOf(report(id, [phase(), { ...phase(), ...event }]));
      expect(refused).toBe(`BAD_USER_INPUT events.1.${field}`);
    }
    expect(await refusalOf(report(id, Array(1001).fill(phase())))).toBe("BAD_USER_INPUT events");
    expect(await indexes(id)).toEqual(["1 RUN_STARTED"]);
  });

  it("shows the tool that was started last and has not settled, and the highest turn", async () => {
    const { id } = await start();
    const tool = (type: RunEventInput["type"], call: string): RunEventInput => ({
      ...{ type, phase: "RUNNING_TOOL", turn: 1 },
      toolCall: { id: call, name: `tool-${call}` },
    });
    await report(id, [phase(4), tool("TOOL_STARTED", "a"), tool("TOOL_STARTED", "b"), tool("TOOL_COMPLETED", "b")]);
    const [run] = await test.store.getRuns([id]);
    expect([run?.activeTool, run?.turn, run?.phase]).toEqual(["tool-a", 4, "RUNNING_TOOL"]);
    await report(id, [tool("TOOL_FAILED", "a")]);
    expect((await test.store.getRuns([id]))[0]?.activeTool).toBeNull();
  });

  it("D11: stores 10,000 events of a run; further ones are passed on only, its end is stored still", async () => {
    const { id } = await start();
    for (let call = 0; call < 10; call++) await report(id, Array(1000).fill(phase()));
    const { recorded } = await report(id, [phase()]);
    expect(recorded).toHaveLength(1);
    await test.store.finishRun({ runId: id, status: "COMPLETED" });
    const page = await test.store.listRunEvents(id, { last: 2, count: true });
    expect(page?.totalCount).toBe(10_001);
    expect(page?.nodes.map((event) => event.index)).toEqual([10_000, 10_003]);
  });

  it("moves no updatedAt, but a change number where something is stored", async () => {
    const { id } = await start();
    const [before] = await test.store.getSessions(["s"]);
    silence(1);
    await report(id, [delta("x")]);
    expect(await test.store.getSessions(["s"])).toEqual([before]);
    await report(id, [phase()]);
    const [after] = await test.store.getSessions(["s"]);
    expect(after?.updatedAt).toBe(before?.updatedAt);
    expect(after?.changeNumber).toBeGreaterThan(before?.changeNumber ?? 0);
  });
});

describe("lists of runs", () => {
  it("page newest first, by session and across, filtered by what they are now", async () => {
    const ids: string[] = [];
    for (let number = 0; number < 9; number++) {
      silence(1);
      const sessionId = `s${number % 3}`;
      const run = await start({ sessionId, requestId: `r${number % 2}`, agentName: `a${number % 2}`, leaseSeconds: 1 });
      silence(2);
      if (number % 3 === 0) await test.store.finishRun({ runId: run.id, status: "FAILED" });
      ids.unshift(run.id);
    }
    const walked: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof test.store.listRuns>> = await test.store.listRuns({
        page: { first: 2, after },
      });
      walked.push(...(page?.nodes.map((run) => run.id) ?? []));
      if (page?.hasNextPage !== true) break;
      after = page.endCursor;
    }
    expect(walked).toEqual(ids);
    const count = async (filter: object) => (await test.store.listRuns({ filter, page: { count: true } }))?.totalCount;
    expect(await count({ statuses: ["FAILED"] })).toBe(3);
    expect(await count({ statuses: ["ABANDONED"] })).toBe(6);
    expect(await count({ statuses: ["RUNNING"] })).toBe(0);
    expect(await count({ statuses: [] })).toBe(0);
    expect(await count({ requestId: "r1", agentNames: ["a1"] })).toBe(4);
    expect((await test.store.listRuns({ sessionId: "s1", page: {} }))?.nodes.map((run) => run.id)).toEqual(
      ids.filter((_, index) => index % 3 === 1),
    );
    expect(await test.store.listRuns({ sessionId: "none", page: {} })).toBeNull();
  });

  it("hide other users' runs from a narrowed caller, in counts too", async () => {
    await start({ sessionId: "mine", session: { userId: "u1" } });
    const theirs = await start({ sessionId: "theirs", session: { userId: "u2" } });
    const narrowed = test.within({ userId: "u1" as UserId });
    expect((await narrowed.listRuns({ page: { count: true } }))?.totalCount).toBe(1);
    expect(await narrowed.getRuns([theirs.id])).toEqual([null]);
    expect(await refusalOf(narrowed.recordRunEvents({ runId: theirs.id, events: [] }))).toBe("NOT_FOUND");
    expect(await refusalOf(narrowed.startRun({ sessionId: "theirs" }))).toBe("CONFLICT ID_TAKEN");
    expect(await refusalOf(narrowed.startRun({ sessionId: "new", id: theirs.id }))).toBe("CONFLICT ID_TAKEN");
  });
});

describe("what streams read of runs", () => {
  it("gives stored events by position over all runs of a session, and leases that ran out", async () => {
    const first = await start({ leaseSeconds: 1 });
    const mark = await test.store.mark("s");
    await report(first.id, [phase(), delta("x"), phase()]);
    const tail = { sessionId: "s", generation: mark?.generation ?? (0 as never), after: mark?.lastEventPosition ?? 0 };
    const events = await test.store.runEventsAfter({ ...tail, limit: 10 });
    expect(events?.map(({ event }) => event.index)).toEqual([2, 4]);
    const leased = (await test.store.getRuns([first.id]))[0];
    const expires = leased?.leaseExpiresAt ?? (0 as never);
    expect(await test.store.leasesExpired((expires - 1) as never, expires)).toEqual(["s"]);
    expect(await test.store.leasesExpired(expires, (expires + 5) as never)).toEqual([]);
    await test.store.deleteSession("s");
    expect(await test.store.runEventsAfter({ ...tail, limit: 10 })).toBeNull();
  });
});
