import { EMPTY_OBJECT } from "../json.ts";
import { parsePayload } from "../store/message-codec.ts";
import type {
  AgentMessage,
  AssistantMessage,
  Message,
  MessageRole,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "../store/model.ts";
import { builder } from "./builder.ts";
import { ContentPartUnion } from "./content-part.ts";
import { MessageRoleEnum } from "./enums.ts";

/** Stands for a message that is damaged on disk. */
interface UnreadableMessage {
  readonly unreadable: true;
  readonly role: MessageRole;
  readonly text: "";
  readonly parts: readonly [];
  readonly attributes: typeof EMPTY_OBJECT;
  readonly includeInContext: false;
}
export type ReadMessage = Message | UnreadableMessage;

/** The message in a stored payload; an empty one of that role where the payload is damaged. */
export function readMessage(role: MessageRole, payload: string | null): ReadMessage {
  const message = payload === null ? null : parsePayload(payload);
  return message ?? { unreadable: true, role, text: "", parts: [], attributes: EMPTY_OBJECT, includeInContext: false };
}

/** The payload as it is stored; of a damaged one, what UnreadableMessage says. */
export function readablePayload(role: MessageRole, payload: string | null): string {
  if (payload !== null) return payload;
  const { unreadable: _, ...message } = { unreadable: true, ...readMessage(role, null) };
  return JSON.stringify(message);
}

export const MessageInterface = builder.interfaceRef<ReadMessage>("Message").implement({
  description: "What was said, in the form of its role. Roles may be added; clients bear unknown ones.",
  resolveType: (message) => ("unreadable" in message ? "UnreadableMessage" : TYPE_BY_ROLE[message.role]),
  fields: (t) => ({
    role: t.expose("role", { type: MessageRoleEnum, description: "Who it comes from." }),
    text: t.exposeString("text", { description: "Readable text, without image or file data." }),
    parts: t.expose("parts", {
      type: [ContentPartUnion],
      description: "The message as parts; plain text is one TextPart, nothing is none.",
    }),
    attributes: t.expose("attributes", { type: "JSONObject", description: "The application's own notes on it." }),
    includeInContext: t.exposeBoolean("includeInContext", {
      description: "Whether a restored context holds this message.",
    }),
  }),
});

const TYPE_BY_ROLE = {
  SYSTEM: "SystemMessage",
  USER: "UserMessage",
  ASSISTANT: "AssistantMessage",
  TOOL: "ToolMessage",
  AGENT: "AgentMessage",
} as const;

builder.objectRef<SystemMessage>("SystemMessage").implement({
  interfaces: [MessageInterface],
  description: "Instructions. Logged for the record, not restored unless includeInContext says so.",
});

builder.objectRef<UserMessage>("UserMessage").implement({
  interfaces: [MessageInterface],
  description: "What the end user said.",
});

builder.objectRef<AgentMessage>("AgentMessage").implement({
  interfaces: [MessageInterface],
  description: "Input from an extension to its own agent; providers see it as a user's message.",
});

builder.objectRef<UnreadableMessage>("UnreadableMessage").implement({
  interfaces: [MessageInterface],
  description:
    "A stored message that is damaged on disk. It is empty, so that a walk can go on past it. A context that " +
    "needs it is refused instead (UNAVAILABLE).",
});

const ToolCallRef = builder.objectRef<ToolCall>("ToolCall").implement({
  description: "A model's wish to have a tool run.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Names the call in its result; unique in its message." }),
    name: t.exposeString("name", { description: "The tool." }),
    arguments: t.expose("arguments", { type: "JSONText", description: "What to run it with, byte for byte." }),
  }),
});

builder.objectRef<AssistantMessage>("AssistantMessage").implement({
  interfaces: [MessageInterface],
  description: "What the model answered.",
  fields: (t) => ({
    reasoning: t.exposeString("reasoning", { nullable: true, description: "Readable reasoning, where given." }),
    toolCalls: t.expose("toolCalls", { type: [ToolCallRef], description: "The calls it makes, in order." }),
    provider: t.exposeString("provider", { nullable: true, description: "Who runs the model." }),
    model: t.exposeString("model", { nullable: true, description: "The model that answered." }),
    replayBlocks: t.expose("replayBlocks", {
      type: ["JSONText"],
      description:
        "Opaque blocks of the provider (signed reasoning and the like) that go back to the same provider and model " +
        "unchanged.",
    }),
  }),
});

builder.objectRef<ToolMessage>("ToolMessage").implement({
  interfaces: [MessageInterface],
  description: "The result of one tool call.",
  fields: (t) => ({
    toolCallId: t.exposeID("toolCallId", { description: "The call that it answers." }),
    name: t.exposeString("name", { description: "The tool." }),
    success: t.exposeBoolean("success", { description: "False for a failed, skipped or cancelled call." }),
  }),
});
