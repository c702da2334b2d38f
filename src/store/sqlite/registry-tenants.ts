import { conflict, notFound } from "../../errors.ts";
import { TENANT_ID } from "../check.ts";
import type { Page, PageRequest } from "../page.ts";
import type { Registry, TenantRecord } from "../registry-contract.ts";
import { keysetPage } from "./keyset.ts";
import { TENANT_COLUMNS, tenantRow } from "./registry-rows.ts";
import type { Sql } from "./scope.ts";

export function getTenant(sql: Sql, id: string): TenantRecord | null {
  if (!TENANT_ID.test(id)) return null;
  const row = sql(`SELECT ${TENANT_COLUMNS} FROM tenants WHERE id = ?`).get(id);
  return row === undefined ? null : tenantRow(row);
}

/** The tenant where it can be used or is suspended; null on its way in or out. */
export function getSettledTenant(sql: Sql, id: string): TenantRecord | null {
  const tenant = getTenant(sql, id);
  return tenant?.state === "ACTIVE" || tenant?.state === "SUSPENDED" ? tenant : null;
}

export function listTenants(sql: Sql, request: PageRequest): Page<TenantRecord> {
  const list = {
    table: "tenants",
    columns: TENANT_COLUMNS,
    order: ["id"],
    descending: false,
    condition: { text: "state IN ('ACTIVE', 'SUSPENDED')", values: [] },
    cursors: { kind: "tenants", owner: [] },
    rowOf: tenantRow,
    positionOf: (tenant: TenantRecord) => [tenant.id],
  } as const;
  return keysetPage(sql, list, request);
}

export function unfinishedTenants(sql: Sql): readonly TenantRecord[] {
  return sql(`SELECT ${TENANT_COLUMNS} FROM tenants WHERE state IN ('CREATING', 'DELETING') ORDER BY generation`)
    .all()
    .map(tenantRow);
}

export function beginTenant(sql: Sql, tenant: Parameters<Registry["beginTenant"]>[0]): TenantRecord {
  if (getTenant(sql, tenant.id) !== null) throw conflict("ID_TAKEN", "There is a tenant of this id.");
  const { id, name, limits, createdAt, createdFrom } = tenant;
  const { lastKey } = sql(`INSERT INTO tenants
    (id, name, state, max_sessions, max_messages, max_bytes, requests_per_minute, created_from, created_at)
    VALUES (?, ?, 'CREATING', ?, ?, ?, ?, ?, ?)`).run(
    id,
    name,
    limits.maxSessions,
    limits.maxMessages,
    limits.maxBytes,
    limits.requestsPerMinute,
    createdFrom,
    createdAt,
  );
  return { id, generation: lastKey, name, state: "CREATING", limits, createdAt };
}

export function createdFrom(sql: Sql, id: string, generation: number): string | null {
  const row = sql("SELECT created_from FROM tenants WHERE id = ? AND generation = ?").get(id, generation);
  return row === undefined ? null : String(row.created_from);
}

export function updateTenant(
  sql: Sql,
  id: string,
  generation: number,
  change: Parameters<Registry["updateTenant"]>[2],
): TenantRecord {
  const before = getTenant(sql, id);
  if (before === null || before.generation !== generation) throw notFound("tenant");
  const after: TenantRecord = {
    ...before,
    name: change.name === undefined ? before.name : change.name,
    state: change.state ?? before.state,
    limits: change.limits ?? before.limits,
  };
  const { limits } = after;
  sql(`UPDATE tenants SET name = ?, state = ?, max_sessions = ?, max_messages = ?, max_bytes = ?,
    requests_per_minute = ? WHERE generation = ?`).run(
    after.name,
    after.state,
    limits.maxSessions,
    limits.maxMessages,
    limits.maxBytes,
    limits.requestsPerMinute,
    generation,
  );
  return after;
}

export function removeTenant(sql: Sql, id: string, generation: number): void {
  const tenant = getTenant(sql, id);
  if (tenant?.generation !== generation) return;
  sql("DELETE FROM api_keys WHERE generation = ?").run(generation);
  sql("DELETE FROM tenants WHERE generation = ?").run(generation);
}
