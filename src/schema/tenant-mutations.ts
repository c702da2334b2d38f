import type { TenantId } from "../store/model.ts";
import type { TenantRecord } from "../store/registry-contract.ts";
import type { NewKey } from "../tenancy/contract.ts";
import { operating, underInput } from "./access.ts";
import { CreateApiKeyInput, CreateApiKeyPayload } from "./api-key.ts";
import { builder } from "./builder.ts";
import { TenantStatusEnum } from "./enums.ts";
import { TenantRef } from "./refs.ts";

const TenantLimitsInput = builder.inputType("TenantLimitsInput", {
  description: "What a tenant may use. Null is no limit; left out, the gateway's default or, in an update, as it is.",
  fields: (t) => ({
    maxSessions: t.field({ type: "SafeInt", description: "Sessions at one time." }),
    maxMessages: t.field({ type: "SafeInt", description: "Raw messages in them." }),
    maxBytes: t.field({ type: "SafeInt", description: "Bytes on disk." }),
    requestsPerMinute: t.int({ description: "Root fields a minute." }),
  }),
});

const CreateTenantInput = builder.inputType("CreateTenantInput", {
  description: "A tenant to create.",
  fields: (t) => ({
    id: t.id({ required: true, description: "1 to 63 lower-case letters, digits and dashes; no dash in front." }),
    name: t.string({ description: "For people." }),
    limits: t.field({ type: TenantLimitsInput, description: "What it may use." }),
    firstKey: t.field({ type: CreateApiKeyInput, description: "A key to make along with it." }),
  }),
});

const UpdateTenantInput = builder.inputType("UpdateTenantInput", {
  description: "What to change. A field left out stays as it is.",
  fields: (t) => ({
    tenantId: t.id({ required: true, description: "The tenant to change." }),
    name: t.string({ description: "For people; null clears it." }),
    status: t.field({ type: TenantStatusEnum, description: "SUSPENDED refuses every request for its data." }),
    limits: t.field({ type: TenantLimitsInput, description: "Merged field by field." }),
  }),
});

const DeleteTenantInput = builder.inputType("DeleteTenantInput", {
  description: "A tenant to delete.",
  fields: (t) => ({ tenantId: t.id({ required: true, description: "The tenant that is to go." }) }),
});

interface CreatedTenant {
  readonly tenant: TenantRecord;
  readonly firstKey: NewKey | null;
}
const CreateTenantPayload = builder.objectRef<CreatedTenant>("CreateTenantPayload").implement({
  description: "What createTenant answers.",
  fields: (t) => ({
    tenant: t.expose("tenant", { type: TenantRef, description: "The tenant, new or as it was." }),
    firstKey: t.expose("firstKey", {
      type: CreateApiKeyPayload,
      nullable: true,
      description: "Null where none was asked for, or the tenant was there already.",
    }),
  }),
});

const UpdateTenantPayload = builder.objectRef<{ readonly tenant: TenantRecord }>("UpdateTenantPayload").implement({
  description: "What updateTenant answers.",
  fields: (t) => ({ tenant: t.expose("tenant", { type: TenantRef, description: "The tenant after the change." }) }),
});

const DeleteTenantPayload = builder.objectRef<{ readonly deletedTenantId: TenantId }>("DeleteTenantPayload").implement({
  description: "What deleteTenant answers.",
  fields: (t) => ({
    deletedTenantId: t.exposeID("deletedTenantId", { nullable: true, description: "The tenant that is gone." }),
  }),
});

builder.mutationFields((t) => ({
  createTenant: t.field({
    type: CreateTenantPayload,
    nullable: true,
    description:
      "Creates a tenant. The same input again returns it; another one under a taken id is CONFLICT. Operators only.",
    args: { input: t.arg({ type: CreateTenantInput, required: true, description: "The tenant to create." }) },
    resolve: (_root, { input }, context) => underInput(operating(context).create(input, context.caller)),
  }),
  updateTenant: t.field({
    type: UpdateTenantPayload,
    nullable: true,
    description: "Changes a tenant's name, status or limits. Operators only.",
    args: { input: t.arg({ type: UpdateTenantInput, required: true, description: "What to change." }) },
    resolve: async (_root, { input }, context) => ({ tenant: await underInput(operating(context).update(input)) }),
  }),
  deleteTenant: t.field({
    type: DeleteTenantPayload,
    nullable: true,
    description: "Deletes a SUSPENDED tenant (else FORBIDDEN) and its data for good. Operators only.",
    args: { input: t.arg({ type: DeleteTenantInput, required: true, description: "The tenant to delete." }) },
    resolve: async (_root, { input }, context) => ({
      deletedTenantId: await underInput(operating(context).remove(input.tenantId)),
    }),
  }),
}));
