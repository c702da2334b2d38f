import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/errors.ts";
import type { CreateSnapshotInput } from "../../../src/store/contract.ts";
import type { MessageRole, UserId } from "../../../src/store/model.ts";
import { createReadBudget } from "../../../src/store/read-budget.ts";
import { eraseSlice } from "../../../src/store/sqlite/tombstones.ts";
import { contextOf, U } from "../../support/context.ts";
import { refusalOf } from "../../support/refusal.ts";
import { FULL_REACH, NO_LIMITS, openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(async () => {
  test = openTestStore();
  await append(10);
});
afterEach(() => test.dispose());

const append = (count: number, sessionId = "s") =>
  test.store.appendMessages({ sessionId, messages: Array.from({ length: count }, (_, index) => U(`line ${index}`)) });
const input = (more: Partial<CreateSnapshotInput> = {}): CreateSnapshotInput => ({
  sessionId: "s",
  summary: "so far",
  compactedThroughSequence: 5,
  expectedVersion: 0,
  ...more,
});
const create = (more: Partial<CreateSnapshotInput> = {}) => test.store.createSnapshot(input(more));
const rewind = (throughSequence: number, expectedLastSequence: number) =>
  test.store.rewindSession(
    { sessionId: "s", throughSequence, expectedLastSequence },
    { text: false, payload: false, metadata: false, tags: false },
  );

describe("createSnapshot", () => {
  it("keeps a summary exactly, odd text too, over a restart", async () => {
    const summary = "a\u0000b\ud83d\n";
    const made = await create({ summary, attributes: { model: "m", nested: { a: [1] } }, usage: { inputTokens: 7 } });
    expect(made).toMatchObject({ sessionId: "s", version: 1, summary, compactedThroughSequence: 5 });
    test.reopen();
    expect(await test.store.latestSnapshot("s")).toEqual(made);
    expect((await contextOf(test.store)).snapshot).toEqual(made);
  });

  it.each([
    ["an empty summary", { summary: "" }, "BAD_USER_INPUT summary"],
    ["a summary above 1 MiB", { summary: "é".repeat(524_289) }, "BAD_USER_INPUT summary"],
    ["no boundary", { compactedThroughSequence: 0 }, "BAD_USER_INPUT compactedThroughSequence"],
    ["a boundary beyond the log", { compactedThroughSequence: 11 }, "BAD_USER_INPUT compactedThroughSequence"],
    ["a negative boundary", { compactedThroughSequence: -1 }, "BAD_USER_INPUT compactedThroughSequence"],
    ["a negative version", { expectedVersion: -1 }, "BAD_USER_INPUT expectedVersion"],
    ["a version that is not in effect", { expectedVersion: 1 }, "CONFLICT STALE_VERSION"],
    ["usage that can't be", { usage: { inputTokens: 1, cacheReadTokens: 2 } }, "BAD_USER_INPUT usage.cacheReadTokens"],
    ["attributes above 64 KiB", { attributes: { a: "x".repeat(65_536) } }, "BAD_USER_INPUT attributes"],
    ["an id that is no UUID", { id: "one" }, "BAD_USER_INPUT id"],
    ["a run that is not there", { runId: "0198c2f0-7b1e-7c3a-9f54-1d2e3a4b5c6d" }, "NOT_FOUND"],
    ["a session that is not there", { sessionId: "never" }, "NOT_FOUND"],
  ])("refuses %s, and stores nothing", async (_, more, refusal) => {
    const before = (await test.store.getSessions(["s"]))[0];
    expect(await refusalOf(create(more))).toBe(refusal);
    expect((await test.store.getSessions(["s"]))[0]).toEqual(before);
    expect(await test.store.latestSnapshot("s")).toBe(null);
    expect(await test.store.getSessions(["never"])).toEqual([null]);
  });

  it("a summary of exactly 1 MiB is accepted", async () => {
    expect((await create({ summary: "é".repeat(524_288) })).version).toBe(1);
  });

  it("advances only, and says which version is in effect", async () => {
    await create();
    expect(await refusalOf(create({ expectedVersion: 1 }))).toBe("BAD_USER_INPUT compactedThroughSequence");
    const stale = await create({ compactedThroughSequence: 8 }).catch((error: unknown) => error);
    expect(stale instanceof GatewayError && stale.details).toEqual({ reason: "STALE_VERSION", snapshotVersion: 1 });
    expect((await create({ expectedVersion: 1, compactedThroughSequence: 10 })).version).toBe(2);
    expect((await contextOf(test.store)).nodes).toEqual([]);
  });

  it("repeated under its id gives the original, whatever it expects; another snapshot is a conflict", async () => {
    const id = crypto.randomUUID();
    const usage = { inputTokens: 5 };
    const made = await create({ id, attributes: { a: 1, b: 2 }, usage });
    await create({ expectedVersion: 1, compactedThroughSequence: 9 });
    const before = (await test.store.getSessions(["s"]))[0];
    const repeat = { id: id.toUpperCase(), attributes: { b: 2, a: 1 }, usage, expectedVersion: 77 };
    expect(await create(repeat)).toEqual(made);
    expect((await test.store.getSessions(["s"]))[0]).toEqual(before);
    for (const other of [
      { summary: "other" },
      { compactedThroughSequence: 6 },
      { attributes: { a: 1 } },
      { usage: null },
      { usage: { inputTokens: 6 } },
    ]) {
      expect(await refusalOf(create({ ...repeat, ...other }))).toBe("CONFLICT CONTENT_DIFFERS");
    }
    await append(10, "other");
    expect(await refusalOf(create({ id, sessionId: "other" }))).toBe("CONFLICT ID_TAKEN");
  });

  it("an id of a deleted session is free at once, and the session created again starts with version 0", async () => {
    const id = crypto.randomUUID();
    await create({ id });
    await test.store.deleteSession("s");
    expect(await refusalOf(create({ id }))).toBe("NOT_FOUND");
    await test.store.createSession({ id: "s" });
    await append(10);
    expect(await contextOf(test.store)).toMatchObject({ snapshot: null, snapshotVersion: 0 });
    expect(await create({ id })).toMatchObject({ id, version: 1 });
    while (await test.handle().write(FULL_REACH, createReadBudget(), NO_LIMITS, eraseSlice));
    expect(await test.store.latestSnapshot("s")).toMatchObject({ id });
  });

  it("what making it cost is in the totals, and the session has moved", async () => {
    test.time.wallMs += 60_000;
    const before = (await test.store.getSessions(["s"]))[0];
    await create({ usage: { inputTokens: 5, outputTokens: 2 } });
    const after = (await test.store.getSessions(["s"]))[0];
    expect(after).toMatchObject({ messageCount: 10, lastSequence: 10, usage: { inputTokens: 5, outputTokens: 2 } });
    expect(after?.updatedAt).toBeGreaterThan(before?.updatedAt ?? 0);
    expect(after?.changeNumber).toBeGreaterThan(before?.changeNumber ?? 0);
    expect(await test.store.tenantUsage()).toMatchObject({ tokens: { inputTokens: 5 } });
    const buckets = test.handle().connection.sql("SELECT message_count, input_tokens FROM usage_hours").all();
    expect(buckets).toEqual([{ message_count: 10, input_tokens: 5 }]);
  });

  it("a run's snapshot renews its lease; an ended run's is refused", async () => {
    const run = await test.store.startRun({ sessionId: "s", leaseSeconds: 60 });
    test.time.wallMs += 30_000;
    const id = crypto.randomUUID();
    await create({ id, runId: run.id });
    const [renewed] = await test.store.getRuns([run.id]);
    expect(renewed?.leaseExpiresAt).toBeGreaterThan(run.leaseExpiresAt);
    await test.store.finishRun({ runId: run.id, status: "COMPLETED" });
    const next = { runId: run.id, expectedVersion: 1, compactedThroughSequence: 9 };
    expect(await refusalOf(create(next))).toBe("CONFLICT RUN_ENDED");
    expect(await create({ id, runId: run.id })).toMatchObject({ version: 1 });
    await append(3, "other");
    const elsewhere = { sessionId: "other", runId: run.id, compactedThroughSequence: 1 };
    expect(await refusalOf(create(elsewhere))).toBe("NOT_FOUND");
  });

  it("a byte quota holds for summaries too", async () => {
    const small = openTestStore({ maxBytes: 600_000 });
    await small.store.appendMessages({ sessionId: "s", messages: [U("a")] });
    const big = input({ summary: "x".repeat(900_000), compactedThroughSequence: 1 });
    expect(await refusalOf(small.store.createSnapshot(big))).toBe("QUOTA_EXCEEDED");
    expect(await small.store.latestSnapshot("s")).toBe(null);
    small.dispose();
  });
});

describe("snapshots", () => {
  it("are listed newest first, in pages of either direction; the newest counts those a rewind has retired", async () => {
    for (let version = 0; version < 3; version++) {
      await create({ expectedVersion: version, compactedThroughSequence: version + 1 });
    }
    await rewind(0, 10);
    await append(2);
    await create({ expectedVersion: 0, compactedThroughSequence: 1 });
    const versions = async (page: object) => {
      const found = await test.store.listSnapshots("s", page);
      return { ...found, nodes: found?.nodes.map((snapshot) => snapshot.version) };
    };
    const first = await versions({ first: 3, count: true });
    expect(first).toMatchObject({ nodes: [4, 3, 2], hasNextPage: true, hasPreviousPage: false, totalCount: 4 });
    const second = await versions({ first: 3, after: first.endCursor });
    expect(second).toMatchObject({ nodes: [1], hasNextPage: false, hasPreviousPage: true });
    expect(await versions({ last: 2, before: second.startCursor })).toMatchObject({ nodes: [3, 2] });
    expect(await test.store.latestSnapshot("s")).toMatchObject({ version: 4 });
    expect(await test.store.listSnapshots("never", {})).toBe(null);
    expect(await test.store.latestSnapshot("never")).toBe(null);
    await append(1, "other");
    const foreign = test.store.listSnapshots("other", { after: first.endCursor });
    expect(await refusalOf(foreign)).toBe("BAD_USER_INPUT after");
  });

  it("a damaged summary is UNAVAILABLE, never half a context", async () => {
    await create();
    test.handle().connection.sql("UPDATE snapshots SET summary_json = '\"half'").run();
    expect(await refusalOf(contextOf(test.store))).toBe("UNAVAILABLE");
    expect(await refusalOf(test.store.latestSnapshot("s"))).toBe("UNAVAILABLE");
  });

  it("summaries count as read bytes: many large ones end in PAYLOAD_TOO_LARGE", async () => {
    await create({ summary: "x".repeat(1024 * 1024) });
    const store = test.within({});
    for (let read = 0; read < 31; read++) await store.latestSnapshot("s");
    expect(await refusalOf(store.latestSnapshot("s"))).toBe("PAYLOAD_TOO_LARGE");
  });
});

describe("who may", () => {
  it("nobody who does not see every role reads or writes summaries, contexts and rewinds", async () => {
    await create();
    const visibleRoles = new Set<MessageRole>(["USER", "ASSISTANT", "TOOL", "AGENT"]);
    const narrow = test.within({ visibleRoles });
    const before = (await test.store.getSessions(["s"]))[0];
    const selection = { text: true, payload: true, metadata: true, tags: true };
    for (const work of [
      () => narrow.readContext({ sessionId: "s", page: {} }),
      () => narrow.readContext({ sessionId: "never" }),
      () => narrow.latestSnapshot("s"),
      () => narrow.listSnapshots("s", {}),
      () => narrow.createSnapshot(input({ expectedVersion: 1, compactedThroughSequence: 9 })),
      () => narrow.rewindSession({ sessionId: "s", throughSequence: 8, expectedLastSequence: 10 }, selection),
    ]) {
      expect(await refusalOf(work)).toBe("FORBIDDEN");
    }
    expect((await test.store.getSessions(["s"]))[0]).toEqual(before);
  });

  it("another user's session looks missing", async () => {
    await test.store.createSession({ id: "theirs", userId: "u2" });
    await append(3, "theirs");
    const id = crypto.randomUUID();
    await create({ id, sessionId: "theirs", compactedThroughSequence: 2 });
    const mine = test.within({ userId: "u1" as UserId });
    expect(await mine.readContext({ sessionId: "theirs", page: {} })).toBe(null);
    expect(await mine.latestSnapshot("theirs")).toBe(null);
    expect(await mine.listSnapshots("theirs", {})).toBe(null);
    const next = input({ sessionId: "theirs", expectedVersion: 1, compactedThroughSequence: 3 });
    expect(await refusalOf(mine.createSnapshot(next))).toBe("NOT_FOUND");
    await mine.createSession({ id: "own" });
    await mine.appendMessages({ sessionId: "own", messages: [U("a")] });
    const taken = input({ id, sessionId: "own", compactedThroughSequence: 1 });
    expect(await refusalOf(mine.createSnapshot(taken))).toBe("CONFLICT ID_TAKEN");
  });
});
