import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionStore } from "../../src/store/contract.ts";
import type { RawMessageSelection } from "../../src/store/model.ts";
import { type Data, onlyError, openTestApi, type TestApi } from "../support/schema.ts";

let api: TestApi;
const runId = crypto.randomUUID();

beforeAll(async () => {
  api = await openTestApi();
  await api.ask(`mutation { startRun(input: { id: "${runId}", sessionId: "s" }) { run { id } } }`);
  const answer = await api.ask(append, { variables: { input: { sessionId: "s", runId, requestId: "r", messages } } });
  expect(answer.codes).toEqual([]);
});
afterAll(() => api.dispose());

const append = `mutation ($input: AppendMessagesInput!) {
  appendMessages(input: $input) { duplicates session { lastSequence } messages { sequence payload text } }
}`;
const image = { image: { url: "https://example.test/a.png", altText: "a cat" } };
const file = { file: { data: "aGk=", mediaType: "text/plain", name: "hi.txt" } };
const messages = [
  { message: { system: { text: "Be brief." } } },
  { message: { user: { parts: [{ text: "Look:" }, image, file] } }, tags: { kind: "question" }, metadata: { a: 1 } },
  {
    message: {
      assistant: {
        text: "Looking 🐈🐈",
        reasoning: "hm",
        toolCalls: [
          { id: "c1", name: "zoom", arguments: '{ "x": 1.0 }' },
          { id: "c2", name: "zoom", arguments: null },
        ],
        provider: "acme",
        model: "m1",
        replayBlocks: ['{"sig":"…"}'],
      },
    },
    usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 5, cacheWriteTokens: null },
    turn: 1,
  },
  { message: { tool: { toolCallId: "c1", name: "zoom", text: "done", success: null } } },
  { message: { agent: { text: "Go on." } } },
];

const allOfMessage = `role text attributes includeInContext parts {
  __typename ... on TextPart { text } ... on ImagePart { url data mediaType detail altText }
  ... on FilePart { url data mediaType name } }
  ... on AssistantMessage { reasoning provider model replayBlocks toolCalls { id name arguments } }
  ... on ToolMessage { toolCallId name success }`;

async function log(selection: string, args = "", wrap?: (store: SessionStore) => SessionStore): Promise<Data> {
  const document = `{ session(id: "s") { rawMessages${args} { ${selection} } } }`;
  const { data, codes } = await api.ask(document, wrap ? { wrap } : {});
  expect(codes).toEqual([]);
  return data.session.rawMessages;
}

