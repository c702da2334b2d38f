import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reach, SessionStore } from "../../src/store/contract.ts";
import { MESSAGE_ROLES, type TenantId, type TenantLimits } from "../../src/store/model.ts";
import type { TenantHandle } from "../../src/store/sqlite/handle.ts";
import { createSqliteStore } from "../../src/store/sqlite/store.ts";
import { createTenantFile, openTenantFile, type TenantFile } from "../../src/store/sqlite/tenant-file.ts";
import { createUuidFactory } from "../../src/uuid.ts";

export const NO_LIMITS: TenantLimits = {
  maxSessions: null,
  maxMessages: null,
  maxBytes: null,
  requestsPerMinute: null,
};
export const FULL_REACH: Reach = {
  userId: null,
  visibleRoles: new Set(MESSAGE_ROLES),
  writableRoles: new Set(MESSAGE_ROLES),
};

/** A tenant's store over a real file in a folder of its own. `wallMs` is the test's to set. */
export interface TestStore {
  readonly store: SessionStore;
  readonly file: TenantFile;
  readonly time: { wallMs: number };
  within(reach: Partial<Reach>): SessionStore;
  handle(): TenantHandle;
  /** Closes the file and opens it again, as after a restart. */
  reopen(): void;
  dispose(): void;
}

/** Opens a new tenant, by the very functions that the product uses. */
export function openTestStore(limits: Partial<TenantLimits> = {}): TestStore {
  const folder = mkdtempSync(join(tmpdir(), "gateway-store-"));
  const file: TenantFile = {
    path: join(folder, "tenants", "acme.sqlite"),
    tenantId: "acme" as TenantId,
    generation: 1,
  };
  const time = { wallMs: Date.UTC(2026, 0, 1) };
  const newUuid = createUuidFactory();
  createTenantFile(file);
  const open = () =>
    openTenantFile(file, { time: { wall: () => time.wallMs, monotonic: () => performance.now() }, newUuid });
  let handle = open();
  const tenant = createSqliteStore({
    use: (work) => work(handle),
    limits: () => ({ ...NO_LIMITS, ...limits }),
    newUuid,
  });
  return {
    store: tenant.within(FULL_REACH),
    file,
    time,
    within: (reach) => tenant.within({ ...FULL_REACH, ...reach }),
    handle: () => handle,
    reopen() {
      handle.close();
      handle = open();
    },
    dispose() {
      handle.close();
      rmSync(folder, { recursive: true });
    },
  };
}
