import type { KeyId, MessageRole, TenantId, UserId } from "../store/model.ts";
import type { Maybe, Page, PageRequest } from "../store/page.ts";
import type { KeyRecord, Scope, TenantRecord } from "../store/registry-contract.ts";
import type { Instant } from "../time.ts";

export type CredentialKind = "API_KEY" | "JWT" | "OPERATOR";

/** Who is calling, from verified credentials alone. Privilege is another Caller, never a flag beside it. */
export interface Caller {
  readonly kind: CredentialKind;
  /** Null for an operator who named none. */
  readonly tenant: TenantRecord | null;
  readonly scopes: ReadonlySet<Scope>;
  readonly userId: UserId | null;
  readonly visibleRoles: ReadonlySet<MessageRole>;
  readonly writableRoles: ReadonlySet<MessageRole>;
  readonly keyId: KeyId | null;
  readonly expiresAt: Instant | null;
}

/** What a request carries about its caller. `tenantIds`: every value of x-tenant-id that came. */
export interface Credentials {
  readonly authorization: string | null;
  readonly tenantIds: readonly string[];
}

export interface Authenticator {
  /**
   * UNAUTHENTICATED for anything but a live credential; FORBIDDEN for a suspended tenant, and for x-tenant-id from
   * anyone but an operator; BAD_USER_INPUT for x-tenant-id twice; NOT_FOUND where an operator names no tenant of ours.
   */
  authenticate(credentials: Credentials): Promise<Caller>;
  /**
   * Watches the credential for as long as a stream lives on it. `ended` aborts with a GatewayError as its reason
   * (UNAUTHENTICATED: revoked or expired; FORBIDDEN: suspended or deleted) before the operation that ended it answers.
   * `release` lets go of every timer and listener; call it exactly when the stream ends.
   */
  watch(caller: Caller): { readonly ended: AbortSignal; release(): void };
}

export interface NewKey {
  readonly key: KeyRecord;
  /** `sgw_<key id>_<secret>`; shown once, stored as a hash. */
  readonly secret: string;
}

export interface CreateKeyInput {
  readonly id?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly scopes?: Maybe<readonly Scope[]>;
  readonly userId?: Maybe<string>;
  readonly visibleRoles?: Maybe<readonly MessageRole[]>;
  readonly writableRoles?: Maybe<readonly MessageRole[]>;
  readonly expiresAt?: Maybe<Instant>;
}
/** `undefined` is the gateway's default for a new tenant and "as it is" in an update; null is no limit. */
export interface TenantLimitsInput {
  readonly maxSessions?: Maybe<number>;
  readonly maxMessages?: Maybe<number>;
  readonly maxBytes?: Maybe<number>;
  readonly requestsPerMinute?: Maybe<number>;
}
export interface CreateTenantInput {
  readonly id: string;
  readonly name?: Maybe<string>;
  readonly limits?: Maybe<TenantLimitsInput>;
  readonly firstKey?: Maybe<CreateKeyInput>;
}
export interface UpdateTenantInput {
  readonly tenantId: string;
  readonly name?: Maybe<string>;
  readonly status?: Maybe<"ACTIVE" | "SUSPENDED">;
  readonly limits?: Maybe<TenantLimitsInput>;
}

/**
 * Tenants and keys as whole operations. Whoever calls has checked that the caller may; what a key can give is checked
 * here. Inputs mirror the API's inputs, so that a refusal's path is the client's own.
 */
export interface Tenants {
  /** Null for one that is missing or on its way in or out. */
  get(id: string): Promise<TenantRecord | null>;
  list(page: PageRequest): Promise<Page<TenantRecord>>;
  create(
    input: CreateTenantInput,
    grantor: Caller,
  ): Promise<{ readonly tenant: TenantRecord; readonly firstKey: NewKey | null }>;
  update(input: UpdateTenantInput): Promise<TenantRecord>;
  /** FORBIDDEN unless SUSPENDED; NOT_FOUND where there is none. */
  remove(tenantId: string): Promise<TenantId>;
  listKeys(tenantId: TenantId, page: PageRequest): Promise<Page<KeyRecord>>;
  createKey(tenantId: TenantId, input: CreateKeyInput, grantor: Caller): Promise<NewKey>;
  /** NOT_FOUND where the tenant has no such key. */
  revokeKey(tenantId: TenantId, keyId: string): Promise<KeyRecord>;
}
