import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { Bus } from "./events/bus.ts";
import { createMemoryBus } from "./events/memory-bus.ts";
import type { Log } from "./log.ts";
import type { TenantStore } from "./store/contract.ts";
import type { Registry, TenantRecord } from "./store/registry-contract.ts";
import type { TenantHandle } from "./store/sqlite/handle.ts";
import { openRegistry } from "./store/sqlite/registry.ts";
import { createSqliteStore } from "./store/sqlite/store.ts";
import { createTenantFile, openTenantFile, removeTenantFile } from "./store/sqlite/tenant-file.ts";
import { tenantPath } from "./store/sqlite/tenant-path.ts";
import type { Tenants } from "./tenancy/contract.ts";
import { createPool, type Pool } from "./tenancy/pool.ts";
import { createTenants } from "./tenancy/tenants.ts";
import type { Clock, TimeSource } from "./time.ts";
import type { UuidFactory } from "./uuid.ts";

/** What every part of the process that touches data is made of. */
export interface DataParts {
  readonly config: Pick<Config, "dataFolder" | "maxSessions" | "maxMessages" | "maxBytes" | "requestsPerMinute">;
  /** Tenant files that may be open at once. */
  readonly openDatabases: number;
  readonly time: TimeSource;
  readonly newUuid: UuidFactory;
  readonly log: Log;
}

/** The data folder, opened: the control database, and tenants' files as they are asked for. */
export interface DataFolder {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly tenants: Tenants;
  storeOf(tenant: TenantRecord): TenantStore;
  /** Finishes what a crash cut: tenants half made or half deleted. */
  resume(): Promise<void>;
  /** Opens every tenant's file once, little by little, so that what was deleted before a restart is erased. */
  sweep(): Promise<void>;
  /** Closes files that have not been used for longest, down to a few below the limit. */
  trim(): void;
  close(): void;
}

/** How long after its file was closed unfinished an erasure is taken up again. */
const REOPEN_MILLISECONDS = 1_000;
const TENANTS_PER_PAGE = 100;

/** Opens the folder, making it where it is not there. Whoever calls holds its lock. */
export function openDataFolder(parts: DataParts): DataFolder {
  const { config, log, newUuid, time } = parts;
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 });
  const registry = openRegistry({ path: join(config.dataFolder, "control.sqlite"), time });
  const bus = createMemoryBus({ log });
  const pool = openPool(parts);
  const fileOf = (tenant: TenantRecord) => ({
    path: tenantPath(config.dataFolder, tenant.id),
    tenantId: tenant.id,
    generation: tenant.generation,
  });
  const tenants = createTenants({
    ...{ registry, bus, clock: registry.clock, newUuid, log },
    files: {
      create: (tenant) => createTenantFile(fileOf(tenant)),
      remove: (tenant) => removeTenantFile(fileOf(tenant).path),
    },
    closeTenant: (id) => pool.close(id),
    defaultLimits: {
      maxSessions: config.maxSessions,
      maxMessages: config.maxMessages,
      maxBytes: config.maxBytes,
      requestsPerMinute: config.requestsPerMinute,
    },
  });
  return {
    ...{ registry, clock: registry.clock, bus, tenants },
    storeOf: (tenant) =>
      createSqliteStore({ use: (work) => pool.use(tenant, work), limits: () => tenant.limits, newUuid }),
    resume: () => tenants.resume(),
    sweep: () => sweep(registry, pool, log),
    trim: () => pool.trim(),
    close() {
      pool.closeAll();
      registry.close();
    },
  };
}

/** A file that leaves the pool while it is being erased comes back soon, to finish. */
function openPool(parts: DataParts): Pool<TenantHandle> {
  const { config, time, newUuid, log } = parts;
  const pool: Pool<TenantHandle> = createPool({
    limit: parts.openDatabases,
    log,
    open(tenant) {
      const path = tenantPath(config.dataFolder, tenant.id);
      const file = { path, tenantId: tenant.id, generation: tenant.generation };
      const handle = openTenantFile(file, { time, newUuid });
      return {
        ...handle,
        close() {
          const erasing = handle.eraser.isErasing();
          handle.close();
          if (erasing) setTimeout(() => reopen(pool, tenant), REOPEN_MILLISECONDS).unref();
        },
      };
    },
  });
  return pool;
}

function reopen(pool: Pool<TenantHandle>, tenant: TenantRecord): void {
  try {
    pool.use(tenant, () => undefined);
  } catch {
    // Deleted, sick or shutting down: its next open goes on.
  }
}

async function sweep(registry: Registry, pool: Pool<TenantHandle>, log: Log): Promise<void> {
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<Registry["listTenants"]>> = await registry.listTenants({
      first: TENANTS_PER_PAGE,
      after,
    });
    for (const tenant of page.nodes) {
      try {
        pool.use(tenant, () => undefined);
      } catch (error) {
        log.warn("a tenant's store can't be opened", { tenantId: tenant.id, error: String(error) });
      }
      pool.trim();
      await new Promise((resolve) => setTimeout(resolve, 5).unref());
    }
    if (!page.hasNextPage) return;
    after = page.endCursor;
  }
}
