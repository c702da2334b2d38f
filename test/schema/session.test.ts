import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionStore } from "../../src/store/contract.ts";
import { type Data, onlyError, openTestApi, type TestApi } from "../support/schema.ts";

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi();
  for (const id of ["root", "left", "right"]) {
    const parent = id === "root" ? "" : ', parentSessionId: "root"';
    await api.ask(`mutation { createSession(input: { id: "${id}"${parent} }) { created } }`);
    api.tenancy.time.wallMs += 1000;
  }
});
afterAll(() => api.dispose());

const idsOf = (connection: Data): readonly string[] => connection.nodes.map((node: Data) => node.id);

/** A store that notes each question put to it. */
function watched(asked: unknown[][]): (store: SessionStore) => SessionStore {
  return (store) => ({
    ...store,
    getSessions(ids) {
      asked.push(["getSessions", ...ids]);
      return store.getSessions(ids);
    },
    listSessions(request) {
      asked.push(["listSessions", request]);
      return store.listSessions(request);
    },
  });
}

describe("sessions", () => {
  it("are created, changed and deleted, each payload with what is stored", async () => {
    const made = await api.ask(`mutation { createSession(input: {
      id: "s", title: " Plans ", agentName: "planner", userId: "u", sessionType: 3, metadata: { a: 1 }
    }) { created session { id title agentName userId sessionType metadata parent { id } messageCount lastSequence
      usage { totalTokens cacheHitRate } createdAt updatedAt } } }`);
    const createdAt = made.data.createSession.session.createdAt;
    expect(made.data.createSession).toEqual({
      created: true,
      session: {
        ...{ id: "s", title: "Plans", agentName: "planner", userId: "u", sessionType: 3, metadata: { a: 1 } },
        ...{ parent: null, messageCount: 0, lastSequence: 0, usage: { totalTokens: 0, cacheHitRate: null } },
        ...{ createdAt, updatedAt: createdAt },
      },
    });
    const cleared = await api.ask(
      `mutation { updateSession(input: { sessionId: "s", title: null }) { session { title agentName } } }`,
    );
    expect(cleared.data.updateSession.session).toEqual({ title: null, agentName: "planner" });
    const gone = `mutation { deleteSession(input: { sessionId: "s" }) { deletedSessionId } }`;
    expect((await api.ask(gone)).data.deleteSession).toEqual({ deletedSessionId: "s" });
    expect((await api.ask(gone)).data.deleteSession).toEqual({ deletedSessionId: null });
    expect((await api.ask(`{ session(id: "s") { id } }`)).data.session).toBeNull();
  });

  it("take an explicit null for the default of an input", async () => {
    const document = `mutation ($type: Int, $existing: Boolean) {
      createSession(input: { id: "n", sessionType: $type, allowExisting: $existing }) { created session { sessionType } }
    }`;
    const made = await api.ask(document, { variables: { type: null, existing: null } });
    expect(made.data.createSession).toEqual({ created: true, session: { sessionType: 0 } });
    const again = await api.ask(document, { variables: { type: null, existing: null } });
    expect(onlyError(again)).toMatchObject({ code: "CONFLICT", reason: "ID_TAKEN" });
    await api.ask(`mutation { deleteSession(input: { sessionId: "n" }) { deletedSessionId } }`);
  });

  it("are listed newest first unless ordered otherwise, null being the default", async () => {
    const list = async (args: string) => idsOf((await api.ask(`{ sessions${args} { nodes { id } } }`)).data.sessions);
    const newest = ["right", "left", "root"];
    expect(await list("")).toEqual(newest);
    expect(await list("(orderBy: null, filter: null, first: null)")).toEqual(newest);
    expect(await list("(orderBy: { field: CREATED_AT, direction: ASC })")).toEqual([...newest].reverse());
    expect(await list("(offset: 1, first: 1)")).toEqual(["left"]);
    expect(await list("(filter: { root: true })")).toEqual(["root"]);
    expect(await list("(filter: { userIds: [] })")).toEqual([]);
  });

  it("page both ways with edges, cursors and exact flags", async () => {
    const shape =
      "edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    const page = async (args: string) => (await api.ask(`{ sessions(${args}) { ${shape} } }`)).data.sessions;
    const first = await page("first: 2");
    expect(first.edges.map((edge: Data) => edge.node)).toEqual(first.nodes);
    expect(first.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.edges[0].cursor,
      endCursor: first.edges[1].cursor,
    });
    const rest = await page(`after: "${first.pageInfo.endCursor}"`);
    expect(idsOf(rest)).toEqual(["root"]);
    expect(idsOf(await page(`last: 1, before: "${rest.pageInfo.startCursor}"`))).toEqual(["left"]);
    const beyond = await page(`after: "${rest.pageInfo.endCursor}"`);
    expect(beyond.pageInfo).toMatchObject({ endCursor: rest.pageInfo.endCursor, hasPreviousPage: true });
  });

  it("name the argument that is refused, and the field of the answer", async () => {
    for (const [args, field] of [
      ["first: -1", ["first"]],
      ['after: "nonsense"', ["after"]],
      ["first: 1, last: 1", ["last"]],
      ["offset: 1, last: 1", ["offset"]],
    ] as const) {
      const answer = await api.ask(`{ sessions(${args}) { nodes { id } } }`);
      expect(answer.codes).toEqual(["BAD_USER_INPUT sessions"]);
      expect(onlyError(answer).field).toEqual(field);
    }
  });

  it("are counted only where totalCount is selected, through fragments and directives too", async () => {
    const counted = async (selection: string, fragment = "") => {
      const asked: unknown[][] = [];
      const document = `query ($no: Boolean = false) { sessions { ${selection} ... @include(if: $no) { __typename } } } ${fragment}`;
      const { data, codes } = await api.ask(document, { wrap: watched(asked) });
      expect(codes).toEqual([]);
      return [asked[0]?.[1], data.sessions.totalCount];
    };
    const request = (count: boolean) => expect.objectContaining({ page: expect.objectContaining({ count }) });
    expect(await counted("nodes { id }")).toEqual([request(false), undefined]);
    expect(await counted("totalCount")).toEqual([request(true), 3]);
    expect(await counted("...F", "fragment F on SessionConnection { ... { totalCount } }")).toEqual([request(true), 3]);
    expect(await counted("nodes { id } totalCount @include(if: $no)")).toEqual([request(false), undefined]);
  });

  it("load the parents of a whole page at once", async () => {
    const asked: unknown[][] = [];
    const { data } = await api.ask("{ sessions { nodes { id parentSessionId parent { id } } } }", {
      wrap: watched(asked),
    });
    expect(data.sessions.nodes.map((node: Data) => node.parent?.id ?? null)).toEqual(["root", "root", null]);
    expect(asked.filter(([name]) => name === "getSessions")).toEqual([["getSessions", "root"]]);
    const children = await api.ask(`{ session(id: "root") { children(first: 1) { nodes { id } totalCount } } }`);
    expect(children.data.session.children).toEqual({ nodes: [{ id: "right" }], totalCount: 2 });
  });

  it("leave neighbours their answers where one mutation is refused", async () => {
    const answer = await api.ask(`mutation {
      bad: updateSession(input: { sessionId: "nobody", title: "x" }) { session { id } }
      blank: updateSession(input: { sessionId: "root", title: " " }) { session { id } }
      good: updateSession(input: { sessionId: "root", title: "Kept" }) { session { title } }
    }`);
    expect(answer.codes).toEqual(["NOT_FOUND bad", "BAD_USER_INPUT blank"]);
    expect(answer.errors[1]?.extensions.field).toEqual(["input", "title"]);
    expect(answer.data).toEqual({ bad: null, blank: null, good: { session: { title: "Kept" } } });
  });

  it("of one end user are erased together", async () => {
    await api.ask(
      `mutation { a: createSession(input: { userId: "gone" }) { created } b: createSession(input: { userId: "gone" }) { created } }`,
    );
    const { data } = await api.ask(`mutation { deleteUserSessions(input: { userId: "gone" }) { deletedCount } }`);
    expect(data.deleteUserSessions.deletedCount).toBe(2);
  });
});
