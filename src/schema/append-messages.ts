import type { AppendMessagesResult } from "../store/contract.ts";
import { underInput, writing } from "./access.ts";
import { builder } from "./builder.ts";
import { MessageInput, MessageTimingInput } from "./message-input.ts";
import { RawMessageRef, SessionRef } from "./refs.ts";
import { SessionAttributesInput } from "./session-mutations.ts";
import { TokenUsageInput } from "./token-usage.ts";

const AppendMessageInput = builder.inputType("AppendMessageInput", {
  description: "One message to append.",
  fields: (t) => ({
    id: t.id({ description: "A UUID of the client's; it makes a repeat harmless. A UUIDv7 where left out." }),
    turn: t.int({ description: "The turn of the run that made it." }),
    message: t.field({ type: MessageInput, required: true, description: "What was said." }),
    timing: t.field({
      type: MessageTimingInput,
      description: "When its work happened; left out, it started and completed when it was appended.",
    }),
    usage: t.field({ type: TokenUsageInput, description: "Tokens spent; assistant's messages only." }),
    metadata: t.field({ type: "JSONObject", description: "The application's own notes, at most 64 KiB." }),
    tags: t.field({ type: "JSONObject", description: "The application's own tags, at most 64 KiB." }),
  }),
});

const AppendMessagesInput = builder.inputType("AppendMessagesInput", {
  description: "Messages to append to one session.",
  fields: (t) => ({
    sessionId: t.id({ required: true, description: "The session; set up by its first message." }),
    requestId: t.id({ description: "Ties these messages together; a UUIDv7 where left out." }),
    messages: t.field({ type: [AppendMessageInput], required: true, description: "1 to 1,000 messages, in order." }),
    expectedLastSequence: t.int({
      description: "CONFLICT unless this is the session's lastSequence before the append.",
    }),
    runId: t.id({
      description: "The run that writes: CONFLICT once it has ended or lost its lease. Renews the lease.",
    }),
    session: t.field({ type: SessionAttributesInput, description: "Sets the session up; later, updates its labels." }),
  }),
});

const AppendMessagesPayload = builder.objectRef<AppendMessagesResult>("AppendMessagesPayload").implement({
  description: "What appendMessages answers.",
  fields: (t) => ({
    session: t.expose("session", { type: SessionRef, description: "The session after the append." }),
    messages: t.expose("messages", {
      type: [RawMessageRef],
      description: "The stored record of each message given, in that order.",
    }),
    duplicates: t.exposeInt("duplicates", { description: "How many of them had been appended before." }),
  }),
});

builder.mutationField("appendMessages", (t) =>
  t.field({
    type: AppendMessagesPayload,
    nullable: true,
    description:
      "Appends messages in order, all or none. A message whose id the session already holds is not appended " +
      "again: its record comes back, so that a retry is safe. CONFLICT where that id holds another message or " +
      "stands elsewhere.",
    args: { input: t.arg({ type: AppendMessagesInput, required: true, description: "What to append, and where." }) },
    resolve: (_root, { input }, context) => underInput(writing(context).appendMessages(input)),
  }),
);
