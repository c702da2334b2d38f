import { present } from "../assert.ts";
import { badInput } from "../errors.ts";
import type { MessageTiming, StreamTiming } from "../store/model.ts";
import { firstCodePoints } from "../text.ts";
import { following, reading } from "./access.ts";
import { builder } from "./builder.ts";
import { emptyPage, offsetArguments, pageArguments, pageRequest, RawMessageConnection } from "./connections.ts";
import { MessageRoleEnum } from "./enums.ts";
import { MessageInterface, readablePayload, readMessage } from "./message.ts";
import { RawMessageRef, RunRef, SessionRef } from "./refs.ts";
import { messageColumns, messageColumnsOfPage, selectionOf } from "./selection.ts";
import { TokenUsageRef } from "./token-usage.ts";

const PREVIEW_CODE_POINTS_DEFAULT = 200;

const StreamTimingRef = builder.objectRef<StreamTiming>("StreamTiming").implement({
  description: "When something streamed.",
  fields: (t) => ({
    startedAt: t.expose("startedAt", { type: "DateTime", description: "Its first moment." }),
    completedAt: t.expose("completedAt", { type: "DateTime", description: "Its last." }),
    durationNs: t.expose("durationNs", { type: "SafeInt", description: "Its length by a monotonic clock." }),
  }),
});

const MessageTimingRef = builder.objectRef<MessageTiming>("MessageTiming").implement({
  description: "When a message's work happened. Durations come from a monotonic clock.",
  fields: (t) => ({
    startedAt: t.expose("startedAt", { type: "DateTime", description: "Its first moment." }),
    completedAt: t.expose("completedAt", { type: "DateTime", description: "Its last." }),
    durationNs: t.expose("durationNs", { type: "SafeInt", description: "Its length." }),
    reasoning: t.expose("reasoning", {
      type: StreamTimingRef,
      nullable: true,
      description: "The streamed reasoning of an assistant's message.",
    }),
    content: t.expose("content", {
      type: StreamTimingRef,
      nullable: true,
      description: "The streamed answer of an assistant's message.",
    }),
  }),
});

RawMessageRef.implement({
  description:
    "One original message, exactly as it was appended. It never changes; only erasing it or deleting its session " +
    "removes it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "A UUID, unique in the tenant." }),
    sessionId: t.exposeID("sessionId", { description: "The session whose log holds it." }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: "That session, as it is now.",
      resolve: (message, _args, context) => {
        reading(context);
        return context.loaders.session(message.sessionId);
      },
    }),
    sequence: t.exposeInt("sequence", { description: "Its place in the session: 1, 2, 3 … without gaps." }),
    requestId: t.exposeID("requestId", {
      description: "Ties the messages of one request together. No idempotency key.",
    }),
    runId: t.exposeID("runId", { nullable: true, description: "The run that wrote it, where one was named." }),
    run: t.field({
      type: RunRef,
      nullable: true,
      description: "That run, as it is now.",
      resolve: (message, _args, context) => {
        reading(context);
        return message.runId === null ? null : context.loaders.run(message.runId);
      },
    }),
    turn: t.exposeInt("turn", { nullable: true, description: "The turn of that run." }),
    role: t.expose("role", { type: MessageRoleEnum, description: "Who it comes from." }),
    text: t.string({
      description: "Readable text of the message, without image or file data.",
      resolve: (message) => present(message.text, "text that was selected"),
    }),
    preview: t.string({
      description: "The beginning of the text.",
      args: {
        length: t.arg.int({
          defaultValue: PREVIEW_CODE_POINTS_DEFAULT,
          description: "How many code points at most.",
        }),
      },
      resolve: (message, { length }) =>
        firstCodePoints(present(message.text, "text that was selected"), previewLength(length)),
    }),
    toolName: t.exposeString("toolName", { nullable: true, description: "The tool, of a tool's result." }),
    byteSize: t.exposeInt("byteSize", { description: "Size of the payload as UTF-8." }),
    message: t.field({
      type: MessageInterface,
      description: "What was said.",
      resolve: ({ role, payload }) => readMessage(role, wanted(payload)),
    }),
    payload: t.field({
      type: "JSONText",
      description:
        "The whole message as one JSON document: the fields of its GraphQL type by the same names, JSONText " +
        "fields as strings.",
      resolve: ({ role, payload }) => readablePayload(role, wanted(payload)),
    }),
    metadata: t.field({
      type: "JSONObject",
      description: "The application's own notes on the record.",
      resolve: (message) => present(message.metadata, "metadata that was selected"),
    }),
    tags: t.field({
      type: "JSONObject",
      description: "The application's own tags.",
      resolve: (message) => present(message.tags, "tags that were selected"),
    }),
    timing: t.expose("timing", { type: MessageTimingRef, description: "When its work happened." }),
    usage: t.expose("usage", {
      type: TokenUsageRef,
      nullable: true,
      description: "Tokens spent; null unless an assistant's message reported them.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was appended." }),
  }),
});

