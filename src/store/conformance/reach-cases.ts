import { EVERYTHING, type UserId } from "../model.ts";
import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame } from "./expectation.ts";
import { assistant, user } from "./messages.ts";

/** What a narrowed caller reaches. */
export const reachCases: readonly ConformanceCase[] = [
  storeCase("another user's session looks missing everywhere and in every count", async (store, open) => {
    await store.createSession({ id: "mine", userId: "u" });
    await store.appendMessages({ sessionId: "theirs", session: { userId: "v" }, messages: [user("secret")] });
    const run = await store.startRun({ sessionId: "theirs" });
    const narrowed = open.within({ userId: "u" as UserId });
    const list = await narrowed.listSessions({ page: { count: true } });
    expectSame([list.totalCount, list.nodes.map((session) => session.id)], [1, ["mine"]], "list");
    expectSame(await narrowed.getSessions(["theirs"]), [null], "by id");
    expectSame(await narrowed.listMessages({ sessionId: "theirs", page: {}, select: EVERYTHING }), null, "messages");
    expectSame(await narrowed.getRuns([run.id]), [null], "run");
    expectSame(await narrowed.mark("theirs"), null, "mark");
    expectSame(await narrowed.deleteSession("theirs"), null, "deletion");
    await expectRefusal(narrowed.updateSession({ sessionId: "theirs", title: "T" }), "NOT_FOUND");
    await expectRefusal(narrowed.createSession({ id: "theirs" }), "CONFLICT ID_TAKEN");
    await expectRefusal(narrowed.createSession({ id: "new", userId: "v" }), "FORBIDDEN");
    expectSame((await narrowed.createSession({ id: "new" })).session.userId, "u", "its own user");
  }),
  storeCase("roles that are hidden do not exist, roles that are not writable are refused", async (store, open) => {
    await store.appendMessages({ sessionId: "s", messages: [user("a"), assistant("b"), user("c")] });
    const narrowed = open.within({ visibleRoles: new Set(["USER"]), writableRoles: new Set(["USER"]) });
    const page = await narrowed.listMessages({ sessionId: "s", page: { count: true }, select: EVERYTHING });
    expectSame([page?.totalCount, page?.nodes.map((message) => message.sequence)], [2, [1, 3]], "messages");
    await expectRefusal(narrowed.appendMessages({ sessionId: "s", messages: [assistant("x")] }), "FORBIDDEN");
    await expectRefusal(narrowed.readContext({ sessionId: "s" }), "FORBIDDEN");
    const last = await narrowed.lastMessage("s", ["ASSISTANT"], EVERYTHING);
    expectSame(last, null, "last message of a hidden role");
  }),
];
