import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkMessages } from "../../src/store/message-check.ts";
import { composePayload, encodeMessage, parsePayload } from "../../src/store/message-codec.ts";
import type { Message } from "../../src/store/model.ts";
import { refusalOf } from "../support/refusal.ts";

// Any sequence of UTF-16 units: NUL, controls and lone surrogates among them.
const oddText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
const notes = { attributes: fc.constantFrom({}, { a: 1, b: ["\ud800"] }), includeInContext: fc.boolean() };
const jsonText = fc.constantFrom("{}", ' {"a":9007199254740993}', '{"b":1,"a":1e400,"10":-0}\n', '"\\ud800"');

const anyMessage: fc.Arbitrary<Message> = fc
  .oneof(
    fc.record({ role: fc.constantFrom("SYSTEM", "USER", "AGENT"), text: oddText, ...notes }),
    fc.record({
      role: fc.constant("ASSISTANT"),
      text: oddText,
      reasoning: fc.option(oddText),
      toolCalls: fc.array(fc.record({ id: oddText, name: oddText, arguments: jsonText })),
      provider: fc.option(oddText),
      model: fc.option(oddText),
      replayBlocks: fc.array(jsonText),
      ...notes,
    }),
    fc.record({
      role: fc.constant("TOOL"),
      text: oddText,
      toolCallId: oddText,
      name: oddText,
      success: fc.boolean(),
      ...notes,
    }),
  )
  .map((message) => ({ ...message, parts: [{ kind: "text", text: message.text }] }) as Message);

describe("a payload", () => {
  it("gives every message back exactly, whatever its text holds", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const payload = composePayload(encodeMessage(message));
        expect(parsePayload(payload)).toEqual(message);
        expect(composePayload(encodeMessage(parsePayload(payload) ?? message))).toBe(payload);
      }),
    );
  });

  it("has every field of the message's type, in the order of the schema", () => {
    const [checked] = checkMessages([{ message: { assistant: { toolCalls: [{ id: "c", name: "n" }] } } }]);
    expect(composePayload((checked ?? expect.fail()).encoded)).toBe(
      '{"role":"ASSISTANT","text":"","parts":[],"attributes":{},"includeInContext":true,"reasoning":null,' +
        '"toolCalls":[{"id":"c","name":"n","arguments":"{}"}],"provider":null,"model":null,"replayBlocks":[]}',
    );
  });

  it("is taken as input, checked like the others, and comes out the same", () => {
    const [first] = checkMessages([
      { message: { user: { parts: [{ text: "a" }, { image: { url: "https://x/y.png" } }] } } },
    ]);
    const payload = composePayload((first ?? expect.fail()).encoded);
    const [second] = checkMessages([{ message: { payload } }]);
    expect(second?.encoded).toEqual(first?.encoded);
  });
});

describe("the form of a message", () => {
  const refused: readonly (readonly [input: object, refusal: string])[] = [
    [{}, "messages.0.message"],
    [{ user: { text: "a" }, tool: { toolCallId: "c", name: "n", text: "" } }, "messages.0.message"],
    [{ user: {} }, "messages.0.message.user.text"],
    [{ user: { text: "a", parts: [] } }, "messages.0.message.user.parts"],
    [{ user: { parts: [{ text: "a", image: { url: "https://x" } }] } }, "messages.0.message.user.parts.0"],
    [{ user: { parts: [{ image: { url: "file:///x" } }] } }, "messages.0.message.user.parts.0.image.url"],
    [{ user: { parts: [{ image: { data: "AAAA" } }] } }, "messages.0.message.user.parts.0.image.mediaType"],
    [
      { user: { parts: [{ image: { data: "A", mediaType: "image/png" } }] } },
      "messages.0.message.user.parts.0.image.data",
    ],
    [
      { user: { parts: [{ file: { url: "x", data: "AAAA", mediaType: "a/b" } }] } },
      "messages.0.message.user.parts.0.file",
    ],
    [{ assistant: { toolCalls: [{ id: "", name: "n" }] } }, "messages.0.message.assistant.toolCalls.0.id"],
    [
      {
        assistant: {
          toolCalls: [
            { id: "c", name: "n" },
            { id: "c", name: "n" },
          ],
        },
      },
      "messages.0.message.assistant.toolCalls.1.id",
    ],
    ...["", "{", '{"a":1,}', "NaN", "01", "{}x", "\ufeff{}"].map(
      (text) =>
        [
          { assistant: { toolCalls: [{ id: "c", name: "n", arguments: text }] } },
          "messages.0.message.assistant.toolCalls.0.arguments",
        ] as const,
    ),
    [{ payload: '{"role":"USER"}' }, "messages.0.message.payload"],
    [
      { payload: '{"role":"USER","text":"a","parts":[{"text":"b"}],"attributes":{},"includeInContext":true}' },
      "messages.0.message.payload",
    ],
  ];
  it.each(refused)("%j is refused at its field", async (message, path) => {
    expect(await refusalOf(() => checkMessages([{ message }]))).toBe(`BAD_USER_INPUT ${path}`);
  });

  it("bounds the batch and names the index", async () => {
    const good = { message: { user: { text: "a" } } };
    expect(await refusalOf(() => checkMessages([]))).toBe("BAD_USER_INPUT messages");
    expect(await refusalOf(() => checkMessages(Array(1_001).fill(good)))).toBe("BAD_USER_INPUT messages");
    expect(checkMessages(Array(1_000).fill(good))).toHaveLength(1_000);
    const bad = [...Array(6).fill(good), { ...good, usage: { inputTokens: 1 } }];
    expect(await refusalOf(() => checkMessages(bad))).toBe("BAD_USER_INPUT messages.6.usage");
  });
});
