import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame, expectThat } from "./expectation.ts";
import { user } from "./messages.ts";

/** Sessions: creation, attributes, lists, deletion. */
export const sessionCases: readonly ConformanceCase[] = [
  storeCase("a session is created once; its id is taken, or comes back where that is allowed", async (store) => {
    const made = await store.createSession({ id: "s", title: "  T  ", metadata: { a: 1 } });
    expectSame([made.created, made.session.title, made.session.metadata], [true, "T", { a: 1 }], "session");
    await expectRefusal(store.createSession({ id: "s" }), "CONFLICT ID_TAKEN");
    const again = await store.createSession({ id: "s", title: "Other", allowExisting: true });
    expectSame(again, { session: made.session, created: false }, "existing session");
  }),
  storeCase("session ids are kept exactly: case, marks and normal forms stay distinct", async (store) => {
    const ids = ["S1", "s1", "caf\u00e9", "cafe\u0301", "a/../b", "%' OR 1=1 --", "\ud83d\ude00"];
    for (const id of ids) await store.createSession({ id });
    const found = await store.getSessions([...ids, "S2"]);
    expectSame(
      found.map((session) => session?.id ?? null),
      [...ids, null],
      "sessions by id",
    );
    for (const id of ["", "x".repeat(201), "a\u0000b", "half \ud83d"]) {
      await expectRefusal(store.createSession({ id }), "BAD_USER_INPUT");
    }
  }),
  storeCase("an update leaves out, sets and clears; a user is set once", async (store) => {
    await store.createSession({ id: "s", title: "T", agentName: "A" });
    const updated = await store.updateSession({ sessionId: "s", title: null, userId: "u" });
    expectSame([updated.title, updated.agentName, updated.userId], [null, "A", "u"], "updated session");
    await expectRefusal(store.updateSession({ sessionId: "s", userId: "v" }), "CONFLICT ATTRIBUTES_DIFFER");
    await expectRefusal(store.updateSession({ sessionId: "s", userId: null }), "BAD_USER_INPUT");
    await expectRefusal(store.updateSession({ sessionId: "s" }), "BAD_USER_INPUT");
    await expectRefusal(store.updateSession({ sessionId: "none", title: "T" }), "NOT_FOUND");
  }),
  storeCase("a child keeps its parent's id and takes over its user; nobody is their own parent", async (store) => {
    await store.createSession({ id: "p", userId: "u" });
    const { session } = await store.createSession({ id: "c", parentSessionId: "p" });
    expectSame([session.parentSessionId, session.userId], ["p", "u"], "child");
    await store.deleteSession("p");
    const [child] = await store.getSessions(["c"]);
    expectSame(child?.parentSessionId, "p", "the parent's id after its deletion");
    await expectRefusal(store.createSession({ id: "x", parentSessionId: "x" }), "BAD_USER_INPUT");
  }),
  storeCase(
    "a deleted session is gone, a late write does not bring it back, createSession does, empty",
    async (store) => {
      await store.appendMessages({ sessionId: "s", messages: [user("x")] });
      expectSame(await store.deleteSession("s"), "s", "deletion");
      expectSame(await store.deleteSession("s"), null, "second deletion");
      expectSame(await store.getSessions(["s"]), [null], "deleted session");
      await expectRefusal(store.appendMessages({ sessionId: "s", messages: [user("late")] }), "NOT_FOUND");
      await expectRefusal(store.startRun({ sessionId: "s" }), "NOT_FOUND");
      const { session } = await store.createSession({ id: "s" });
      expectSame([session.lastSequence, session.messageCount], [0, 0], "created again");
    },
  ),
  storeCase("lists filter and order; an empty list matches nothing, null is not given", async (store) => {
    for (const [index, id] of ["a", "b", "c"].entries()) {
      await store.createSession({ id, sessionType: index, agentName: index === 1 ? "%" : "A", title: `Title ${id}` });
    }
    const ids = async (filter: object) =>
      (await store.listSessions({ filter, page: {}, orderBy: { field: "CREATED_AT", direction: "ASC" } })).nodes
        .map((session) => session.id)
        .join("");
    expectSame(await ids({}), "abc", "all");
    expectSame(await ids({ sessionTypes: [] }), "", "an empty list");
    expectSame(await ids({ sessionTypes: null, root: null }), "abc", "null");
    expectSame(await ids({ agentNames: ["%"] }), "b", "no wildcard");
    expectSame(await ids({ titleContains: "tITLE B" }), "b", "folded title");
    expectSame(await ids({ userIds: [""] }), "", "an empty user");
    await store.startRun({ sessionId: "c" });
    expectSame([await ids({ running: true }), await ids({ running: false })], ["c", "ab"], "running");
  }),
  storeCase("changes are numbered, one entry a session, deletions among them", async (store) => {
    await store.createSession({ id: "a" });
    const seen = await store.lastChangeNumber();
    await store.createSession({ id: "b" });
    await store.updateSession({ sessionId: "a", title: "T" });
    await store.deleteSession("b");
    const changes = await store.changesAfter(seen, 10);
    expectSame(
      changes.map(({ kind, sessionId }) => [kind, sessionId]),
      [
        ["UPDATED", "a"],
        ["DELETED", "b"],
      ],
      "changes",
    );
    expectThat((await store.lastChangeNumber()) > seen, "the change number ascends");
  }),
];
