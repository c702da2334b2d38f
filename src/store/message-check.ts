import { badInput, type FieldPath } from "../errors.ts";
import { isJsonText } from "../json.ts";
import { checkCount, checkNotes, checkTextSize, checkToolText, checkUsage, checkUuid, utf8Size } from "./check.ts";
import { checkParts } from "./content-check.ts";
import type {
  AppendMessageInput,
  AssistantMessageInput,
  ContentPartInput,
  MessageInput,
  MessageTimingInput,
  StreamTimingInput,
  ToolCallInput,
} from "./contract.ts";
import { composePayload, type EncodedMessage, encodeMessage, textOfParts } from "./message-codec.ts";
import type { ContentPart, Message, MessageId, MessageTiming, StreamTiming, TokenUsage, ToolCall } from "./model.ts";
import type { Maybe } from "./page.ts";
import { payloadInput } from "./payload-input.ts";

export const MESSAGES_PER_APPEND_MAX = 1_000;
/** One payload, as UTF-8. */
export const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

/** A message that can be stored: every check of its form is behind it. */
export interface CheckedMessage {
  readonly id: MessageId | null;
  readonly turn: number | null;
  readonly message: Message;
  readonly encoded: EncodedMessage;
  readonly byteSize: number;
  /** Null: it started and completed when it was appended. */
  readonly timing: MessageTiming | null;
  readonly usage: TokenUsage | null;
  readonly metadataJson: string;
  readonly tagsJson: string;
}

/** Checks a whole append; the path of a refusal begins with ["messages", index]. */
export function checkMessages(messages: readonly AppendMessageInput[]): readonly CheckedMessage[] {
  if (messages.length < 1 || messages.length > MESSAGES_PER_APPEND_MAX) {
    throw badInput(["messages"], `One append takes 1 to ${MESSAGES_PER_APPEND_MAX} messages.`);
  }
  return messages.map((input, index) => checkMessage(input, ["messages", index]));
}

function checkMessage(input: AppendMessageInput, path: FieldPath): CheckedMessage {
  const message = messageOf(input.message, [...path, "message"]);
  const encoded = encodeMessage(message);
  const payload = checkTextSize(composePayload(encoded), PAYLOAD_BYTES_MAX, [...path, "message"], "payload");
  const usage = checkUsage(input.usage, [...path, "usage"]);
  if (usage !== null && message.role !== "ASSISTANT") {
    throw badInput([...path, "usage"], "Only an assistant's message has usage.");
  }
  return {
    id: given(input.id) ? checkUuid<MessageId>(input.id, [...path, "id"]) : null,
    turn: given(input.turn) ? checkCount(input.turn, [...path, "turn"]) : null,
    message,
    encoded,
    byteSize: utf8Size(payload),
    timing: given(input.timing) ? checkTiming(input.timing, [...path, "timing"]) : null,
    usage,
    metadataJson: checkNotes(input.metadata, [...path, "metadata"]).json,
    tagsJson: checkNotes(input.tags, [...path, "tags"]).json,
  };
}

function given<T>(value: Maybe<T>): value is T {
  return value !== null && value !== undefined;
}

const ARMS = ["system", "user", "assistant", "tool", "agent", "payload"] as const;

function messageOf(input: MessageInput, path: FieldPath): Message {
  const arms = ARMS.filter((arm) => given(input[arm]));
  if (arms.length !== 1) throw badInput(path, `A message is exactly one of ${ARMS.join(", ")}.`);
  if (given(input.payload)) return messageOf(payloadInput(input.payload, [...path, "payload"]), [...path, "payload"]);
  if (given(input.system)) return textMessage("SYSTEM", input.system, [...path, "system"]);
  if (given(input.agent)) return textMessage("AGENT", input.agent, [...path, "agent"]);
  if (given(input.user)) {
    const content = contentOf(input.user, "required", [...path, "user"]);
    return { role: "USER", ...content, ...notesOf(input.user, true, [...path, "user"]) };
  }
  if (given(input.tool)) {
    const at = [...path, "tool"];
    const content = contentOf(input.tool, "required", at);
    const toolCallId = checkToolText(input.tool.toolCallId, [...at, "toolCallId"]);
    const name = checkToolText(input.tool.name, [...at, "name"]);
    return {
      role: "TOOL",
      ...content,
      ...notesOf(input.tool, true, at),
      toolCallId,
      name,
      success: input.tool.success ?? true,
    };
  }
  return assistantMessage(input.assistant ?? {}, [...path, "assistant"]);
}

