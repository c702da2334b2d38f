import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { onlyError, openTestApi, type TestApi } from "../support/schema.ts";

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi();
});
afterAll(() => api.dispose());

const create = `mutation ($input: CreateSessionInput!) {
  createSession(input: $input) { session { id metadata } }
}`;
const append = `mutation ($message: AppendMessageInput!) {
  appendMessages(input: { sessionId: "log", messages: [$message] }) {
    messages { payload timing { startedAt durationNs } usage { inputTokens } message { ... on AssistantMessage { replayBlocks } } }
  }
}`;

async function metadataBack(json: string): Promise<string> {
  const input = JSON.parse(`{ "metadata": ${json} }`);
  const { data, codes } = await api.ask(create, { variables: { input } });
  return codes[0] ?? JSON.stringify(data.createSession.session.metadata);
}

describe("JSONObject", () => {
  it("comes back as it was given, __proto__ a key like any other", async () => {
    for (const json of ['{"b":1,"a":[1.5,null,true,"x"],"__proto__":{"admin":true}}', "{}", '{"n":9007199254740991}']) {
      expect(await metadataBack(json)).toBe(json);
    }
  });

  it("refuses what would be rounded or is no object, and nests no deeper than 64", async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
    expect(await metadataBack(nested(64))).toBe(nested(64));
    for (const json of ['{"n":9007199254740992}', '{"n":1e21}', "[]", '"text"', "1", nested(65)]) {
      expect(await metadataBack(json)).toBe("BAD_USER_INPUT");
    }
  });

  it("reads literals alike, with variables in them", async () => {
    const literal = async (text: string, variables = {}) => {
      const declared = Object.keys(variables).length > 0 ? "($deep: JSONObject)" : "";
      const document = `mutation ${declared} { createSession(input: { metadata: ${text} }) { session { metadata } } }`;
      const { data, codes } = await api.ask(document, { variables });
      return codes[0] ?? JSON.stringify(data.createSession.session.metadata);
    };
    expect(await literal('{ a: [1, 2.5, "x", true, null], __proto__: { admin: true } }')).toBe(
      '{"a":[1,2.5,"x",true,null],"__proto__":{"admin":true}}',
    );
    expect(await literal("{ a: { b: $deep } }", { deep: { c: 1 } })).toBe('{"a":{"b":{"c":1}}}');
    expect(await literal("{ n: 9007199254740993 }")).toBe("BAD_USER_INPUT");
    expect(await literal("{ n: WORD }")).toBe("BAD_USER_INPUT");
    expect(await literal(`${"{ a: ".repeat(70)}1${" }".repeat(70)}`)).toBe("BAD_USER_INPUT");
  });

  it("names the place in the variables that it refuses", async () => {
    const variables = { input: { metadata: { n: 2 ** 53 } } };
    const answer = await api.ask(create, { variables });
    expect(onlyError(answer)).toMatchObject({ code: "BAD_USER_INPUT", field: ["input", "metadata"] });
  });
});

describe("ID", () => {
  it("takes text and exact whole numbers, never one that has lost digits", async () => {
    const back = async (id: unknown) => {
      const { data, codes } = await api.ask(create, { variables: { input: { id } } });
      return codes[0] ?? data.createSession.session.id;
    };
    expect(await back("é 1")).toBe("é 1");
    expect(await back(9007199254740991)).toBe("9007199254740991");
    expect(await back(2 ** 60)).toBe("BAD_USER_INPUT");
    expect(await back(1.5)).toBe("BAD_USER_INPUT");
    expect(await back(true)).toBe("BAD_USER_INPUT");
  });

  it("takes the digits of a literal as they stand", async () => {
    const { data } = await api.ask(
      "mutation { createSession(input: { id: 12345678901234567890 }) { session { id } } }",
    );
    expect(data.createSession.session.id).toBe("12345678901234567890");
  });
});

describe("JSONText, DateTime and SafeInt", () => {
  const assistant = (change: object) => ({ variables: { message: { message: { assistant: change } } } });

  it("keeps JSON text byte for byte, and refuses what is none", async () => {
    const block = '{ "n":1.0, "big":123456789012345678901234567890, "e":"\\u0041" }';
    const kept = await api.ask(append, assistant({ replayBlocks: [block] }));
    expect(kept.data.appendMessages.messages[0].message.replayBlocks).toEqual([block]);
    const refused = await api.ask(append, assistant({ text: "x", replayBlocks: ["{", "1"] }));
    expect(onlyError(refused)).toMatchObject({
      code: "BAD_USER_INPUT",
      field: ["message", "message", "assistant", "replayBlocks", 0],
    });
    expect((await api.ask(append, assistant({ replayBlocks: [{}] }))).codes).toEqual(["BAD_USER_INPUT"]);
  });

  it("keeps microseconds through any offset", async () => {
    const timing = (startedAt: string, durationNs: unknown = 1) => ({
      variables: {
        message: { message: { user: { text: "x" } }, timing: { startedAt, completedAt: startedAt, durationNs } },
      },
    });
    const kept = await api.ask(append, timing("2026-12-01T05:01:16.123456+01:00", 9007199254740991));
    expect(kept.data.appendMessages.messages[0].timing).toEqual({
      startedAt: "2026-12-01T04:01:16.123456Z",
      durationNs: 9007199254740991,
    });
    for (const time of ["2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01", "", "2026-01-01T00:00:00"]) {
      expect((await api.ask(append, timing(time))).codes).toEqual(["BAD_USER_INPUT", "BAD_USER_INPUT"]);
    }
    for (const number of [2 ** 53, 0.5, "1", -1]) {
      expect((await api.ask(append, timing("2026-01-01T00:00:00Z", number))).codes[0]).toMatch(/^BAD_USER_INPUT/);
    }
  });
});
