import { conflict, forbidden, GatewayError, notFound, unavailable } from "../errors.ts";
import type { Bus } from "../events/bus.ts";
import type { Log } from "../log.ts";
import type { KeyId, TenantId, TenantLimits } from "../store/model.ts";
import type { Registry, TenantRecord } from "../store/registry-contract.ts";
import type { Clock } from "../time.ts";
import { secureRandom, type UuidFactory } from "../uuid.ts";
import type { NewKey, Tenants, UpdateTenantInput } from "./contract.ts";
import { checkGrant, checkName, type KeyGrant } from "./grants.ts";
import { hashSecret, mintSecret } from "./keys.ts";
import { isUnsettled } from "./liveness.ts";
import { type CheckedTenant, checkTenant, mergeLimits } from "./tenant-input.ts";
import { createTurns } from "./turns.ts";

export interface TenantsParts {
  readonly registry: Registry;
  readonly bus: Bus;
  readonly clock: Clock;
  /** Both can be repeated: `create` makes a rest anew, `remove` of what is gone does nothing. */
  readonly files: { create(tenant: TenantRecord): void; remove(tenant: TenantRecord): void };
  /** Lets go of whatever holds the tenant's file open. */
  readonly closeTenant: (id: TenantId) => void;
  readonly defaultLimits: TenantLimits;
  readonly newUuid: UuidFactory;
  readonly log: Log;
}

/**
 * Tenants over the registry, their files and the bus. Creating and deleting go in steps, each on disk before the next:
 * CREATING → file → ACTIVE → first key, and DELETING → streams and handles closed → file gone → row gone. `resume`
 * finishes what a crash cut. A crash between ACTIVE and the first key leaves a tenant without it: createTenant repeated
 * answers it with firstKey null, and createApiKey makes one. Operations on one tenant take turns.
 */
export function createTenants(parts: TenantsParts): Tenants & { resume(): Promise<void> } {
  const { registry, bus, clock } = parts;
  const inTurn = createTurns();
  const get = (id: string) => settled(registry, id);
  return {
    get,
    list: (page) => registry.listTenants(page),
    async create(input, grantor) {
      const tenant = checkTenant(input, parts.defaultLimits);
      const grant = input.firstKey ? firstGrant(() => checkGrant(input.firstKey ?? {}, grantor, clock.now())) : null;
      return inTurn(tenant.id, () => create(parts, tenant, grant));
    },
    update: (input) => inTurn(input.tenantId, () => update(parts, input)),
    remove: (tenantId) => inTurn(tenantId, () => remove(parts, tenantId)),
    listKeys: (tenantId, page) => registry.listKeys(tenantId, page),
    createKey(tenantId, input, grantor) {
      return inTurn(tenantId, async () => {
        const tenant = await get(tenantId);
        // A grantor from an earlier life of the tenant has nothing to give in this one.
        const stale = grantor.tenant !== null && grantor.tenant.generation !== tenant?.generation;
        if (tenant === null || stale) throw notFound("tenant");
        return storeKey(parts, tenant.id, checkGrant(input, grantor, clock.now()));
      });
    },
    async revokeKey(tenantId, keyId) {
      const key = await registry.revokeKey(tenantId, keyId, clock.now());
      if (key === null) throw notFound("key");
      bus.publish({ kind: "access", tenantId, keyId: key.id });
      return key;
    },
    async resume() {
      for (const tenant of await registry.unfinishedTenants()) {
        await inTurn(tenant.id, () => finish(parts, tenant)).catch((error: unknown) =>
          // One sick tenant must not keep the others from their gateway.
          parts.log.error("a tenant could not be finished", { tenantId: tenant.id, error: causeOf(error) }),
        );
      }
    },
  };
}

async function settled(registry: Registry, id: string): Promise<TenantRecord | null> {
  const tenant = await registry.getTenant(id);
  return tenant === null || isUnsettled(tenant) ? null : tenant;
}

