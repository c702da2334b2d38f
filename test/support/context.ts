import type { AppendMessageInput, ContextView, SessionStore } from "../../src/store/contract.ts";
import { parsePayload } from "../../src/store/message-codec.ts";
import type { ContextMessage, ContextRepair, Message } from "../../src/store/model.ts";

// Short words for the messages of a case: U user, A assistant with calls, T tool result, S system.

export const U = (text: string): AppendMessageInput => ({ message: { user: { text } } });
export const S = (text: string): AppendMessageInput => ({ message: { system: { text } } });
export const A = (text: string, ...calls: readonly string[]): AppendMessageInput => ({
  message: { assistant: { text, toolCalls: calls.map((id) => ({ id, name: `tool-${id}` })) } },
});
export const T = (toolCallId: string, text = "ok"): AppendMessageInput => ({
  message: { tool: { toolCallId, name: `tool-${toolCallId}`, text } },
});

/** The same message, not meant for the context. */
export function excluded(input: AppendMessageInput): AppendMessageInput {
  const { assistant, tool, user } = input.message;
  const note = { includeInContext: false };
  if (assistant) return { message: { assistant: { ...assistant, ...note } } };
  if (tool) return { message: { tool: { ...tool, ...note } } };
  return { message: { user: { ...user, ...note } } };
}

export function messageIn(message: ContextMessage): Message {
  const parsed = parsePayload(message.payload);
  if (parsed === null) throw new Error("a context message can be parsed");
  return parsed;
}

/** Sequences of a context's messages; a synthesized result as its call id. */
export function seen(messages: readonly ContextMessage[]): readonly (number | string)[] {
  return messages.map((message) => {
    const parsed = messageIn(message);
    return message.sequence ?? (parsed.role === "TOOL" ? parsed.toolCallId : "not a result");
  });
}

export function repairsIn(repairs: readonly ContextRepair[]): readonly string[] {
  return repairs.map((repair) => `${repair.kind} ${repair.sequence} ${repair.toolCallId}`);
}

/** The context of a session that is there, and one page of it. */
export async function contextOf(
  store: SessionStore,
  sessionId = "s",
  more: Partial<Parameters<SessionStore["readContext"]>[0]> = {},
): Promise<ContextView & { readonly nodes: readonly ContextMessage[] }> {
  const view = await store.readContext({ sessionId, page: { first: 1_000 }, ...more });
  if (view === null) throw new Error("the session is there");
  return { ...view, nodes: view.messages?.nodes ?? [] };
}
