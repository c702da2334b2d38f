import Database from "better-sqlite3";
import { tenantPath } from "../../src/store/sqlite/tenant-path.ts";
import type { TestGateway } from "./gateway.ts";
import { SESSION_MESSAGES, type WalkIds } from "./isolation-fixture.ts";

// One tenant whose data shows every field of the API: each field of the schema answers something to its owner.

/** The owner's credentials, and the ids of what stands in its tenant. */
export interface Owner {
  readonly ids: WalkIds;
  /** A key with every scope. */
  readonly key: string;
  /** A key of the end user to whom the sessions belong. */
  readonly userKey: string;
  /** A key of another end user of the same tenant. */
  readonly strangerKey: string;
}

/** Ids of the same form as an owner's, that nobody ever used. */
export function unusedIds(): WalkIds {
  const mark = crypto.randomUUID().slice(0, 8);
  return {
    session: `session-${mark}`,
    child: `child-${mark}`,
    run: crypto.randomUUID(),
    user: `user-${mark}`,
    agent: `agent-${mark}`,
    request: `request-${mark}`,
    key: `key-${mark}`,
    tenant: `tenant-${mark}`,
  };
}

const stream = { startedAt: "2026-01-01T00:00:00Z", completedAt: "2026-01-01T00:00:01Z", durationNs: 1_000_000_000 };
const usage = { inputTokens: 9, outputTokens: 4, cacheReadTokens: 3, cacheWriteTokens: 2, reasoningTokens: 1 };
const noted = { attributes: { note: "n" } };

function messages() {
  const parts = [
    { text: "see" },
    { image: { url: "https://example.com/a.png", altText: "a picture" } },
    { image: { data: "AAAA", mediaType: "image/png" } },
    { file: { url: "https://example.com/a.pdf", mediaType: "application/pdf", name: "a.pdf" } },
    { file: { data: "AAAA", mediaType: "text/plain" } },
  ];
  const called = {
    ...noted,
    ...{ text: "calling", reasoning: "because", provider: "p", model: "m", replayBlocks: ["{}"] },
    toolCalls: [{ id: "c1", name: "search" }],
  };
  const input = [
    { message: { system: { text: "rules", ...noted } } },
    { message: { user: { parts, ...noted } }, metadata: { m: 1 }, tags: { t: 1 } },
    { message: { assistant: called }, usage, turn: 1, timing: { ...stream, reasoning: stream, content: stream } },
    { message: { tool: { toolCallId: "c1", name: "search", text: "found", ...noted } } },
    { message: { agent: { text: "hint", ...noted } } },
    { message: { assistant: { toolCalls: [{ id: "c2", name: "search" }] } } },
    { message: { user: { text: "still there?" } } },
    { message: { tool: { toolCallId: "c9", name: "search", text: "orphan" } } },
  ];
  if (input.length !== SESSION_MESSAGES) throw new Error("SESSION_MESSAGES does not say what stands here");
  return input;
}

/** Makes the tenant and all that stands in it. */
export async function makeOwner(gateway: TestGateway): Promise<Owner> {
  const ids = unusedIds();
  const limits = { maxSessions: 1_000, maxMessages: 100_000, maxBytes: 1_000_000_000, requestsPerMinute: 1_000_000 };
  const key = await gateway.tenant(ids.tenant, limits);
  const does = async (query: string, input: Readonly<Record<string, unknown>>): Promise<void> => {
    const { errors, text } = await gateway.post(key, query, { input });
    if (errors.length > 0) throw new Error(text);
  };
  const mutation = (name: string, type: string, select: string) =>
    `mutation ($input: ${type}!) { ${name}(input: $input) { ${select} } }`;
  const append = mutation("appendMessages", "AppendMessagesInput", "duplicates");
  const start = mutation("startRun", "StartRunInput", "run { id }");
  const session = { userId: ids.user, agentName: ids.agent, title: "Title", metadata: { k: 1 } };
  const failed = crypto.randomUUID();
  await does(start, { id: failed, sessionId: ids.session, requestId: ids.request, session });
  await does(append, { sessionId: ids.session, requestId: ids.request, runId: failed, messages: messages() });
  await does(mutation("finishRun", "FinishRunInput", "run { id }"), {
    ...{ runId: failed, status: "FAILED", error: { name: "E", message: "broken" } },
  });
  await does(mutation("createSnapshot", "CreateSnapshotInput", "snapshot { id }"), {
    ...{ sessionId: ids.session, summary: "so far", usage, attributes: { a: 1 } },
    ...{ compactedThroughSequence: 1, expectedVersion: 0 },
  });
  await does(start, { id: ids.run, sessionId: ids.session, requestId: ids.request, leaseSeconds: 3_600 });
  const call = { toolCall: { id: "c1", name: "search" } };
  const messageId = crypto.randomUUID();
  await does(mutation("recordRunEvents", "RecordRunEventsInput", "run { id }"), {
    runId: ids.run,
    events: [
      { type: "TOOL_STARTED", phase: "RUNNING_TOOL", turn: 1, ...call },
      { type: "CUSTOM", phase: "GENERATING", name: "step", payload: { p: 1 }, messageId },
      { type: "TEXT_DELTA", phase: "GENERATING", turn: 2, delta: "draft", messageId },
      { type: "REASONING_DELTA", phase: "GENERATING", turn: 2, delta: "thought", messageId },
    ],
  });
  await does(mutation("requestRunCancel", "RequestRunCancelInput", "run { id }"), { runId: ids.run });
  await does(append, {
    sessionId: ids.child,
    session: { parentSessionId: ids.session, userId: ids.user, agentName: ids.agent },
    messages: [{ message: { user: { text: "of the child" } } }],
  });
  damageChild(gateway, ids);
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  const roles = ["SYSTEM", "USER", "ASSISTANT", "TOOL", "AGENT"];
  const narrowed = (userId: string) => ({
    ...{ userId, expiresAt: soon, scopes: ["READ", "WRITE", "DELETE"], name: "a user's" },
    ...{ visibleRoles: roles, writableRoles: roles },
  });
  const revoked = `${ids.key}-revoked`;
  await gateway.key(ids.tenant, { id: revoked });
  await does(mutation("revokeApiKey", "RevokeApiKeyInput", "apiKey { id }"), { apiKeyId: revoked });
  await gateway.key(ids.tenant, { id: ids.key, name: "named" });
  return {
    ids,
    key,
    userKey: await gateway.key(ids.tenant, narrowed(ids.user)),
    strangerKey: await gateway.key(ids.tenant, narrowed(`stranger-${crypto.randomUUID()}`)),
  };
}

/** A row damaged on disk, as a failing disk would: the API shows it as UnreadableMessage. */
function damageChild(gateway: TestGateway, ids: WalkIds): void {
  const database = new Database(tenantPath(gateway.folder, ids.tenant));
  try {
    const { changes } = database
      .prepare("UPDATE raw_messages SET tail_json = 'torn' WHERE session_key = (SELECT key FROM sessions WHERE id = ?)")
      .run(ids.child);
    if (changes !== 1) throw new Error("the child's message is not there");
  } finally {
    database.close();
  }
}
