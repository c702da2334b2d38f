import { builder } from "./builder.ts";
import { ImageDetailEnum } from "./enums.ts";

const attributes = "The application's own notes on the message, at most 64 KiB.";
const includeInContext =
  "Whether a restored context holds the message; true where left out, false for system messages.";

const ImagePartInput = builder.inputType("ImagePartInput", {
  description: "An image: exactly one of url and data.",
  fields: (t) => ({
    url: t.string({ description: "An http(s) or data:image url." }),
    data: t.string({ description: "The image itself, base64; needs mediaType." }),
    mediaType: t.string({ description: "Its media type, e.g. image/png." }),
    detail: t.field({ type: ImageDetailEnum, defaultValue: "AUTO", description: "How closely to look." }),
    altText: t.string({ description: "What it shows; part of the readable text." }),
  }),
});

const FilePartInput = builder.inputType("FilePartInput", {
  description: "A file: exactly one of url and data.",
  fields: (t) => ({
    url: t.string({ description: "Where the file is." }),
    data: t.string({ description: "The file itself, base64." }),
    mediaType: t.string({ required: true, description: "Its media type, e.g. application/pdf." }),
    name: t.string({ description: "Its file name." }),
  }),
});

const ContentPartInput = builder.inputType("ContentPartInput", {
  description: "A part of a message: exactly one of these.",
  isOneOf: true,
  fields: (t) => ({
    text: t.string({ description: "A piece of text." }),
    image: t.field({ type: ImagePartInput, description: "An image." }),
    file: t.field({ type: FilePartInput, description: "Any other file." }),
  }),
});

const ToolCallInput = builder.inputType("ToolCallInput", {
  description: "A model's wish to have a tool run.",
  fields: (t) => ({
    id: t.id({ required: true, description: "Names the call in its result; unique in its message." }),
    name: t.string({ required: true, description: "The tool." }),
    arguments: t.field({ type: "JSONText", defaultValue: "{}", description: "What to run it with." }),
  }),
});

const TextMessageInput = builder.inputType("TextMessageInput", {
  description: "A message of text alone.",
  fields: (t) => ({
    text: t.string({ required: true, description: "What it says." }),
    attributes: t.field({ type: "JSONObject", description: attributes }),
    includeInContext: t.boolean({ description: includeInContext }),
  }),
});

const UserMessageInput = builder.inputType("UserMessageInput", {
  description: "What the end user said: exactly one of text and parts.",
  fields: (t) => ({
    text: t.string({ description: "What it says, as plain text." }),
    parts: t.field({ type: [ContentPartInput], description: "What it says, part by part." }),
    attributes: t.field({ type: "JSONObject", description: attributes }),
    includeInContext: t.boolean({ description: includeInContext }),
  }),
});

const AssistantMessageInput = builder.inputType("AssistantMessageInput", {
  description: "What the model answered: at most one of text and parts.",
  fields: (t) => ({
    text: t.string({ description: "What it says, as plain text." }),
    parts: t.field({ type: [ContentPartInput], description: "What it says, part by part." }),
    reasoning: t.string({ description: "Readable reasoning." }),
    toolCalls: t.field({ type: [ToolCallInput], description: "The calls it makes, in order." }),
    provider: t.string({ description: "Who runs the model." }),
    model: t.string({ description: "The model that answered." }),
    replayBlocks: t.field({
      type: ["JSONText"],
      description: "Opaque blocks of the provider that must go back to it unchanged.",
    }),
    attributes: t.field({ type: "JSONObject", description: attributes }),
    includeInContext: t.boolean({ description: includeInContext }),
  }),
});

const ToolMessageInput = builder.inputType("ToolMessageInput", {
  description: "The result of one tool call: exactly one of text and parts.",
  fields: (t) => ({
    toolCallId: t.id({ required: true, description: "The call that it answers." }),
    name: t.string({ required: true, description: "The tool." }),
    text: t.string({ description: "The result, as plain text." }),
    parts: t.field({ type: [ContentPartInput], description: "The result, part by part." }),
    success: t.boolean({ defaultValue: true, description: "False for a failed, skipped or cancelled call." }),
    attributes: t.field({ type: "JSONObject", description: attributes }),
    includeInContext: t.boolean({ description: includeInContext }),
  }),
});

export const MessageInput = builder.inputType("MessageInput", {
  description: "A message: exactly one of these.",
  isOneOf: true,
  fields: (t) => ({
    system: t.field({ type: TextMessageInput, description: "Instructions to the model." }),
    user: t.field({ type: UserMessageInput, description: "What the end user said." }),
    assistant: t.field({ type: AssistantMessageInput, description: "What the model answered." }),
    tool: t.field({ type: ToolMessageInput, description: "The result of a tool call." }),
    agent: t.field({ type: TextMessageInput, description: "Input from an extension to its own agent." }),
    payload: t.field({
      type: "JSONText",
      description: "A message as RawMessage.payload returns it; checked like the others.",
    }),
  }),
});

const StreamTimingInput = builder.inputType("StreamTimingInput", {
  description: "When something streamed.",
  fields: (t) => ({
    startedAt: t.field({ type: "DateTime", required: true, description: "Its first moment." }),
    completedAt: t.field({ type: "DateTime", required: true, description: "Its last; clocks may step, so any." }),
    durationNs: t.field({
      type: "SafeInt",
      required: true,
      description: "Its length by a monotonic clock, 0 or more.",
    }),
  }),
});

export const MessageTimingInput = builder.inputType("MessageTimingInput", {
  description: "When the message's work happened.",
  fields: (t) => ({
    startedAt: t.field({ type: "DateTime", required: true, description: "Its first moment." }),
    completedAt: t.field({ type: "DateTime", required: true, description: "Its last; clocks may step, so any." }),
    durationNs: t.field({
      type: "SafeInt",
      required: true,
      description: "Its length by a monotonic clock, 0 or more.",
    }),
    reasoning: t.field({ type: StreamTimingInput, description: "The streamed reasoning of an assistant's message." }),
    content: t.field({ type: StreamTimingInput, description: "The streamed answer of an assistant's message." }),
  }),
});
