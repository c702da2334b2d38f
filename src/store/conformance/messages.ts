import type { AppendMessageInput, SessionStore, ToolCallInput } from "../contract.ts";
import { EVERYTHING, type RawMessage } from "../model.ts";

/** A user's message, with an id where one is given. */
export function user(text: string, id?: string): AppendMessageInput {
  return { message: { user: { text } }, ...(id === undefined ? {} : { id }) };
}

/** An assistant's message that calls tools by these ids. */
export function assistant(text: string, calls: readonly string[] = []): AppendMessageInput {
  const toolCalls: readonly ToolCallInput[] = calls.map((id) => ({ id, name: "tool" }));
  return { message: { assistant: { text, toolCalls } } };
}

/** A tool's result for a call. */
export function result(toolCallId: string, text = "ok"): AppendMessageInput {
  return { message: { tool: { toolCallId, name: "tool", text } } };
}

/** The whole log of a session, in one page at most. */
export async function logOf(store: SessionStore, sessionId: string): Promise<readonly RawMessage[]> {
  const page = await store.listMessages({ sessionId, page: { first: 1_000 }, select: EVERYTHING });
  return page?.nodes ?? [];
}

/** A UUID of the suite's own. */
export function uuid(): string {
  return globalThis.crypto.randomUUID();
}
