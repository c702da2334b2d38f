import type { KeyRecord, TenantRecord } from "../store/registry-contract.ts";
import type { NewKey } from "../tenancy/contract.ts";
import { administered, isOperator, ownTenant, underInput } from "./access.ts";
import { builder } from "./builder.ts";
import { ApiKeyConnection, pageArguments, pageRequest } from "./connections.ts";
import type { GatewayContext } from "./context.ts";
import { MessageRoleEnum, ScopeEnum } from "./enums.ts";
import { ApiKeyRef, TenantRef } from "./refs.ts";

ApiKeyRef.implement({
  description: "A credential of a tenant. Its secret is stored as a hash and shown once.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Public part of the key; safe to log." }),
    name: t.exposeString("name", { nullable: true, description: "For people." }),
    scopes: t.expose("scopes", { type: [ScopeEnum], description: "What it may do." }),
    userId: t.exposeID("userId", {
      nullable: true,
      description: "Where set, the key sees and writes this end user's sessions alone.",
    }),
    visibleRoles: t.expose("visibleRoles", {
      type: [MessageRoleEnum],
      description: "Messages of other roles do not exist for the key; a context needs all five, else FORBIDDEN.",
    }),
    writableRoles: t.expose("writableRoles", { type: [MessageRoleEnum], description: "Roles that it may append." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    lastUsedAt: t.expose("lastUsedAt", { type: "DateTime", nullable: true, description: "To the hour." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true, description: "Until when it lives." }),
    revokedAt: t.expose("revokedAt", { type: "DateTime", nullable: true, description: "When it was revoked." }),
  }),
});

builder.objectField(TenantRef, "apiKeys", (t) =>
  t.field({
    type: ApiKeyConnection,
    nullable: true,
    description: "The tenant's keys, newest first. Administrators and operators; others get null and FORBIDDEN.",
    args: pageArguments(),
    resolve: (tenant, args, context, info) =>
      context.tenants.listKeys(administeredTenant(tenant, context).id, pageRequest(args, info)),
  }),
);

/** An operator administers every tenant that it can list. */
function administeredTenant(tenant: TenantRecord, context: GatewayContext): TenantRecord {
  return isOperator(context) ? tenant : administered(context);
}

export const CreateApiKeyInput = builder.inputType("CreateApiKeyInput", {
  description: "A key to make. No key can give what it lacks.",
  fields: (t) => ({
    id: t.id({ description: "Its public part, chosen by the client; CONFLICT where taken." }),
    name: t.string({ description: "For people." }),
    scopes: t.field({ type: [ScopeEnum], description: "What it may do; READ where left out." }),
    userId: t.id({
      description: "Limits it to one end user: never ADMIN, and it must expire within 30 days.",
    }),
    visibleRoles: t.field({
      type: [MessageRoleEnum],
      description: "Roles that exist for it: all where left out, with userId USER, ASSISTANT and TOOL.",
    }),
    writableRoles: t.field({
      type: [MessageRoleEnum],
      description: "Roles that it may append: all where left out, with userId USER.",
    }),
    expiresAt: t.field({ type: "DateTime", description: "Until when it lives; for ever where left out." }),
  }),
});

export const CreateApiKeyPayload = builder.objectRef<NewKey>("CreateApiKeyPayload").implement({
  description: "What createApiKey answers.",
  fields: (t) => ({
    apiKey: t.expose("key", { type: ApiKeyRef, description: "The key." }),
    secret: t.exposeString("secret", { description: "What to send as Bearer; shown this once." }),
  }),
});

const RevokeApiKeyInput = builder.inputType("RevokeApiKeyInput", {
  description: "A key to revoke.",
  fields: (t) => ({ apiKeyId: t.id({ required: true, description: "Public part of the key." }) }),
});

const RevokeApiKeyPayload = builder.objectRef<{ readonly apiKey: KeyRecord }>("RevokeApiKeyPayload").implement({
  description: "What revokeApiKey answers.",
  fields: (t) => ({ apiKey: t.expose("apiKey", { type: ApiKeyRef, description: "The key, revoked." }) }),
});

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    nullable: true,
    description:
      "Makes a key; the secret is shown once. ADMIN, or an operator. With userId and unless said otherwise it " +
      "has READ only, sees USER, ASSISTANT and TOOL, and writes USER.",
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: "The key to make." }) },
    resolve: (_root, { input }, context) => {
      const tenant = administered(context);
      return underInput(context.tenants.createKey(tenant.id, input, context.caller));
    },
  }),
  revokeApiKey: t.field({
    type: RevokeApiKeyPayload,
    nullable: true,
    description:
      "Revokes a key at once, on open subscriptions too. Revoking again changes nothing; any key may revoke itself.",
    args: { input: t.arg({ type: RevokeApiKeyInput, required: true, description: "The key to revoke." }) },
    resolve: async (_root, { input }, context) => {
      const itself = input.apiKeyId === context.caller.keyId;
      const tenant = itself ? ownTenant(context) : administered(context);
      return { apiKey: await underInput(context.tenants.revokeKey(tenant.id, input.apiKeyId)) };
    },
  }),
}));
