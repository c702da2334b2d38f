import type { RecordRunEventsResult, RunEnding } from "../store/contract.ts";
import type { Run } from "../store/model.ts";
import { underInput, writing } from "./access.ts";
import { builder } from "./builder.ts";
import { AgentPhaseEnum, RunEventTypeEnum, RunOutcomeEnum } from "./enums.ts";
import { RunEventRef, RunRef } from "./refs.ts";
import { SessionAttributesInput } from "./session-mutations.ts";

const StartRunInput = builder.inputType("StartRunInput", {
  description: "A run to start.",
  fields: (t) => ({
    id: t.id({ description: "A UUID of the client's; it makes a repeat harmless. A UUIDv7 where left out." }),
    sessionId: t.id({ required: true, description: "The session to work for." }),
    requestId: t.id({ description: "Ties its messages together; a UUIDv7 where left out." }),
    agentName: t.string({ description: "The agent that answers." }),
    leaseSeconds: t.int({
      defaultValue: 60,
      description: "How long it may stay silent before another may take the session over: 1 to 3,600.",
    }),
    session: t.field({
      type: SessionAttributesInput,
      description: "Sets the session up where it is not heard of yet.",
    }),
  }),
});

const ToolCallRefInput = builder.inputType("ToolCallRefInput", {
  description: "Names a tool call.",
  fields: (t) => ({
    id: t.id({ required: true, description: "Id of the call." }),
    name: t.string({ required: true, description: "The tool." }),
  }),
});

const RunEventInput = builder.inputType("RunEventInput", {
  description: "Progress to report. The start and the end of a run are recorded by the gateway itself.",
  fields: (t) => ({
    type: t.field({ type: RunEventTypeEnum, required: true, description: "What happened." }),
    phase: t.field({ type: AgentPhaseEnum, required: true, description: "What the agent is doing." }),
    turn: t.int({ defaultValue: 0, description: "The model turn." }),
    toolCall: t.field({ type: ToolCallRefInput, description: "The call that it is about." }),
    messageId: t.id({ description: "The id under which the message of a delta will be appended." }),
    delta: t.string({ description: "Text of a delta event, at most 64 KiB." }),
    name: t.string({ description: "Name of a CUSTOM event." }),
    payload: t.field({ type: "JSONObject", description: "Payload of a CUSTOM event, at most 64 KiB." }),
    occurredAt: t.field({ type: "DateTime", description: "When it happened; now where left out." }),
  }),
});

const RecordRunEventsInput = builder.inputType("RecordRunEventsInput", {
  description: "A run's report.",
  fields: (t) => ({
    runId: t.id({ required: true, description: "The run that reports." }),
    events: t.field({ type: [RunEventInput], required: true, description: "At most 1,000; none is a heartbeat." }),
    firstIndex: t.int({
      description: "Index of the first of these. Left out, they follow the last one; a retry could then double them.",
    }),
  }),
});

const RunErrorInput = builder.inputType("RunErrorInput", {
  description: "Why a run failed.",
  fields: (t) => ({
    name: t.string({ required: true, description: "The kind of error." }),
    message: t.string({ required: true, description: "What happened, at most 8 KiB." }),
  }),
});

const FinishRunInput = builder.inputType("FinishRunInput", {
  description: "How a run ended.",
  fields: (t) => ({
    runId: t.id({ required: true, description: "The run that ended." }),
    status: t.field({ type: RunOutcomeEnum, required: true, description: "How it ended." }),
    error: t.field({ type: RunErrorInput, description: "Why it failed; kept with FAILED only." }),
  }),
});

const RequestRunCancelInput = builder.inputType("RequestRunCancelInput", {
  description: "A run that should stop.",
  fields: (t) => ({ runId: t.id({ required: true, description: "The run to stop." }) }),
});

interface RunPayload {
  readonly run: Run;
}

const RUN_AFTER = "The run after the call.";

function runPayload(mutation: string, name: string) {
  return builder.objectRef<RunPayload>(name).implement({
    description: `What ${mutation} answers.`,
    fields: (t) => ({ run: t.expose("run", { type: RunRef, description: RUN_AFTER }) }),
  });
}

const StartRunPayload = runPayload("startRun", "StartRunPayload");
const RecordRunEventsPayload = builder.objectRef<RecordRunEventsResult>("RecordRunEventsPayload").implement({
  description: "What recordRunEvents answers.",
  fields: (t) => ({
    run: t.expose("run", { type: RunRef, description: RUN_AFTER }),
    recorded: t.expose("recorded", {
      type: [RunEventRef],
      description: "What this call added, deltas included, in order; events recorded before are not in it.",
    }),
  }),
});
const FinishRunPayload = builder.objectRef<RunEnding>("FinishRunPayload").implement({
  description: "What finishRun answers.",
  fields: (t) => ({
    run: t.expose("run", { type: RunRef, description: RUN_AFTER }),
    ended: t.exposeBoolean("ended", { description: "False where it had ended before: nothing changed." }),
  }),
});
const RequestRunCancelPayload = runPayload("requestRunCancel", "RequestRunCancelPayload");

builder.mutationFields((t) => ({
  startRun: t.field({
    type: StartRunPayload,
    nullable: true,
    description:
      "Starts a run and takes the session's lease. CONFLICT while another run of the session is alive; one " +
      "silent for longer than its lease is ABANDONED and gives way. Sending the same id again is safe.",
    args: { input: t.arg({ type: StartRunInput, required: true, description: "The run to start." }) },
    resolve: async (_root, { input }, context) => ({ run: await underInput(writing(context).startRun(input)) }),
  }),
  recordRunEvents: t.field({
    type: RecordRunEventsPayload,
    nullable: true,
    description:
      "Reports progress and renews the lease. Events reach subscribers in order; those already recorded (by " +
      "firstIndex) are passed over. CONFLICT once the run has ended or lost its lease.",
    args: { input: t.arg({ type: RecordRunEventsInput, required: true, description: "The report." }) },
    resolve: (_root, { input }, context) => underInput(writing(context).recordRunEvents(input)),
  }),
  finishRun: t.field({
    type: FinishRunPayload,
    nullable: true,
    description: "Ends a run. Ending one that has ended changes nothing.",
    args: { input: t.arg({ type: FinishRunInput, required: true, description: "The run and how it ended." }) },
    resolve: (_root, { input }, context) => underInput(writing(context).finishRun(input)),
  }),
  requestRunCancel: t.field({
    type: RequestRunCancelPayload,
    nullable: true,
    description:
      "Asks a live run to stop: its extension sees cancelRequestedAt in the answer to its next report and cancels.",
    args: { input: t.arg({ type: RequestRunCancelInput, required: true, description: "The run to stop." }) },
    resolve: async (_root, { input }, context) => ({
      run: await underInput(writing(context).requestRunCancel(input.runId)),
    }),
  }),
}));
