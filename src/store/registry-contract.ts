import type { Instant } from "../time.ts";
import type { KeyId, MessageRole, TenantId, TenantLimits, UserId } from "./model.ts";
import type { Page, PageRequest } from "./page.ts";

/** CREATING and DELETING are steps that a restart resumes; the API shows ACTIVE and SUSPENDED alone. */
export const TENANT_STATES = ["CREATING", "ACTIVE", "SUSPENDED", "DELETING"] as const;
export type TenantState = (typeof TENANT_STATES)[number];

export const SCOPES = ["READ", "WRITE", "DELETE", "ADMIN"] as const;
export type Scope = (typeof SCOPES)[number];

export interface TenantRecord {
  readonly id: TenantId;
  /** Ascending over all tenants, never used twice: a tenant made again under an old id has another. */
  readonly generation: number;
  readonly name: string | null;
  readonly state: TenantState;
  readonly limits: TenantLimits;
  readonly createdAt: Instant;
}

export interface KeyRecord {
  readonly id: KeyId;
  readonly tenantId: TenantId;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly userId: UserId | null;
  readonly visibleRoles: readonly MessageRole[];
  readonly writableRoles: readonly MessageRole[];
  readonly createdAt: Instant;
  /** To the hour. */
  readonly lastUsedAt: Instant | null;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** A key, the SHA-256 of its secret, and the tenant that owns it, all read at one moment. */
export interface FoundKey {
  readonly key: KeyRecord;
  readonly secretHash: Uint8Array;
  readonly tenant: TenantRecord;
}

/**
 * The control plane's store: tenants, their limits, and API keys (as hashes of their secrets). Every method may throw
 * UNAVAILABLE; a promise of a write resolves when it is on disk. It checks no permissions and makes no files.
 */
export interface Registry {
  /** Tenants in any state, null where the id is free. */
  getTenant(id: string): Promise<TenantRecord | null>;
  /** ACTIVE and SUSPENDED ones, by id. */
  listTenants(page: PageRequest): Promise<Page<TenantRecord>>;
  /** Those that a crash left CREATING or DELETING. */
  unfinishedTenants(): Promise<readonly TenantRecord[]>;
  /** A row in state CREATING with a new generation; CONFLICT ID_TAKEN where there is one in any state. */
  beginTenant(tenant: {
    readonly id: TenantId;
    readonly name: string | null;
    readonly limits: TenantLimits;
    readonly createdAt: Instant;
    /** What the tenant was asked for with, as one text; a repeated request is compared with it. */
    readonly createdFrom: string;
  }): Promise<TenantRecord>;
  /** The `createdFrom` of that generation, null where it is not there. */
  createdFrom(id: TenantId, generation: number): Promise<string | null>;
  /** NOT_FOUND where that generation is not there. What is left out stays as it is; a null name clears it. */
  updateTenant(
    id: TenantId,
    generation: number,
    change: { readonly name?: string | null; readonly state?: TenantState; readonly limits?: TenantLimits },
  ): Promise<TenantRecord>;
  /** Removes the row and every key of the tenant. */
  removeTenant(id: TenantId, generation: number): Promise<void>;

  /** Whether the key's id was ever used, by whichever tenant, also by one that is gone. */
  isKeyIdSpent(id: string): Promise<boolean>;
  /** CONFLICT ID_TAKEN where the key's id was ever used; NOT_FOUND where the tenant is not ACTIVE or SUSPENDED. */
  createKey(key: KeyRecord, secretHash: Uint8Array): Promise<void>;
  /** A revoked or expired one too. */
  getKey(id: string): Promise<FoundKey | null>;
  /** Newest first. NOT_FOUND where the tenant is not ACTIVE or SUSPENDED. */
  listKeys(tenantId: TenantId, page: PageRequest): Promise<Page<KeyRecord>>;
  /** The key as it is then; null where the tenant has none of that id. A second revocation keeps the first time. */
  revokeKey(tenantId: TenantId, id: string, revokedAt: Instant): Promise<KeyRecord | null>;
  touchKey(id: KeyId, hour: Instant): Promise<void>;

  close(): void;
}
