import type { TenantLimits, TenantUsage } from "../store/model.ts";
import { isNarrowed, operating, ownTenant, reading } from "./access.ts";
import { builder } from "./builder.ts";
import { pageArguments, pageRequest, TenantConnection } from "./connections.ts";
import { TenantStatusEnum } from "./enums.ts";
import { TenantRef } from "./refs.ts";
import { TokenUsageRef } from "./token-usage.ts";

const TenantUsageRef = builder.objectRef<TenantUsage>("TenantUsage").implement({
  description: "What a tenant holds and has spent.",
  fields: (t) => ({
    sessionCount: t.expose("sessionCount", { type: "SafeInt", description: "Sessions that exist." }),
    messageCount: t.expose("messageCount", { type: "SafeInt", description: "Raw messages in them." }),
    byteCount: t.expose("byteCount", {
      type: "SafeInt",
      description: "Size of its data on disk, write-ahead log included.",
    }),
    tokens: t.expose("tokens", { type: TokenUsageRef, description: "Tokens spent, in deleted sessions too." }),
  }),
});

const TenantLimitsRef = builder.objectRef<TenantLimits>("TenantLimits").implement({
  description: "What a tenant may use. Null means no limit.",
  fields: (t) => ({
    maxSessions: t.expose("maxSessions", { type: "SafeInt", nullable: true, description: "Sessions at one time." }),
    maxMessages: t.expose("maxMessages", { type: "SafeInt", nullable: true, description: "Raw messages in them." }),
    maxBytes: t.expose("maxBytes", { type: "SafeInt", nullable: true, description: "Bytes on disk." }),
    requestsPerMinute: t.exposeInt("requestsPerMinute", { nullable: true, description: "Root fields a minute." }),
  }),
});

TenantRef.implement({
  description: "A customer of the gateway, with data of its own that no other tenant reaches.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Lower-case letters, digits and dashes." }),
    name: t.exposeString("name", { nullable: true, description: "For people." }),
    status: t.field({
      type: TenantStatusEnum,
      description: "Whether its data can be asked for.",
      resolve: (tenant) => (tenant.state === "SUSPENDED" ? "SUSPENDED" : "ACTIVE"),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was created." }),
    usage: t.field({
      type: TenantUsageRef,
      nullable: true,
      description: "What it holds and has spent; null for a credential of one end user.",
      resolve: (tenant, _args, context) => {
        if (isNarrowed(context)) return null;
        if (tenant.id === context.caller.tenant?.id) return reading(context).tenantUsage();
        operating(context);
        return context.loaders.tenantUsage(tenant);
      },
    }),
    limits: t.field({
      type: TenantLimitsRef,
      nullable: true,
      description: "What it may use; null for a credential of one end user.",
      resolve: (tenant, _args, context) => (isNarrowed(context) ? null : tenant.limits),
    }),
  }),
});

builder.queryField("tenant", (t) =>
  t.field({
    type: TenantRef,
    description:
      "The tenant that the caller's credential belongs to. An operator names one with the header x-tenant-id.",
    resolve: (_root, _args, context) => {
      reading(context);
      return ownTenant(context);
    },
  }),
);

builder.queryField("tenants", (t) =>
  t.field({
    type: TenantConnection,
    description: "Every tenant, by id. Operators only.",
    args: pageArguments(),
    resolve: (_root, args, context, info) => operating(context).list(pageRequest(args, info)),
  }),
);
