import { saturatingSum } from "../store/check.ts";
import type { TokenUsage } from "../store/model.ts";
import { builder } from "./builder.ts";

export const TokenUsageRef = builder.objectRef<TokenUsage>("TokenUsage").implement({
  description: "Tokens spent. Input counts cached tokens too; output counts reasoning too.",
  fields: (t) => ({
    inputTokens: t.expose("inputTokens", { type: "SafeInt", description: "All that the model read." }),
    outputTokens: t.expose("outputTokens", { type: "SafeInt", description: "All that the model wrote." }),
    cacheReadTokens: t.expose("cacheReadTokens", { type: "SafeInt", description: "Input that came from a cache." }),
    cacheWriteTokens: t.expose("cacheWriteTokens", {
      type: "SafeInt",
      description: "Input that was put into a cache.",
    }),
    reasoningTokens: t.expose("reasoningTokens", { type: "SafeInt", description: "Output that was reasoning." }),
    totalTokens: t.field({
      type: "SafeInt",
      description: "Input plus output.",
      resolve: (usage) => saturatingSum(usage.inputTokens, usage.outputTokens),
    }),
    cacheHitRate: t.float({
      nullable: true,
      description: "cacheReadTokens / inputTokens; null without input.",
      resolve: (usage) => (usage.inputTokens === 0 ? null : usage.cacheReadTokens / usage.inputTokens),
    }),
  }),
});

export const TokenUsageInput = builder.inputType("TokenUsageInput", {
  description: "Tokens spent, as the provider reported them. Cached input stays within input, reasoning within output.",
  fields: (t) => ({
    inputTokens: t.field({ type: "SafeInt", defaultValue: 0, description: "All that the model read, cached or not." }),
    outputTokens: t.field({ type: "SafeInt", defaultValue: 0, description: "All that the model wrote." }),
    cacheReadTokens: t.field({ type: "SafeInt", defaultValue: 0, description: "Input that came from a cache." }),
    cacheWriteTokens: t.field({ type: "SafeInt", defaultValue: 0, description: "Input that was put into a cache." }),
    reasoningTokens: t.field({ type: "SafeInt", defaultValue: 0, description: "Output that was reasoning." }),
  }),
});
