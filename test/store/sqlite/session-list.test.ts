import { afterEach, beforeEach, expect, it } from "vitest";
import type { SessionFilter } from "../../../src/store/contract.ts";
import type { UserId } from "../../../src/store/model.ts";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const ids = async (filter: SessionFilter, store = test.store) =>
  (await store.listSessions({ filter, page: {} })).nodes.map((session) => session.id).sort();

it("meets every untouched session exactly once while others move, forward and backward", async () => {
  for (let index = 0; index < 30; index++) await test.store.createSession({ id: `s${index}` });
  for (const forward of [true, false]) {
    const met: string[] = [];
    let cursor: string | null = null;
    for (let round = 0; ; round++) {
      const page = await test.store.listSessions({
        page: forward ? { first: 5, after: cursor } : { last: 5, before: cursor },
      });
      met.push(...page.nodes.map((session) => session.id));
      if (!(forward ? page.hasNextPage : page.hasPreviousPage)) break;
      cursor = forward ? page.endCursor : page.startCursor;
      if (round === 1)
        for (const sessionId of ["s3", "s28"]) await test.store.updateSession({ sessionId, title: "moved" });
    }
    const untouched = met.filter((id) => id !== "s3" && id !== "s28");
    expect(untouched).toHaveLength(28);
    expect(new Set(untouched).size).toBe(28);
  }
});

it("an empty list matches nothing, null is not given, equality is exact, a title is searched as plain text", async () => {
  await test.store.createSession({ id: "a", agentName: "%", title: "É 100% _sure_" });
  await test.store.createSession({ id: "b", agentName: "Helper", parentSessionId: "a", sessionType: 2 });
  expect(await ids({})).toEqual(["a", "b"]);
  expect(await ids({ agentNames: null, root: null })).toEqual(["a", "b"]);
  expect(await ids({ agentNames: [] })).toEqual([]);
  expect(await ids({ agentNames: ["%"] })).toEqual(["a"]);
  expect(await ids({ agentNames: ["helper"] })).toEqual([]);
  expect(await ids({ agentNames: ["' OR 1=1 --"] })).toEqual([]);
  expect(await ids({ titleContains: "é 100%" })).toEqual(["a"]);
  expect(await ids({ titleContains: "%" })).toEqual(["a"]);
  expect(await ids({ root: true })).toEqual(["a"]);
  expect(await ids({ root: false, sessionTypes: [2] })).toEqual(["b"]);
  expect(await ids({ running: true })).toEqual([]);
});

it("no filter and no count widens a key of one user; cursors of another order are refused", async () => {
  await test.store.createSession({ id: "theirs", userId: "u2" });
  await test.store.createSession({ id: "mine", userId: "u1" });
  const narrow = test.within({ userId: "u1" as UserId });
  expect(await ids({}, narrow)).toEqual(["mine"]);
  expect(await ids({ userIds: ["u2"] }, narrow)).toEqual([]);
  const page = await narrow.listSessions({ page: { count: true, first: 1 } });
  expect(page).toMatchObject({ totalCount: 1, hasNextPage: false, hasPreviousPage: false });
  const other = { field: "CREATED_AT", direction: "ASC" } as const;
  const after = page.endCursor ?? "";
  expect(await refusalOf(narrow.listSessions({ orderBy: other, page: { after } }))).toBe("BAD_USER_INPUT after");
});
