import { conflict, notFound } from "../../errors.ts";
import type { Instant } from "../../time.ts";
import { isPossibleId } from "../check.ts";
import type { TenantId } from "../model.ts";
import type { Page, PageRequest } from "../page.ts";
import type { FoundKey, KeyRecord } from "../registry-contract.ts";
import { idHash } from "./id-hash.ts";
import { keysetPage } from "./keyset.ts";
import { KEY_COLUMNS, keyRow, secretHashOf } from "./registry-rows.ts";
import { getSettledTenant, getTenant } from "./registry-tenants.ts";
import type { Sql } from "./scope.ts";

export function isKeyIdSpent(sql: Sql, id: string): boolean {
  return sql("SELECT 1 FROM spent_key_ids WHERE id_hash = ?").get(idHash(id)) !== undefined;
}

export function createKey(sql: Sql, key: KeyRecord, secretHash: Uint8Array): void {
  const tenant = getSettledTenant(sql, key.tenantId);
  if (tenant === null) throw notFound("tenant");
  if (isKeyIdSpent(sql, key.id)) {
    throw conflict("ID_TAKEN", "This key id was used before; a key id is never used twice.");
  }
  sql("INSERT INTO spent_key_ids (id_hash) VALUES (?)").run(idHash(key.id));
  sql(`INSERT INTO api_keys (id, generation, secret_hash, name, scopes, user_id, visible_roles, writable_roles,
    created_at, last_used_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
    key.id,
    tenant.generation,
    secretHash,
    key.name,
    JSON.stringify(key.scopes),
    key.userId,
    JSON.stringify(key.visibleRoles),
    JSON.stringify(key.writableRoles),
    key.createdAt,
    key.lastUsedAt,
    key.expiresAt,
    key.revokedAt,
  );
}

export function getKey(sql: Sql, id: string): FoundKey | null {
  if (!isPossibleId(id)) return null;
  const row = sql(`SELECT ${KEY_COLUMNS}, (SELECT id FROM tenants WHERE tenants.generation = api_keys.generation)
    AS tenant_id FROM api_keys WHERE id = ?`).get(id);
  const tenant = row === undefined ? null : getTenant(sql, String(row.tenant_id));
  if (row === undefined || tenant === null) return null;
  return { key: keyRow(row, tenant.id), secretHash: secretHashOf(row), tenant };
}

export function listKeys(sql: Sql, tenantId: TenantId, request: PageRequest): Page<KeyRecord> {
  const tenant = getSettledTenant(sql, tenantId);
  if (tenant === null) throw notFound("tenant");
  const list = {
    table: "api_keys",
    columns: KEY_COLUMNS,
    order: ["created_at", "id"],
    descending: true,
    condition: { text: "generation = ?", values: [tenant.generation] },
    cursors: { kind: "keys", owner: [tenant.id, tenant.generation] },
    rowOf: (row: Parameters<typeof keyRow>[0]) => keyRow(row, tenant.id),
    positionOf: (key: KeyRecord) => [key.createdAt, key.id],
  } as const;
  return keysetPage(sql, list, request);
}

export function revokeKey(sql: Sql, tenantId: TenantId, id: string, revokedAt: Instant): KeyRecord | null {
  const found = getKey(sql, id);
  if (found === null || found.tenant.id !== tenantId) return null;
  if (found.key.revokedAt !== null) return found.key;
  sql("UPDATE api_keys SET revoked_at = ? WHERE id = ?").run(revokedAt, id);
  return { ...found.key, revokedAt };
}

export function touchKey(sql: Sql, id: string, hour: Instant): void {
  sql("UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)").run(
    hour,
    id,
    hour,
  );
}
