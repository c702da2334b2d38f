import { forbidden, GatewayError } from "../errors.ts";
import type { Feed } from "../events/contract.ts";
import type { SessionStore } from "../store/contract.ts";
import type { Scope, TenantRecord } from "../store/registry-contract.ts";
import type { Tenants } from "../tenancy/contract.ts";
import type { GatewayContext } from "./context.ts";

// The only way from a resolver to data: each of these checks what the caller may and gives the part that does it.

export const OPERATOR_NAMES_A_TENANT = "An operator names a tenant with the header x-tenant-id.";

/** The store for a query, a subscription and every field under them. Needs READ. */
export function reading(context: GatewayContext): SessionStore {
  return storeWith(context, "READ");
}

/** The store for a mutation of sessions, messages, snapshots or runs. Needs WRITE. */
export function writing(context: GatewayContext): SessionStore {
  return storeWith(context, "WRITE");
}

/** The store for deleting one session. Needs DELETE. */
export function deleting(context: GatewayContext): SessionStore {
  return storeWith(context, "DELETE");
}

/** The store for erasing an end user. Needs DELETE and ADMIN. */
export function erasing(context: GatewayContext): SessionStore {
  return storeWith(context, "DELETE", "ADMIN");
}

/** What is live in the tenant. Needs READ. */
export function following(context: GatewayContext): Feed {
  requireScopes(context, "READ");
  return named(context.feed);
}

/** The tenant that the caller's credentials belong to, whatever their scopes. */
export function ownTenant(context: GatewayContext): TenantRecord {
  return named(context.caller.tenant);
}

/** The tenant whose keys the caller may list and make. Needs ADMIN, or an operator. */
export function administered(context: GatewayContext): TenantRecord {
  requireScopes(context, "ADMIN");
  if (isNarrowed(context)) throw forbidden("A credential of one end user sees no keys.");
  return ownTenant(context);
}

/** Every tenant. Operators only. */
export function operating(context: GatewayContext): Tenants {
  if (!isOperator(context)) throw forbidden("Only an operator may do this.");
  return context.tenants;
}

/** Whether the operator's key is calling. */
export function isOperator(context: GatewayContext): boolean {
  return context.caller.kind === "OPERATOR";
}

/** Whether the caller sees one end user's data alone. */
export function isNarrowed(context: GatewayContext): boolean {
  return context.caller.userId !== null;
}

/** Throws FORBIDDEN unless the caller has all of these scopes; an operator has them in the tenant it named. */
export function requireScopes(context: GatewayContext, ...scopes: readonly Scope[]): void {
  if (isOperator(context)) {
    named(context.caller.tenant);
    return;
  }
  const missing = scopes.filter((scope) => !context.caller.scopes.has(scope));
  if (missing.length > 0) throw forbidden(`This needs the scope ${missing.join(" and ")}.`);
}

function storeWith(context: GatewayContext, ...scopes: readonly Scope[]): SessionStore {
  requireScopes(context, ...scopes);
  return named(context.store);
}

function named<T>(part: T | null): T {
  if (part === null) throw new GatewayError("BAD_USER_INPUT", OPERATOR_NAMES_A_TENANT);
  return part;
}

/** A store's refusal of a mutation's input, its path made the client's own. */
export async function underInput<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GatewayError ? error.under("input") : error;
  }
}
