import { instant } from "../../time.ts";
import type { KeyId, MessageRole, TenantId, UserId } from "../model.ts";
import type { KeyRecord, Scope, TenantRecord, TenantState } from "../registry-contract.ts";
import type { SqlRow, SqlValue } from "./scope.ts";

/** The columns that `tenantRow` reads; in a join `tenants` goes by its name. */
export const TENANT_COLUMNS = `tenants.generation AS generation, tenants.id AS id, tenants.name AS name, state,
  max_sessions, max_messages, max_bytes, requests_per_minute, tenants.created_at AS created_at`;

export function tenantRow(row: SqlRow): TenantRecord {
  return {
    id: row.id as TenantId,
    generation: Number(row.generation),
    name: row.name as string | null,
    state: row.state as TenantState,
    limits: {
      maxSessions: row.max_sessions as number | null,
      maxMessages: row.max_messages as number | null,
      maxBytes: row.max_bytes as number | null,
      requestsPerMinute: row.requests_per_minute as number | null,
    },
    createdAt: instant(Number(row.created_at)),
  };
}

/** The columns that `keyRow` reads, beside the tenant's id. */
export const KEY_COLUMNS = `api_keys.id AS id, api_keys.name AS name, secret_hash, scopes, user_id, visible_roles,
  writable_roles, api_keys.created_at AS created_at, last_used_at, expires_at, revoked_at, generation`;

export function keyRow(row: SqlRow, tenantId: TenantId): KeyRecord {
  return {
    id: row.id as KeyId,
    tenantId,
    name: row.name as string | null,
    scopes: JSON.parse(String(row.scopes)) as readonly Scope[],
    userId: row.user_id as UserId | null,
    visibleRoles: JSON.parse(String(row.visible_roles)) as readonly MessageRole[],
    writableRoles: JSON.parse(String(row.writable_roles)) as readonly MessageRole[],
    createdAt: instant(Number(row.created_at)),
    lastUsedAt: instantOrNull(row.last_used_at),
    expiresAt: instantOrNull(row.expires_at),
    revokedAt: instantOrNull(row.revoked_at),
  };
}

export function secretHashOf(row: SqlRow): Uint8Array {
  return row.secret_hash as Uint8Array;
}

function instantOrNull(value: SqlValue | undefined) {
  return value === null || value === undefined ? null : instant(Number(value));
}
