import { builder } from "./builder.ts";

export const CredentialKindEnum = builder.enumType("CredentialKind", {
  description: "How the caller proved who it is.",
  values: {
    API_KEY: { description: "A key that createApiKey gave." },
    JWT: { description: "A token of an issuer that this gateway trusts." },
    OPERATOR: { description: "The operator's own key." },
  },
});

export const ScopeEnum = builder.enumType("Scope", {
  description: "What a credential may do.",
  values: {
    READ: { description: "Every query and subscription." },
    WRITE: { description: "Mutations of sessions, messages, snapshots and runs." },
    DELETE: { description: "deleteSession." },
    ADMIN: { description: "The tenant's keys; with DELETE also deleteUserSessions." },
  },
});

export const SessionOrderFieldEnum = builder.enumType("SessionOrderField", {
  description: "What sessions can be ordered by.",
  values: {
    UPDATED_AT: { description: "The latest activity." },
    CREATED_AT: { description: "The creation." },
  },
});

export const OrderDirectionEnum = builder.enumType("OrderDirection", {
  description: "Which end of an order comes first.",
  values: { ASC: { description: "Oldest first." }, DESC: { description: "Newest first." } },
});

export const UsageIntervalEnum = builder.enumType("UsageInterval", {
  description: "The length of one usage bucket, in UTC.",
  values: {
    HOUR: { description: "From the full hour on." },
    DAY: { description: "From midnight UTC on." },
    MONTH: { description: "From the first of the month on." },
  },
});

export const UsageDimensionEnum = builder.enumType("UsageDimension", {
  description: "What usage can be grouped by.",
  values: {
    AGENT: { description: "The session's agent name." },
    MODEL: { description: "The provider and the model of a message." },
    USER: { description: "The session's end user." },
  },
});

export const MessageRoleEnum = builder.enumType("MessageRole", {
  description: "Who a message comes from.",
  values: {
    SYSTEM: { description: "Instructions to the model." },
    USER: { description: "The end user." },
    ASSISTANT: { description: "The model." },
    TOOL: { description: "The result of a tool call." },
    AGENT: { description: "An extension, to its own agent." },
  },
});

export const ImageDetailEnum = builder.enumType("ImageDetail", {
  description: "How closely a model should look at an image.",
  values: {
    AUTO: { description: "As the provider sees fit." },
    LOW: { description: "A coarse look, for few tokens." },
    HIGH: { description: "A close look." },
  },
});

export const ContextRepairKindEnum = builder.enumType("ContextRepairKind", {
  description: "What had to be mended so that every tool call of a context is answered in its place.",
  values: {
    MISSING_RESULT: { description: "A call without a result: a failed one is synthesized." },
    LATE_RESULT: { description: "A result with other messages before it: moved up to its call." },
    ORPHAN_RESULT: { description: "A result without a call before it: left out." },
    DUPLICATE_RESULT: { description: "A further result of a call that has one: left out." },
  },
});

export const RunStatusEnum = builder.enumType("RunStatus", {
  description: "How a run stands now.",
  values: {
    RUNNING: { description: "Alive: its lease has not run out." },
    COMPLETED: { description: "Ended well." },
    FAILED: { description: "Ended with an error." },
    CANCELLED: { description: "Stopped before its end." },
    ABANDONED: { description: "Running by its last word, but silent for longer than its lease." },
  },
});

export const RunOutcomeEnum = builder.enumType("RunOutcome", {
  description: "How a run can end.",
  values: {
    COMPLETED: { description: "It did what was asked." },
    FAILED: { description: "It gave up with an error." },
    CANCELLED: { description: "Somebody stopped it." },
  },
});

export const AgentPhaseEnum = builder.enumType("AgentPhase", {
  description: "What an agent is doing.",
  values: {
    CREATED: { description: "Nothing yet." },
    LOADING_CONTEXT: { description: "Reading the session's context." },
    READY: { description: "Context read, no work begun." },
    COMPACTING: { description: "Summarizing older messages into a snapshot." },
    GENERATING: { description: "Waiting for or streaming a model's answer." },
    RUNNING_TOOL: { description: "Carrying out tool calls." },
    COMPLETED: { description: "Ended well." },
    FAILED: { description: "Ended with an error." },
    CANCELLED: { description: "Stopped." },
  },
});

export const RunEventTypeEnum = builder.enumType("RunEventType", {
  description: "What a run reports. The four of its start and end are recorded by the gateway itself.",
  values: {
    RUN_STARTED: { description: "The run began; always index 1." },
    PHASE_CHANGED: { description: "The agent went on to another phase." },
    TURN_STARTED: { description: "A model turn began." },
    TURN_COMPLETED: { description: "A model turn ended, its tool calls included." },
    MODEL_STARTED: { description: "A request went to the model." },
    TEXT_DELTA: { description: "A piece of the answer. Passed on, never stored." },
    REASONING_DELTA: { description: "A piece of the reasoning. Passed on, never stored." },
    TOOL_CALL_DELTA: { description: "A piece of a tool call's arguments. Passed on, never stored." },
    MODEL_COMPLETED: { description: "The model's answer is whole." },
    TOOL_STARTED: { description: "A tool began to run." },
    TOOL_COMPLETED: { description: "A tool gave its result." },
    TOOL_FAILED: { description: "A tool failed, was skipped or cancelled." },
    COMPACTION_STARTED: { description: "Summarizing began." },
    COMPACTION_COMPLETED: { description: "Summarizing ended." },
    CUSTOM: { description: "The application's own event, with a name and a payload." },
    RUN_COMPLETED: { description: "The run ended well." },
    RUN_FAILED: { description: "The run ended with an error." },
    RUN_CANCELLED: { description: "The run was stopped." },
  },
});

export const TenantStatusEnum = builder.enumType("TenantStatus", {
  description: "Whether a tenant's data can be asked for.",
  values: {
    ACTIVE: { description: "As usual." },
    SUSPENDED: { description: "Every request for data is refused; nothing is deleted." },
  },
});

export const SessionChangeKindEnum = builder.enumType("SessionChangeKind", {
  description: "What happened to a session.",
  values: {
    CREATED: { description: "It is new." },
    UPDATED: { description: "Anything of it changed." },
    DELETED: { description: "It is gone." },
  },
});
