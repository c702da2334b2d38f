import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bus, BusEvent } from "../../src/events/bus.ts";
import { createMemoryBus } from "../../src/events/memory-bus.ts";
import { type LogFields, silentLog } from "../../src/log.ts";
import { MESSAGE_ROLES, type TenantId } from "../../src/store/model.ts";
import { SCOPES, type TenantRecord } from "../../src/store/registry-contract.ts";
import type { TenantHandle } from "../../src/store/sqlite/handle.ts";
import { openRegistry, type SqliteRegistry } from "../../src/store/sqlite/registry.ts";
import { createTenantFile, openTenantFile, removeTenantFile } from "../../src/store/sqlite/tenant-file.ts";
import { tenantPath } from "../../src/store/sqlite/tenant-path.ts";
import { createAuthenticator } from "../../src/tenancy/authenticate.ts";
import type { Authenticator, Caller, CreateKeyInput, Tenants } from "../../src/tenancy/contract.ts";
import type { JwtVerifier } from "../../src/tenancy/jwt.ts";
import { createPool, type Pool } from "../../src/tenancy/pool.ts";
import { createTenants } from "../../src/tenancy/tenants.ts";
import { type Instant, instant } from "../../src/time.ts";
import { createUuidFactory } from "../../src/uuid.ts";
import { NO_LIMITS } from "./store.ts";

export const OPERATOR_KEY = "operator-key-of-the-tests-0123456789";

/** An operator who names no tenant. */
export const OPERATOR: Caller = {
  kind: "OPERATOR",
  tenant: null,
  scopes: new Set(SCOPES),
  userId: null,
  visibleRoles: new Set(MESSAGE_ROLES),
  writableRoles: new Set(MESSAGE_ROLES),
  keyId: null,
  expiresAt: null,
};

/** The bus of one process, which keeps what was published. */
export function createTestBus(): Bus & { readonly published: readonly BusEvent[] } {
  const bus = createMemoryBus({ log: silentLog });
  const published: BusEvent[] = [];
  return {
    ...bus,
    published,
    publish(event) {
      published.push(event);
      bus.publish(event);
    },
  };
}

/** Everything of tenancy over real files in a folder of its own. */
export interface TestTenancy {
  readonly folder: string;
  readonly time: { wallMs: number };
  readonly bus: ReturnType<typeof createTestBus>;
  readonly logged: string[];
  /** Set `fail` to make the next works on files throw. */
  readonly files: { fail: boolean };
  readonly registry: () => SqliteRegistry;
  readonly tenants: () => Tenants & { resume(): Promise<void> };
  readonly authenticator: (jwt?: JwtVerifier | null) => Authenticator;
  readonly pool: () => Pool<TenantHandle>;
  readonly now: () => Instant;
  path(id: string): string;
  /** Creates a tenant with a first key and answers both. */
  tenant(id: string, firstKey?: CreateKeyInput): Promise<{ readonly tenant: TenantRecord; readonly secret: string }>;
  /** Opens everything anew, as after a restart. */
  restart(): void;
  dispose(): void;
}

/** Opens an empty data folder with registry, tenants and pool over it. */
export function openTestTenancy(): TestTenancy {
  const folder = mkdtempSync(join(tmpdir(), "gateway-tenancy-"));
  const time = { wallMs: Date.UTC(2026, 0, 1) };
  const bus = createTestBus();
  const logged: string[] = [];
  const files = { fail: false };
  const note = (message: string, fields?: LogFields) => void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log = { debug: note, info: note, warn: note, error: note };
  const source = { wall: () => time.wallMs, monotonic: () => 0 };
  const newUuid = createUuidFactory();
  const fileOf = ({ id, generation }: TenantRecord) => ({ path: tenantPath(folder, id), tenantId: id, generation });
  const onFiles = (work: (tenant: TenantRecord) => void) => (tenant: TenantRecord) => {
    if (files.fail) throw new Error("ENOSPC: /secret/path");
    work(tenant);
  };
  const open = () => {
    const registry = openRegistry({ path: join(folder, "control.sqlite"), time: source });
    const pool = createPool({
      open: (tenant) => openTenantFile(fileOf(tenant), { time: source, newUuid }),
      limit: 4,
      log,
    });
    const tenants = createTenants({
      registry,
      bus,
      clock: registry.clock,
      files: {
        create: onFiles((tenant) => createTenantFile(fileOf(tenant))),
        remove: onFiles((tenant) => removeTenantFile(fileOf(tenant).path)),
      },
      closeTenant: pool.close,
      defaultLimits: { ...NO_LIMITS, maxSessions: 1_000 },
      newUuid,
      log,
    });
    return { registry, pool, tenants };
  };
  let parts = open();
  const close = () => {
    parts.pool.closeAll();
    parts.registry.close();
  };
  return {
    folder,
    time,
    bus,
    logged,
    files,
    registry: () => parts.registry,
    tenants: () => parts.tenants,
    pool: () => parts.pool,
    authenticator: (jwt = null) =>
      createAuthenticator({
        registry: parts.registry,
        bus,
        clock: parts.registry.clock,
        operatorKey: OPERATOR_KEY,
        jwt,
        log,
      }),
    now: () => instant(time.wallMs * 1000),
    path: (id) => tenantPath(folder, id),
    async tenant(id, firstKey = { scopes: SCOPES }) {
      const made = await parts.tenants.create({ id, firstKey }, OPERATOR);
      return { tenant: made.tenant, secret: made.firstKey?.secret ?? "" };
    },
    restart() {
      close();
      parts = open();
    },
    dispose() {
      close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A tenant's id, as its type wants it. */
export function tenantId(id: string): TenantId {
  return id as TenantId;
}
