import { reading } from "./access.ts";
import { builder } from "./builder.ts";
import { forwardArguments, pageRequest, UsageBucketConnection } from "./connections.ts";
import { UsageDimensionEnum, UsageIntervalEnum } from "./enums.ts";
import { UsageBucketRef } from "./refs.ts";
import { TokenUsageRef } from "./token-usage.ts";

UsageBucketRef.implement({
  description: "One interval (UTC) of one group. What is not grouped by is null; messages without usage count too.",
  fields: (t) => ({
    startsAt: t.expose("startsAt", { type: "DateTime", description: "Start of the interval." }),
    agentName: t.exposeString("agentName", { nullable: true, description: "The agent, where grouped by AGENT." }),
    provider: t.exposeString("provider", { nullable: true, description: "The provider, where grouped by MODEL." }),
    model: t.exposeString("model", { nullable: true, description: "The model, where grouped by MODEL." }),
    userId: t.exposeID("userId", { nullable: true, description: "The end user, where grouped by USER." }),
    messageCount: t.expose("messageCount", { type: "SafeInt", description: "Messages appended." }),
    runCount: t.expose("runCount", { type: "SafeInt", description: "Runs started." }),
    tokens: t.expose("tokens", { type: TokenUsageRef, description: "Tokens spent." }),
  }),
});

builder.queryField("usage", (t) =>
  t.field({
    type: UsageBucketConnection,
    description: "Token usage over time, from counters kept as messages are appended. Empty buckets are not listed.",
    args: {
      from: t.arg({ type: "DateTime", required: true, description: "Created at this time or later." }),
      to: t.arg({ type: "DateTime", required: true, description: "Created earlier than this." }),
      interval: t.arg({ type: UsageIntervalEnum, defaultValue: "DAY", description: "Length of a bucket." }),
      groupBy: t.arg({ type: [UsageDimensionEnum], defaultValue: [], description: "What to tell apart." }),
      ...forwardArguments(),
    },
    resolve: (_root, { from, to, interval, groupBy, ...args }, context, info) => {
      const page = pageRequest(args, info);
      return reading(context).listUsage({ from, to, interval: interval ?? "DAY", groupBy: groupBy ?? [], page });
    },
  }),
);