function previewLength(length: number | null | undefined): number {
  if (length !== null && length !== undefined && length < 0) throw badInput(["length"], "A length is 0 or more.");
  return length ?? PREVIEW_CODE_POINTS_DEFAULT;
}

/** Null stands for a payload that is damaged; one that was not read is a mistake of ours. */
function wanted(payload: string | null | undefined): string | null {
  return payload === null ? null : present(payload, "a payload that was selected");
}

builder.objectField(SessionRef, "rawMessages", (t) =>
  t.field({
    type: RawMessageConnection,
    description:
      "The immutable log in ascending sequence. Cursors and offset page within the range. A page is bounded in " +
      "rows and in bytes: it may hold fewer than asked for, with hasNextPage telling that more follow.",
    args: {
      afterSequence: t.arg.int({ defaultValue: 0, description: "Only messages behind this sequence." }),
      throughSequence: t.arg.int({ description: "Only messages up to this sequence, itself included." }),
      roles: t.arg({ type: [MessageRoleEnum], description: "Only these roles." }),
      requestId: t.arg.id({ description: "Only messages of this request." }),
      ...offsetArguments(),
    },
    resolve: async (session, args, context, info) => {
      const { afterSequence, throughSequence, roles, requestId } = args;
      const page = pageRequest(args, info);
      const range = { sessionId: session.id, afterSequence, throughSequence, roles, requestId };
      const select = messageColumnsOfPage(info);
      return (await reading(context).listMessages({ ...range, page, select })) ?? emptyPage(page);
    },
  }),
);

builder.objectField(SessionRef, "lastMessage", (t) =>
  t.field({
    type: RawMessageRef,
    nullable: true,
    description: "The newest message, or the newest of these roles.",
    args: { roles: t.arg({ type: [MessageRoleEnum], description: "Only these roles." }) },
    resolve: (session, { roles }, context, info) =>
      reading(context).lastMessage(session.id, roles, messageColumns(selectionOf(info))),
  }),
);

builder.objectField(RunRef, "messages", (t) =>
  t.field({
    type: RawMessageConnection,
    description: "The messages that the run wrote, in ascending sequence.",
    args: pageArguments(),
    resolve: async (run, args, context, info) => {
      const page = pageRequest(args, info);
      return (await reading(context).listRunMessages(run.id, page, messageColumnsOfPage(info))) ?? emptyPage(page);
    },
  }),
);

builder.subscriptionField("rawMessageAppended", (t) =>
  t.field({
    type: RawMessageRef,
    description:
      "The log of one session: what is stored behind afterSequence first, then every new message, in order, " +
      "none twice and none missed. To resume, pass the last sequence seen. Completes when the session is deleted.",
    args: {
      sessionId: t.arg.id({ required: true, description: "The session to follow." }),
      afterSequence: t.arg.int({ description: "Where to start; left out, with what is new." }),
    },
    subscribe: (_root, { sessionId, afterSequence }, context, info) =>
      following(context).rawMessages({ sessionId, afterSequence, select: messageColumns(selectionOf(info)) }),
    resolve: (message) => message,
  }),
);
