import type { RunDraft } from "../events/contract.ts";
import type { RunError } from "../store/model.ts";
import { following, reading } from "./access.ts";
import { builder } from "./builder.ts";
import { emptyPage, pageArguments, pageRequest, RunConnection } from "./connections.ts";
import { AgentPhaseEnum, RunStatusEnum } from "./enums.ts";
import { RunRef, SessionRef } from "./refs.ts";
import { TokenUsageRef } from "./token-usage.ts";

const RunErrorRef = builder.objectRef<RunError>("RunError").implement({
  description: "Why a run failed, in its extension's words.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "The kind of error." }),
    message: t.exposeString("message", { description: "What happened." }),
  }),
});

const RunDraftRef = builder.objectRef<RunDraft>("RunDraft").implement({
  description: "The message that is being generated, as far as it has streamed.",
  fields: (t) => ({
    messageId: t.exposeID("messageId", {
      nullable: true,
      description: "The id under which it will be appended, where the extension said so.",
    }),
    turn: t.exposeInt("turn", { description: "The turn that generates it." }),
    text: t.exposeString("text", { description: "The answer so far." }),
    reasoning: t.exposeString("reasoning", { description: "The reasoning so far." }),
  }),
});

RunRef.implement({
  description: "One request to an agent, as its extension reports it.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "A UUID; of version 7 where the gateway made it." }),
    sessionId: t.exposeID("sessionId", { description: "The session that it works for." }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: "That session, as it is now.",
      resolve: (run, _args, context) => {
        reading(context);
        return context.loaders.session(run.sessionId);
      },
    }),
    requestId: t.exposeID("requestId", { description: "Ties its messages together." }),
    agentName: t.exposeString("agentName", { nullable: true, description: "The agent that answers." }),
    status: t.expose("status", { type: RunStatusEnum, description: "How it stands at this moment." }),
    phase: t.expose("phase", { type: AgentPhaseEnum, description: "What it was doing by its last word." }),
    turn: t.exposeInt("turn", { description: "Model turns started so far." }),
    activeTool: t.exposeString("activeTool", { nullable: true, description: "The tool now running, if any." }),
    error: t.expose("error", { type: RunErrorRef, nullable: true, description: "Why it failed; null unless FAILED." }),
    usage: t.expose("usage", { type: TokenUsageRef, description: "Totals over its assistant's messages." }),
    draft: t.field({
      type: RunDraftRef,
      nullable: true,
      description: "What has streamed of the message being generated; null where nothing has, or not to this gateway.",
      resolve: (run, _args, context) => following(context).draft(run.id),
    }),
    lastEventIndex: t.exposeInt("lastEventIndex", {
      description: "Index of its newest event, deltas included; the next report begins behind it.",
    }),
    cancelRequestedAt: t.expose("cancelRequestedAt", {
      type: "DateTime",
      nullable: true,
      description: "When somebody asked it to stop; its extension ends it at the next sign of life.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "When it started." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Its latest sign of life." }),
    leaseExpiresAt: t.expose("leaseExpiresAt", {
      type: "DateTime",
      description: "Until when it may stay silent before another may take the session over.",
    }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true, description: "When it ended." }),
  }),
});

const RunFilterInput = builder.inputType("RunFilter", {
  description: "What runs must all fulfil. Null is not given; an empty list matches nothing; times are exclusive.",
  fields: (t) => ({
    statuses: t.field({ type: [RunStatusEnum], description: "In one of these states now." }),
    agentNames: t.stringList({ description: "Of one of these agents, compared exactly." }),
    userIds: t.idList({ description: "In sessions of one of these end users." }),
    requestId: t.id({ description: "Of this request." }),
    startedAfter: t.field({ type: "DateTime", description: "Started later than this." }),
    startedBefore: t.field({ type: "DateTime", description: "Started earlier than this." }),
  }),
});

builder.queryField("run", (t) =>
  t.field({
    type: RunRef,
    nullable: true,
    description: "One run, or null where the caller has none of that id.",
    args: { id: t.arg.id({ required: true, description: "The run's id." }) },
    resolve: (_root, { id }, context) => {
      reading(context);
      return context.loaders.run(id);
    },
  }),
);

builder.queryField("runs", (t) =>
  t.field({
    type: RunConnection,
    description: "Runs of all sessions, newest first.",
    args: {
      filter: t.arg({ type: RunFilterInput, description: "Which runs; all where left out." }),
      ...pageArguments(),
    },
    resolve: async (_root, { filter, ...args }, context, info) => {
      const page = pageRequest(args, info);
      return (await reading(context).listRuns({ filter, page })) ?? emptyPage(page);
    },
  }),
);

builder.objectFields(SessionRef, (t) => ({
  runs: t.field({
    type: RunConnection,
    description: "Requests made to the session's agent, newest first.",
    args: pageArguments(),
    resolve: async (session, args, context, info) => {
      const page = pageRequest(args, info);
      return (await reading(context).listRuns({ sessionId: session.id, page })) ?? emptyPage(page);
    },
  }),
  activeRun: t.field({
    type: RunRef,
    nullable: true,
    description: "The run that holds the session's lease, if any; never an ABANDONED one.",
    resolve: (session, _args, context) => reading(context).activeRun(session.id),
  }),
  latestRun: t.field({
    type: RunRef,
    nullable: true,
    description: "The run that was started last, whatever became of it.",
    resolve: (session, _args, context) => reading(context).latestRun(session.id),
  }),
}));