type Notes = Pick<AssistantMessageInput, "attributes" | "includeInContext">;

function notesOf(input: Notes, included: boolean, path: FieldPath): Pick<Message, "attributes" | "includeInContext"> {
  const attributes = checkNotes(input.attributes, [...path, "attributes"]).value;
  return { attributes, includeInContext: input.includeInContext ?? included };
}

/** A system message is logged for the record: not restored unless it says so. */
function textMessage(role: "SYSTEM" | "AGENT", input: Notes & { readonly text: string }, path: FieldPath): Message {
  return { role, ...contentOfText(input.text), ...notesOf(input, role === "AGENT", path) };
}

function assistantMessage(input: AssistantMessageInput, path: FieldPath): Message {
  const { reasoning = null, provider = null, model = null } = input;
  return {
    role: "ASSISTANT",
    ...contentOf(input, "optional", path),
    ...notesOf(input, true, path),
    reasoning,
    toolCalls: checkCalls(input.toolCalls ?? [], [...path, "toolCalls"]),
    provider,
    model,
    replayBlocks: (input.replayBlocks ?? []).map((block, index) => checkJson(block, [...path, "replayBlocks", index])),
  };
}

interface Content {
  readonly text?: Maybe<string>;
  readonly parts?: Maybe<readonly ContentPartInput[]>;
}

function contentOf(
  input: Content,
  need: "required" | "optional",
  path: FieldPath,
): { readonly text: string; readonly parts: readonly ContentPart[] } {
  if (given(input.text) && given(input.parts)) throw badInput([...path, "parts"], "Give text or parts, not both.");
  if (given(input.text)) return contentOfText(input.text);
  if (given(input.parts)) {
    const parts = checkParts(input.parts, [...path, "parts"]);
    return { text: textOfParts(parts), parts };
  }
  if (need === "required") throw badInput([...path, "text"], "Give exactly one of text and parts.");
  return { text: "", parts: [] };
}

/** Plain text is one text part, empty text too; only text that was not given is none. */
function contentOfText(text: string): { readonly text: string; readonly parts: readonly ContentPart[] } {
  return { text, parts: [{ kind: "text", text }] };
}

function checkCalls(calls: readonly ToolCallInput[], path: FieldPath): readonly ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    const id = checkToolText(call.id, [...path, index, "id"]);
    if (seen.has(id)) throw badInput([...path, index, "id"], "Another call of this message has that id.");
    seen.add(id);
    return {
      id,
      name: checkToolText(call.name, [...path, index, "name"]),
      arguments: checkJson(call.arguments ?? "{}", [...path, index, "arguments"]),
    };
  });
}

function checkJson(text: string, path: FieldPath): string {
  if (!isJsonText(text)) throw badInput(path, "This must be one JSON document as text.");
  return text;
}

function checkTiming(input: MessageTimingInput, path: FieldPath): MessageTiming {
  return {
    ...checkStream(input, path),
    reasoning: given(input.reasoning) ? checkStream(input.reasoning, [...path, "reasoning"]) : null,
    content: given(input.content) ? checkStream(input.content, [...path, "content"]) : null,
  };
}

/** Clocks step, so completedAt may lie before startedAt; a duration is monotonic and can't be negative. */
function checkStream(input: StreamTimingInput, path: FieldPath): StreamTiming {
  const durationNs = checkCount(input.durationNs, [...path, "durationNs"]);
  return { startedAt: input.startedAt, completedAt: input.completedAt, durationNs };
}
