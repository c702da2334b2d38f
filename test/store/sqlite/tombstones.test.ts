import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { openTestStore, type TestStore } from "../../support/store.ts";

let test: TestStore;
beforeEach(() => {
  test = openTestStore();
});
afterEach(() => test.dispose());

const MARKER = "a marker that nobody may find again";

function markerIsOnDisk(): boolean {
  const files = ["", "-wal"].map((suffix) => `${test.file.path}${suffix}`).filter((path) => existsSync(path));
  return files.some((path) => readFileSync(path).includes(MARKER));
}

it("what a deleted session held is erased in slices, from the log too, and no other session's", async () => {
  const message = { message: { user: { text: MARKER } } };
  for (const messages of [600, 600]) {
    await test.store.appendMessages({ sessionId: "gone", messages: Array(messages).fill(message) });
  }
  await test.store.appendMessages({ sessionId: "kept", messages: [{ message: { user: { text: "stays" } } }] });
  await test.store.deleteSession("gone");
  expect(markerIsOnDisk()).toBe(true);
  const rows = () => Number(test.handle().connection.sql("SELECT count(*) AS rows FROM raw_messages").get()?.rows);
  expect(rows()).toBe(1_201);
  await test.handle().eraser.idle();
  expect(rows()).toBe(1);
  expect(markerIsOnDisk()).toBe(false);
  expect((await test.store.getSessions(["gone", "kept"])).map((session) => session?.messageCount)).toEqual([
    undefined,
    1,
  ]);
});

it("counts leave the tenant with the session, tokens stay: they were spent", async () => {
  const usage = { inputTokens: Number.MAX_SAFE_INTEGER };
  const assistant = { message: { assistant: { text: "a" } }, usage };
  await test.store.appendMessages({ sessionId: "s", messages: [assistant, assistant] });
  expect((await test.store.getSessions(["s"]))[0]?.usage.inputTokens).toBe(Number.MAX_SAFE_INTEGER);
  await test.store.deleteSession("s");
  expect(test.handle().connection.sql("SELECT session_count, message_count, input_tokens FROM tenant").get()).toEqual({
    session_count: 0,
    message_count: 0,
    input_tokens: Number.MAX_SAFE_INTEGER,
  });
});

it("usage is counted by the hour, agent, provider, model and user, in the append's own transaction", async () => {
  const assistant = { assistant: { text: "a", provider: "p", model: "m\ud800" } };
  await test.store.appendMessages({
    sessionId: "s",
    session: { agentName: "helper", userId: "u" },
    messages: [
      { message: assistant, usage: { inputTokens: 5 } },
      { message: assistant, usage: { inputTokens: 7 } },
    ],
  });
  const rows = test.handle().connection.sql("SELECT * FROM usage_hours").all();
  expect(rows).toMatchObject([
    {
      agent_name: "helper",
      provider_json: '"p"',
      model_json: '"m\\ud800"',
      user_id: "u",
      message_count: 2,
      input_tokens: 12,
    },
  ]);
});

it("a byte quota counts the write-ahead log too", async () => {
  test.dispose();
  test = openTestStore({ maxBytes: 400_000 });
  const message = { message: { user: { text: "x".repeat(50_000) } } };
  const outcomes: string[] = [];
  for (let round = 0; round < 8; round++) {
    outcomes.push(await refusalOf(test.store.appendMessages({ sessionId: "s", messages: [message] })));
  }
  expect(outcomes[0]).toBe("accepted");
  expect(outcomes.at(-1)).toBe("QUOTA_EXCEEDED");
  // 400,000 bytes hold seven such messages by their pages alone; page and log count both.
  expect(outcomes.filter((outcome) => outcome === "accepted").length).toBeLessThan(6);
});
