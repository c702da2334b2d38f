import type { AppendMessageInput } from "../contract.ts";
import { type ConformanceCase, storeCase } from "./case.ts";
import { expectRefusal, expectSame } from "./expectation.ts";
import { assistant, logOf, user, uuid } from "./messages.ts";

const ODD = "NUL \u0000, half \ud83d, escape \u001b[31m, \ufeff \u2028 \r\n";
const EXACT_JSON = ' {"zeta":1.0,"10":3,"n":-170141183460469231731687303715884105728,"a":"\\u00e9","a":1e400}\n';

/** The raw log: order, idempotency, exactness. */
export const appendCases: readonly ConformanceCase[] = [
  storeCase("sequences are dense from 1 under interleaved writers", async (store) => {
    const writers = Array.from({ length: 40 }, (_, writer) =>
      store.appendMessages({ sessionId: "s", messages: [user(`${writer}a`), user(`${writer}b`)] }),
    );
    const answers = await Promise.all(writers);
    const sequences = answers.flatMap((answer) => answer.messages.map((message) => message.sequence));
    expectSame(
      sequences.sort((a, b) => a - b),
      Array.from({ length: 80 }, (_, index) => index + 1),
      "sequences",
    );
    expectSame((await store.getSessions(["s"]))[0]?.lastSequence, 80, "lastSequence");
  }),
  storeCase("a repeat with its ids gives the same records, whatever else has changed", async (store) => {
    const messages = [user("a", uuid()), user("b", uuid())];
    const first = await store.appendMessages({ sessionId: "s", messages, expectedLastSequence: 0 });
    await store.appendMessages({ sessionId: "s", messages: [user("c")] });
    const again = await Promise.all(
      Array.from({ length: 10 }, () => store.appendMessages({ sessionId: "s", messages, expectedLastSequence: 0 })),
    );
    for (const answer of again) expectSame([answer.messages, answer.duplicates], [first.messages, 2], "repeat");
    expectSame((await logOf(store, "s")).length, 3, "messages stored");
  }),
  storeCase("another message under a known id is CONFLICT and nothing is stored", async (store) => {
    const id = uuid();
    await store.appendMessages({ sessionId: "s", messages: [user("a", id)] });
    const changed = [user("new", uuid()), user("changed", id)];
    await expectRefusal(store.appendMessages({ sessionId: "s", messages: changed }), "CONFLICT CONTENT_DIFFERS");
    await expectRefusal(store.appendMessages({ sessionId: "t", messages: [user("a", id)] }), "CONFLICT ID_TAKEN");
    expectSame(await store.getSessions(["t"]), [null], "the other session");
    expectSame((await logOf(store, "s")).length, 1, "messages stored");
  }),
  storeCase("one id twice in a batch is stored once where the messages are the same", async (store) => {
    const id = uuid();
    const twice = await store.appendMessages({ sessionId: "s", messages: [user("a", id), user("a", id)] });
    expectSame([twice.duplicates, twice.messages.map((message) => message.sequence)], [1, [1, 1]], "doubled id");
    const other = uuid();
    const differing = [user("a", other), user("b", other)];
    await expectRefusal(store.appendMessages({ sessionId: "s", messages: differing }), "CONFLICT CONTENT_DIFFERS");
  }),
  storeCase("of two writers with one expectation one succeeds", async (store) => {
    for (let round = 0; round < 10; round++) {
      const expectedLastSequence = round;
      const append = (text: string) =>
        store.appendMessages({ sessionId: "s", messages: [user(text)], expectedLastSequence });
      const settled = await Promise.allSettled([append("a"), append("b")]);
      expectSame(settled.map((one) => one.status).sort(), ["fulfilled", "rejected"], `round ${round}`);
    }
    expectSame((await logOf(store, "s")).length, 10, "messages stored");
  }),
  storeCase("a batch is stored whole or not at all", async (store) => {
    const wrong: AppendMessageInput = { message: { assistant: { text: "x", toolCalls: [{ id: "", name: "n" }] } } };
    await expectRefusal(store.appendMessages({ sessionId: "s", messages: [user("a"), wrong] }), "BAD_USER_INPUT");
    await expectRefusal(store.appendMessages({ sessionId: "s", messages: [] }), "BAD_USER_INPUT");
    await expectRefusal(
      store.appendMessages({ sessionId: "s", messages: Array(1_001).fill(user("x")) }),
      "BAD_USER_INPUT",
    );
    expectSame(await store.getSessions(["s"]), [null], "the session");
  }),
  storeCase(
    "what was appended comes back exactly: odd text, JSON byte for byte, keys like __proto__",
    async (store) => {
      const metadata = JSON.parse('{"__proto__":{"admin":true},"constructor":1}');
      const message = {
        assistant: {
          text: ODD,
          reasoning: ODD,
          toolCalls: [{ id: "c\ud800", name: ODD, arguments: EXACT_JSON }],
          replayBlocks: [EXACT_JSON],
          provider: "p",
          model: "m",
        },
      };
      const usage = { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 3, reasoningTokens: 2 };
      const { messages } = await store.appendMessages({ sessionId: "s", messages: [{ message, usage, metadata }] });
      const [stored] = await logOf(store, "s");
      expectSame(stored, messages[0], "what the append answered");
      const payload = JSON.parse(stored?.payload ?? "null");
      expectSame(payload.toolCalls, message.assistant.toolCalls, "calls");
      expectSame([payload.replayBlocks, payload.reasoning, stored?.text], [[EXACT_JSON], ODD, ODD], "texts");
      expectSame(Object.keys(stored?.metadata ?? {}), ["__proto__", "constructor"], "keys");
      expectSame(stored?.usage?.inputTokens, Number.MAX_SAFE_INTEGER, "usage");
      await store.appendMessages({ sessionId: "s", messages: [{ message: { payload: stored?.payload ?? "" } }] });
      expectSame((await logOf(store, "s"))[1]?.payload, stored?.payload, "a payload sent back");
    },
  ),
  storeCase("totals count each message once", async (store) => {
    const reply = {
      ...assistant("x"),
      id: uuid(),
      usage: { inputTokens: 1_000, cacheReadTokens: 900, outputTokens: 50 },
    };
    for (let round = 0; round < 3; round++) await store.appendMessages({ sessionId: "s", messages: [reply] });
    const [session] = await store.getSessions(["s"]);
    const { inputTokens, cacheReadTokens, outputTokens } = session?.usage ?? {};
    expectSame([inputTokens, cacheReadTokens, outputTokens], [1_000, 900, 50], "usage");
    expectSame((await store.tenantUsage()).tokens, session?.usage, "the tenant's usage");
  }),
];
