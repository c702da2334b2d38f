import { LRUCache } from "lru-cache";
import { GatewayError, unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import type { TenantId } from "../store/model.ts";
import type { TenantRecord } from "../store/registry-contract.ts";

/** What the pool keeps open: a tenant's file, or whatever stands for its store. */
export interface PoolHandle {
  close(): void;
}

export interface PoolParts<H extends PoolHandle> {
  readonly open: (tenant: TenantRecord) => H;
  /** Handles open at once. */
  readonly limit: number;
  readonly log: Log;
}

/** The open stores, least recently used first out. */
export interface Pool<H extends PoolHandle> {
  /**
   * Lends the tenant's handle for one synchronous call, opening it where it is not open. It is never closed while lent,
   * calls within calls included. UNAVAILABLE for a life of the tenant that is over, and once the pool is closed.
   */
  use<T>(tenant: TenantRecord, work: (handle: H) => T): T;
  /** Closes down to eight below the limit, so that the next open need not wait for a close. */
  trim(): void;
  /** Closes the tenant's handle, if it is open. */
  close(tenantId: TenantId): void;
  closeAll(): void;
  readonly size: number;
}

/** An open handle. `lent`: how many calls hold it; `retired`: it closes when the last of them returns. */
interface Entry<H extends PoolHandle> {
  readonly handle: H;
  readonly tenantId: TenantId;
  readonly generation: number;
  lent: number;
  retired: boolean;
}

const DESCRIPTORS_KEPT_FREE = 40;
const DESCRIPTORS_PER_DATABASE = 3;
const DATABASES_MIN = 4;
const SPARE_HANDLES = 8;
/** Room in the cache for handles that are all lent at once, by calls within calls. */
const NESTED_MAX = 64;

/** Databases that may be open: half the descriptors that are left (three a database), four at least. */
export function poolLimit(configured: number, descriptorLimit: number): number {
  const affordable = Math.floor((descriptorLimit - DESCRIPTORS_KEPT_FREE) / (2 * DESCRIPTORS_PER_DATABASE));
  return Math.min(configured, Math.max(DATABASES_MIN, affordable));
}

/** Connections of clients that the descriptors allow beside so many databases; one at least. */
export function connectionLimit(descriptorLimit: number, databases: number): number {
  return Math.max(1, descriptorLimit - DESCRIPTORS_KEPT_FREE - DESCRIPTORS_PER_DATABASE * databases);
}

/** Makes an empty pool. */
export function createPool<H extends PoolHandle>(parts: PoolParts<H>): Pool<H> {
  let closed = false;
  const shut = (entry: Entry<H>): void => {
    try {
      entry.handle.close();
    } catch (error) {
      parts.log.error("a tenant's store did not close well", { tenantId: entry.tenantId, error: String(error) });
    }
  };
  const cache = new LRUCache<TenantId, Entry<H>>({
    max: parts.limit + NESTED_MAX,
    dispose(entry) {
      if (entry.lent === 0) shut(entry);
      else entry.retired = true;
    },
  });
  const shrinkTo = (size: number): void => {
    if (cache.size <= size) return;
    for (const tenantId of [...cache.rkeys()]) {
      if (cache.size <= size) return;
      if (cache.peek(tenantId)?.lent === 0) cache.delete(tenantId);
    }
  };
  const open = (tenant: TenantRecord): Entry<H> => {
    shrinkTo(parts.limit - 1);
    const handle = opened(parts, tenant);
    const entry = { handle, tenantId: tenant.id, generation: tenant.generation, lent: 0, retired: false };
    cache.set(tenant.id, entry);
    return entry;
  };
  const entryOf = (tenant: TenantRecord): Entry<H> => {
    if (closed) throw unavailable("The gateway is shutting down.");
    const found = cache.get(tenant.id);
    if (found === undefined) return open(tenant);
    if (found.generation === tenant.generation) return found;
    if (found.generation > tenant.generation) throw unavailable("This tenant was deleted.");
    cache.delete(tenant.id);
    return open(tenant);
  };
  return {
    use(tenant, work) {
      const entry = entryOf(tenant);
      entry.lent++;
      try {
        return work(entry.handle);
      } finally {
        entry.lent--;
        if (entry.retired && entry.lent === 0) shut(entry);
      }
    },
    // A small pool keeps half of its handles: eight below the limit would be none.
    trim: () => shrinkTo(Math.max(parts.limit - SPARE_HANDLES, Math.ceil(parts.limit / 2))),
    close: (tenantId) => {
      cache.delete(tenantId);
    },
    closeAll() {
      closed = true;
      cache.clear();
    },
    get size() {
      return cache.size;
    },
  };
}

/** A failed open leaves nothing behind: the next call tries again, so a tenant is well as soon as its file is. */
function opened<H extends PoolHandle>(parts: PoolParts<H>, tenant: TenantRecord): H {
  try {
    return parts.open(tenant);
  } catch (error) {
    throw error instanceof GatewayError ? error : unavailable("This tenant's store can't be opened now.", error);
  }
}