describe("raw messages", () => {
  it("come back in the form of their role, and as a payload of the same fields", async () => {
    const { nodes } = await log(`nodes { payload message { __typename ${allOfMessage} } }`);
    expect(nodes.map((node: Data) => node.message.__typename)).toEqual([
      "SystemMessage",
      "UserMessage",
      "AssistantMessage",
      "ToolMessage",
      "AgentMessage",
    ]);
    for (const { message, payload } of nodes) {
      const { __typename: _, parts, ...fields } = message;
      const plain = parts.map(({ __typename: _, ...part }: Data) => part);
      expect(JSON.parse(payload)).toEqual({ ...fields, parts: plain });
    }
    expect(nodes[1].message).toMatchObject({ text: "Look:\na cat", includeInContext: true });
    expect(nodes[1].message.parts[1]).toMatchObject({ __typename: "ImagePart", detail: "AUTO", data: null });
    expect(nodes[2].message.toolCalls).toEqual([
      { id: "c1", name: "zoom", arguments: '{ "x": 1.0 }' },
      { id: "c2", name: "zoom", arguments: "{}" },
    ]);
    expect(nodes[3].message).toMatchObject({ success: true, toolCallId: "c1" });
  });

  it("carry their record: place, request, run, notes, timing and usage", async () => {
    const { nodes } = await log(`nodes { sequence requestId runId run { id status } turn role toolName byteSize payload
      metadata tags session { id } usage { inputTokens totalTokens cacheHitRate }
      timing { durationNs reasoning { durationNs } content { durationNs } } }`);
    expect(nodes[2]).toMatchObject({
      ...{ sequence: 3, requestId: "r", runId, run: { id: runId, status: "RUNNING" }, turn: 1, role: "ASSISTANT" },
      ...{ toolName: null, metadata: {}, tags: {}, session: { id: "s" } },
      usage: { inputTokens: 10, totalTokens: 15, cacheHitRate: 0.5 },
      timing: { durationNs: 0, reasoning: null, content: null },
    });
    expect(nodes[1]).toMatchObject({ metadata: { a: 1 }, tags: { kind: "question" }, usage: null });
    expect(nodes[3].toolName).toBe("zoom");
    expect(nodes.map((node: Data) => node.byteSize)).toEqual(
      nodes.map((node: Data) => Buffer.byteLength(node.payload)),
    );
  });

  it("preview the text by code points", async () => {
    const preview = async (args: string) => (await log(`nodes { preview${args} }`)).nodes[2].preview;
    expect(await preview("")).toBe("Looking 🐈🐈");
    expect(await preview("(length: 9)")).toBe("Looking 🐈");
    expect(await preview("(length: null)")).toBe("Looking 🐈🐈");
    expect(await preview("(length: 0)")).toBe("");
    const refused = await api.ask(`{ session(id: "s") { lastMessage { preview(length: -1) } } }`);
    expect(refused.codes).toEqual(["BAD_USER_INPUT session.lastMessage.preview"]);
    expect(onlyError(refused).field).toEqual(["length"]);
  });

  it("are read with the columns that the document selects, and no others", async () => {
    const selected: RawMessageSelection[] = [];
    const wrap = (store: SessionStore): SessionStore => ({
      ...store,
      listMessages(request) {
        selected.push(request.select);
        return store.listMessages(request);
      },
    });
    const columns = async (selection: string) => {
      await log(selection, "(first: 1)", wrap);
      const select = selected.pop();
      return Object.entries(select ?? {}).flatMap(([name, wanted]) => (wanted ? [name] : []));
    };
    expect(await columns("totalCount pageInfo { endCursor } nodes { id usage { inputTokens } byteSize }")).toEqual([]);
    expect(await columns("nodes { preview }")).toEqual(["text"]);
    expect(await columns("edges { node { ... on RawMessage { message { role } } } }")).toEqual(["payload"]);
    expect(await columns("nodes { id } edges { node { tags metadata payload t: text } }")).toEqual([
      "text",
      "payload",
      "metadata",
      "tags",
    ]);
    expect(await columns("nodes { id payload @skip(if: true) }")).toEqual([]);
  });

  it("are found by range, role and request, null being the default", async () => {
    const sequences = async (args: string) =>
      (await log("nodes { sequence }", args)).nodes.map((node: Data) => node.sequence);
    expect(await sequences("(afterSequence: null, throughSequence: null, roles: null)")).toEqual([1, 2, 3, 4, 5]);
    expect(await sequences("(afterSequence: 1, throughSequence: 4, offset: 1)")).toEqual([3, 4]);
    expect(await sequences("(roles: [USER, TOOL])")).toEqual([2, 4]);
    expect(await sequences('(requestId: "other")')).toEqual([]);
    const last = await api.ask(
      `{ session(id: "s") { lastMessage(roles: [USER]) { sequence } any: lastMessage { text } } }`,
    );
    expect(last.data.session).toEqual({ lastMessage: { sequence: 2 }, any: { text: "Go on." } });
  });

  it("are listed of a run too", async () => {
    const { data } = await api.ask(`{ run(id: "${runId}") { messages(first: 2) { totalCount nodes { text } } } }`);
    expect(data.run.messages).toEqual({ totalCount: 5, nodes: [{ text: "Be brief." }, { text: "Look:\na cat" }] });
  });

  it("show one that is damaged on disk as an empty one, and go on past it", async () => {
    const wrap = (store: SessionStore): SessionStore => ({
      ...store,
      async listMessages(request) {
        const page = await store.listMessages(request);
        if (page === null) return null;
        return { ...page, nodes: page.nodes.map((node) => (node.sequence === 2 ? { ...node, payload: null } : node)) };
      },
    });
    const { nodes } = await log(`nodes { sequence payload message { __typename ${allOfMessage} } }`, "", wrap);
    const empty = { role: "USER", text: "", parts: [], attributes: {}, includeInContext: false };
    expect(nodes[1]).toEqual({
      sequence: 2,
      payload: JSON.stringify(empty),
      message: { __typename: "UnreadableMessage", ...empty },
    });
    expect(nodes[2].message.__typename).toBe("AssistantMessage");
  });
});

describe("appendMessages", () => {
  it("takes a payload as it gave it, byte for byte", async () => {
    const { nodes } = await log("nodes { payload }");
    const input = { sessionId: "copy", messages: nodes.map(({ payload }: Data) => ({ message: { payload } })) };
    const { data } = await api.ask(append, { variables: { input } });
    expect(data.appendMessages.messages.map((message: Data) => message.payload)).toEqual(
      nodes.map((node: Data) => node.payload),
    );
  });

  it("names the place of a refusal in the input, and which of a list conflicts", async () => {
    const user = (text: string, id?: string) => ({ message: { user: { text } }, ...(id === undefined ? {} : { id }) });
    const input = {
      sessionId: "s",
      messages: [user("fine"), { message: { tool: { toolCallId: "", name: "x", text: "" } } }],
    };
    const refused = await api.ask(append, { variables: { input } });
    expect(refused.codes).toEqual(["BAD_USER_INPUT appendMessages"]);
    expect(onlyError(refused).field).toEqual(["input", "messages", 1, "message", "tool", "toolCallId"]);

    const id = crypto.randomUUID();
    await api.ask(append, { variables: { input: { sessionId: "s", messages: [user("first", id)] } } });
    const differs = { sessionId: "s", messages: [user("new"), user("second", id)] };
    expect(onlyError(await api.ask(append, { variables: { input: differs } }))).toMatchObject({
      code: "CONFLICT",
      reason: "CONTENT_DIFFERS",
      index: 1,
    });
    const stale = { sessionId: "s", expectedLastSequence: 1, messages: [user("x")] };
    expect(onlyError(await api.ask(append, { variables: { input: stale } }))).toMatchObject({
      code: "CONFLICT",
      reason: "STALE_SEQUENCE",
      lastSequence: 6,
    });
  });

  it("takes exactly one arm of a message", async () => {
    for (const message of [{}, { user: null }, { user: { text: "a" }, system: null }]) {
      const answer = await api.ask(append, { variables: { input: { sessionId: "s", messages: [{ message }] } } });
      expect(answer.data).toBeNull();
      expect(answer.codes[0]).toBe("BAD_USER_INPUT");
    }
  });
});