async function create(
  parts: TenantsParts,
  input: CheckedTenant,
  grant: KeyGrant | null,
): ReturnType<Tenants["create"]> {
  const { registry } = parts;
  const existing = await registry.getTenant(input.id);
  if (existing?.state === "DELETING") await finish(parts, existing);
  else if (existing !== null) {
    if ((await registry.createdFrom(existing.id, existing.generation)) !== input.createdFrom) {
      throw conflict("ATTRIBUTES_DIFFER", "There is a tenant of this id that was created from another input.");
    }
    if (existing.state !== "CREATING") return { tenant: existing, firstKey: null };
  }
  await refuseSpentId(registry, grant);
  const begun =
    existing?.state === "CREATING" ? existing : await registry.beginTenant({ ...input, createdAt: parts.clock.now() });
  const tenant = await finishCreating(parts, begun);
  const firstKey = grant === null ? null : await storeKey(parts, tenant.id, grant);
  return { tenant, firstKey };
}

/** Before anything is made: a tenant should not come to be without the key it was asked for with. */
async function refuseSpentId(registry: Registry, grant: KeyGrant | null): Promise<void> {
  const id = grant?.id ?? null;
  if (id !== null && (await registry.isKeyIdSpent(id)))
    throw conflict("ID_TAKEN", "The first key's id was used before.");
}

function firstGrant(check: () => KeyGrant): KeyGrant {
  try {
    return check();
  } catch (error) {
    throw error instanceof GatewayError ? error.under("firstKey") : error;
  }
}

async function storeKey(parts: TenantsParts, tenantId: TenantId, grant: KeyGrant): Promise<NewKey> {
  const id = grant.id ?? (parts.newUuid() as KeyId);
  const key = { ...grant, id, tenantId, createdAt: parts.clock.now(), lastUsedAt: null, revokedAt: null };
  const secret = mintSecret(id, secureRandom);
  await parts.registry.createKey(key, hashSecret(secret));
  return { key, secret };
}

async function update(parts: TenantsParts, input: UpdateTenantInput): Promise<TenantRecord> {
  const { registry, bus } = parts;
  const before = await settled(registry, input.tenantId);
  if (before === null) throw notFound("tenant");
  const state = input.status ?? before.state;
  const after = await registry.updateTenant(before.id, before.generation, {
    name: input.name === undefined ? before.name : checkName(input.name, ["name"]),
    state,
    limits: mergeLimits(input.limits, before.limits),
  });
  if (after.state === "SUSPENDED") bus.publish({ kind: "access", tenantId: after.id, keyId: null });
  return after;
}

async function remove(parts: TenantsParts, tenantId: string): Promise<TenantId> {
  const tenant = await parts.registry.getTenant(tenantId);
  if (tenant === null || tenant.state === "CREATING") throw notFound("tenant");
  if (tenant.state === "ACTIVE") throw forbidden("Suspend the tenant first; only a suspended one can be deleted.");
  const { id, generation } = tenant;
  const leaving =
    tenant.state === "DELETING" ? tenant : await parts.registry.updateTenant(id, generation, { state: "DELETING" });
  await finishDeleting(parts, leaving);
  return id;
}

/** Brings a tenant that was left half-way to the end of its way; the row is read again, it may have moved on. */
async function finish(parts: TenantsParts, left: TenantRecord): Promise<void> {
  const tenant = await parts.registry.getTenant(left.id);
  if (tenant?.state === "CREATING") await finishCreating(parts, tenant);
  if (tenant?.state === "DELETING") await finishDeleting(parts, tenant);
}

function finishCreating(parts: TenantsParts, tenant: TenantRecord): Promise<TenantRecord> {
  onFiles(() => parts.files.create(tenant), "The tenant's store can't be made now; the same input again goes on.");
  return parts.registry.updateTenant(tenant.id, tenant.generation, { state: "ACTIVE" });
}

/** Handles and files go in one turn of the loop: between them nobody could open the file again. */
function finishDeleting(parts: TenantsParts, tenant: TenantRecord): Promise<void> {
  parts.bus.publish({ kind: "access", tenantId: tenant.id, keyId: null });
  onFiles(() => {
    parts.closeTenant(tenant.id);
    parts.files.remove(tenant);
  }, "The tenant's store can't be removed now; deleting it again goes on.");
  return parts.registry.removeTenant(tenant.id, tenant.generation);
}

function onFiles(work: () => void, message: string): void {
  try {
    work();
  } catch (error) {
    throw error instanceof GatewayError ? error : unavailable(message, error);
  }
}

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? String(error.cause) : String(error);
}
