import type { ToolCallRef } from "../store/model.ts";
import { following, reading } from "./access.ts";
import { builder } from "./builder.ts";
import { emptyPage, pageArguments, pageRequest, RunEventConnection } from "./connections.ts";
import { AgentPhaseEnum, RunEventTypeEnum } from "./enums.ts";
import { RunEventRef, RunRef } from "./refs.ts";

const ToolCallRefRef = builder.objectRef<ToolCallRef>("ToolCallRef").implement({
  description: "Names a tool call that an event is about.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the call." }),
    name: t.exposeString("name", { description: "The tool." }),
  }),
});

RunEventRef.implement({
  description: "Progress of a run. Deltas are passed on to subscribers and never stored; all else is.",
  fields: (t) => ({
    runId: t.exposeID("runId", { description: "The run that it is about." }),
    index: t.exposeInt("index", { description: "1, 2, 3 … within the run. A jump means that deltas were dropped." }),
    sessionId: t.exposeID("sessionId", { description: "The session that the run works for." }),
    requestId: t.exposeID("requestId", { description: "The request that the run answers." }),
    type: t.expose("type", { type: RunEventTypeEnum, description: "What happened." }),
    phase: t.expose("phase", { type: AgentPhaseEnum, description: "What the agent was doing." }),
    turn: t.exposeInt("turn", { description: "The model turn; 0 before the first." }),
    toolCall: t.expose("toolCall", { type: ToolCallRefRef, nullable: true, description: "The call that it is about." }),
    messageId: t.exposeID("messageId", {
      nullable: true,
      description: "The message that a delta belongs to: the id under which it will be appended.",
    }),
    delta: t.exposeString("delta", { nullable: true, description: "Text of a delta event." }),
    name: t.exposeString("name", { nullable: true, description: "Name of a CUSTOM event." }),
    payload: t.expose("payload", { type: "JSONObject", nullable: true, description: "Payload of a CUSTOM event." }),
    occurredAt: t.expose("occurredAt", { type: "DateTime", description: "When it happened." }),
  }),
});

builder.objectField(RunRef, "events", (t) =>
  t.field({
    type: RunEventConnection,
    description: "Everything but deltas, as reported.",
    args: pageArguments(),
    resolve: async (run, args, context, info) => {
      const page = pageRequest(args, info);
      return (await reading(context).listRunEvents(run.id, page)) ?? emptyPage(page);
    },
  }),
);

builder.subscriptionField("runEventRecorded", (t) =>
  t.field({
    type: RunEventRef,
    description:
      "Progress of a session's runs, or of one. A slow reader loses deltas, never the events between them. " +
      "Completes when the session is deleted.",
    args: {
      sessionId: t.arg.id({ required: true, description: "The session to follow." }),
      runId: t.arg.id({ description: "Only this run of it." }),
      afterIndex: t.arg.int({ description: "With runId: first what is stored behind this index." }),
    },
    subscribe: (_root, { sessionId, runId, afterIndex }, context) =>
      following(context).runEvents({ sessionId, runId, afterIndex }),
    resolve: (event) => event,
  }),
);
