import { badInput, forbidden, notFound, unauthenticated } from "../errors.ts";
import type { Bus } from "../events/bus.ts";
import type { Log } from "../log.ts";
import { type KeyId, MESSAGE_ROLES } from "../store/model.ts";
import { type KeyRecord, type Registry, SCOPES, type TenantRecord } from "../store/registry-contract.ts";
import { type Clock, startOf } from "../time.ts";
import type { Authenticator, Caller } from "./contract.ts";
import { createCredentialWatch } from "./credential-watch.ts";
import type { JwtVerifier } from "./jwt.ts";
import { hashSecret, KEY_PREFIX, keyIdOf, secretMatches } from "./keys.ts";
import { isUnsettled, keyProblem, suspensionProblem } from "./liveness.ts";

export interface AuthenticatorParts {
  readonly registry: Pick<Registry, "getKey" | "getTenant" | "touchKey">;
  readonly bus: Bus;
  readonly clock: Clock;
  /** Null: there are no operators. */
  readonly operatorKey: string | null;
  /** Null: tokens are refused, keys alone open. */
  readonly jwt: JwtVerifier | null;
  readonly log: Log;
}

/** A header is far shorter; over WebSocket a credential could be as long as a frame. */
const TOKEN_LENGTH_MAX = 16 * 1024;
const BEARER = /^bearer +([!-~]+) *$/i;

/**
 * Nothing is cached: a key is looked up for every request, so that a revocation holds from its answer on, and no lookup
 * under way can bring a dead key back.
 */
export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const operatorHash = parts.operatorKey === null ? null : hashSecret(parts.operatorKey);
  const touch = createTouch(parts);
  return {
    async authenticate({ authorization, tenantIds }) {
      const token = tokenOf(authorization);
      if (secretMatches(token, operatorHash)) return operatorCaller(parts.registry, tenantIds);
      const caller = token.startsWith(KEY_PREFIX)
        ? await keyCaller(parts, token, touch)
        : await tokenCaller(parts, token);
      if (tenantIds.length > 0) {
        throw forbidden("Only an operator names a tenant with x-tenant-id; your credential has its own.");
      }
      return caller;
    },
    watch: createCredentialWatch(parts),
  };
}

function tokenOf(authorization: string | null): string {
  if (authorization === null || authorization.length > TOKEN_LENGTH_MAX) throw unauthenticated();
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw unauthenticated();
  return token;
}

async function operatorCaller(registry: Pick<Registry, "getTenant">, tenantIds: readonly string[]): Promise<Caller> {
  if (tenantIds.length > 1) throw badInput(["x-tenant-id"], "Send x-tenant-id once.");
  const [tenantId] = tenantIds;
  return {
    kind: "OPERATOR",
    tenant: tenantId === undefined ? null : await namedTenant(registry, tenantId),
    scopes: new Set(SCOPES),
    userId: null,
    visibleRoles: new Set(MESSAGE_ROLES),
    writableRoles: new Set(MESSAGE_ROLES),
    keyId: null,
    expiresAt: null,
  };
}

async function namedTenant(registry: Pick<Registry, "getTenant">, id: string): Promise<TenantRecord> {
  const tenant = await registry.getTenant(id);
  if (tenant === null || isUnsettled(tenant)) throw notFound("tenant");
  const problem = suspensionProblem(tenant);
  if (problem !== null) throw problem;
  return tenant;
}

async function keyCaller(parts: AuthenticatorParts, secret: string, touch: (key: KeyRecord) => void): Promise<Caller> {
  const id = keyIdOf(secret);
  const found = id === null ? null : await parts.registry.getKey(id);
  const matches = secretMatches(secret, found?.secretHash ?? null);
  if (found === null || !matches || isUnsettled(found.tenant)) throw unauthenticated("This key is not valid.");
  const { key, tenant } = found;
  const problem = keyProblem(key, parts.clock.now()) ?? suspensionProblem(tenant);
  if (problem !== null) throw problem;
  touch(key);
  return {
    kind: "API_KEY",
    tenant,
    scopes: new Set(key.scopes),
    userId: key.userId,
    visibleRoles: new Set(key.visibleRoles),
    writableRoles: new Set(key.writableRoles),
    keyId: key.id,
    expiresAt: key.expiresAt,
  };
}

async function tokenCaller(parts: AuthenticatorParts, token: string): Promise<Caller> {
  if (parts.jwt === null) throw unauthenticated();
  const claims = await parts.jwt.verify(token);
  const tenant = await parts.registry.getTenant(claims.tenantId);
  if (tenant === null || isUnsettled(tenant)) throw unauthenticated("This token is not valid.");
  const problem = suspensionProblem(tenant);
  if (problem !== null) throw problem;
  const { scopes, userId, visibleRoles, writableRoles, expiresAt } = claims;
  return { kind: "JWT", tenant, scopes, userId, visibleRoles, writableRoles, keyId: null, expiresAt };
}

/** Notes a key's use, to the hour: not every read may become a write. A note that fails is only logged. */
function createTouch({ registry, clock, log }: AuthenticatorParts): (key: KeyRecord) => void {
  const underWay = new Set<KeyId>();
  return (key) => {
    const hour = startOf("HOUR", clock.now());
    if (underWay.has(key.id) || (key.lastUsedAt !== null && key.lastUsedAt >= hour)) return;
    underWay.add(key.id);
    registry
      .touchKey(key.id, hour)
      .catch((error: unknown) => log.warn("a key's use could not be noted", { keyId: key.id, error: String(error) }))
      .finally(() => underWay.delete(key.id));
  };
}
