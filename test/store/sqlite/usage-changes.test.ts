import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UserId } from "../../../src/store/model.ts";
import { type Instant, parseInstant } from "../../../src/time.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const at = (text: string): Instant => parseInstant(text) ?? (0 as Instant);
const append = (sessionId: string, model: string, userId: string, tokens = 10) =>
  test.store.appendMessages({
    sessionId,
    session: { userId, agentName: "helper" },
    messages: [
      {
        message: { assistant: { text: "x", provider: "p", model } },
        usage: { inputTokens: tokens, outputTokens: 1 },
      },
    ],
  });
const range = { from: at("2025-12-01T00:00:00Z"), to: at("2026-03-01T00:00:00Z") };

describe("usage over time", () => {
  beforeEach(async () => {
    await append("a", "m1", "u1");
    await append("a", "m2", "u1");
    test.time.wallMs = Date.UTC(2026, 0, 1, 5);
    await append("b", "m1", "u2");
    test.time.wallMs = Date.UTC(2026, 1, 3, 5);
    await append("b", "m1", "u2");
    await test.store.startRun({ sessionId: "b" });
  });

  it("adds up by hour, day and month, and leaves empty buckets out", async () => {
    const starts = async (interval: "HOUR" | "DAY" | "MONTH") =>
      (await test.store.listUsage({ ...range, interval, page: { count: true } })).nodes.map(
        (bucket) => `${new Date(bucket.startsAt / 1000).toISOString()} ${bucket.messageCount} ${bucket.runCount}`,
      );
    expect(await starts("MONTH")).toEqual(["2026-01-01T00:00:00.000Z 3 0", "2026-02-01T00:00:00.000Z 1 1"]);
    expect(await starts("DAY")).toEqual(["2026-01-01T00:00:00.000Z 3 0", "2026-02-03T00:00:00.000Z 1 1"]);
    expect(await starts("HOUR")).toHaveLength(3);
  });

  it("groups, pages and counts, with null for what is not grouped by", async () => {
    const request = { ...range, interval: "DAY" as const, groupBy: ["MODEL", "USER"] as const };
    const whole = await test.store.listUsage({ ...request, page: { count: true } });
    expect(
      whole.nodes.map(({ model, userId, agentName, tokens }) => [model, userId, agentName, tokens.inputTokens]),
    ).toEqual([
      ["m1", "u1", null, 10],
      ["m1", "u2", null, 10],
      ["m2", "u1", null, 10],
      ["m1", "u2", null, 10],
      [null, "u2", null, 0],
    ]);
    expect(whole.totalCount).toBe(5);
    const first = await test.store.listUsage({ ...request, page: { first: 2 } });
    const second = await test.store.listUsage({ ...request, page: { first: 10, after: first.endCursor } });
    expect([...first.nodes, ...second.nodes]).toEqual(whole.nodes);
    expect([first.hasNextPage, second.hasNextPage, second.hasPreviousPage]).toEqual([true, false, true]);
  });

  it("shows a narrowed caller that user's alone, and no totals of the tenant", async () => {
    const narrowed = test.within({ userId: "u1" as UserId });
    const { nodes } = await narrowed.listUsage({ ...range, interval: "MONTH", page: {} });
    expect(nodes.map((bucket) => bucket.messageCount)).toEqual([2]);
    expect(await refusalOf(narrowed.tenantUsage())).toBe("FORBIDDEN");
    expect(await test.store.tenantUsage()).toMatchObject({ sessionCount: 2, messageCount: 4 });
  });

  it("C2: saturates at 2^53 − 1 and never fails", async () => {
    await append("c", "big", "u3", Number.MAX_SAFE_INTEGER);
    await append("c", "big", "u3", Number.MAX_SAFE_INTEGER);
    const { nodes } = await test.store.listUsage({ ...range, interval: "MONTH", groupBy: ["USER"], page: { last: 1 } });
    expect(nodes[0]?.tokens.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
    expect((await test.store.getSessions(["c"]))[0]?.usage.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
    expect((await test.store.tenantUsage()).tokens.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
  });

  it("keeps what was spent when a session is deleted; its counts leave", async () => {
    const before = await test.store.tenantUsage();
    await test.store.deleteSession("a");
    const after = await test.store.tenantUsage();
    expect(after.tokens).toEqual(before.tokens);
    expect([after.sessionCount, after.messageCount]).toEqual([1, 2]);
  });
});

describe("changes", () => {
  const kinds = async (after: number, store = test.store) =>
    (await store.changesAfter(after, 100)).map((entry) => `${entry.kind} ${entry.sessionId}`);

  it("are one entry a session with its latest state, in order, tombstones among them", async () => {
    await append("a", "m", "u1");
    await append("b", "m", "u2");
    const seen = await test.store.lastChangeNumber();
    await test.store.updateSession({ sessionId: "b", title: "T" });
    await append("a", "m", "u1");
    await append("c", "m", "u1");
    await test.store.deleteSession("b");
    expect(await kinds(0)).toEqual(["CREATED a", "CREATED c", "DELETED b"]);
    expect(await kinds(seen)).toEqual(["UPDATED a", "CREATED c", "DELETED b"]);
    expect(await kinds(seen, test.within({ userId: "u1" as UserId }))).toEqual(["UPDATED a", "CREATED c"]);
    expect(await kinds(await test.store.lastChangeNumber())).toEqual([]);
  });

  it("know of a deleted session what filters need for ten minutes, then nothing", async () => {
    await append("a", "m", "u1");
    await test.store.deleteSession("a");
    const [entry] = await test.store.changesAfter(0, 10);
    expect(entry?.tombstone?.attributes).toMatchObject({ userId: "u1", agentName: "helper", sessionType: 0 });
    test.time.wallMs += 601_000;
    expect(await test.store.changesAfter(0, 10)).toEqual([]);
    test.reopen();
    await test.handle().eraser.idle();
    const left = test.handle().connection.sql("SELECT session_id, attributes FROM tombstones").all();
    expect(left).toEqual([{ session_id: null, attributes: null }]);
  });

  it("delete every session of one user at once, and nobody else's", async () => {
    for (let number = 0; number < 250; number++) await test.store.createSession({ id: `s${number}`, userId: "u1" });
    await append("b", "m", "u2");
    expect(await test.store.deleteUserSessions("u1")).toHaveLength(250);
    expect((await test.store.listSessions({ page: { count: true } })).totalCount).toBe(1);
    expect(await test.store.deleteUserSessions("u1")).toEqual([]);
  });
});
