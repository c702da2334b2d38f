import { SCOPES } from "../store/registry-contract.ts";
import type { Caller } from "../tenancy/contract.ts";
import { builder } from "./builder.ts";
import { CredentialKindEnum, ScopeEnum } from "./enums.ts";
import { TenantRef } from "./refs.ts";

const ViewerRef = builder.objectRef<Caller>("Viewer").implement({
  description: "Who is calling, by its credential.",
  fields: (t) => ({
    kind: t.expose("kind", { type: CredentialKindEnum, description: "The kind of credential." }),
    tenant: t.expose("tenant", {
      type: TenantRef,
      nullable: true,
      description: "The tenant that it belongs to; null for an operator who named none.",
    }),
    scopes: t.field({
      type: [ScopeEnum],
      description: "What it may do.",
      resolve: (caller) => SCOPES.filter((scope) => caller.scopes.has(scope)),
    }),
    userId: t.exposeID("userId", {
      nullable: true,
      description: "Where set, only this end user's sessions exist for the caller.",
    }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true, description: "Until when it lives." }),
  }),
});

builder.queryField("viewer", (t) =>
  t.field({
    type: ViewerRef,
    description: "Who is calling. Any live credential may ask.",
    resolve: (_root, _args, context) => context.caller,
  }),
);
