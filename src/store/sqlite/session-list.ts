import type { ListSessions, SessionFilter } from "../contract.ts";
import type { Session } from "../model.ts";
import type { Page } from "../page.ts";
import { all, type Condition, compares, oneOf } from "./condition.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import { SESSION_COLUMNS, sessionRow } from "./session-rows.ts";
import { tableWalk, walkPage } from "./walk.ts";

/** What a session weighs in a page beside its metadata. */
const SESSION_WEIGHT = 512;

/** Keyset pages by (time, id): a session that no one touches is met exactly once, whatever moves around it. */
export function listSessions(scope: ReadScope, request: ListSessions): Page<Session> {
  const { field, direction } = request.orderBy ?? { field: "UPDATED_AT", direction: "DESC" };
  const filter = request.filter ?? {};
  const unindexed = unindexedConditions(scope, filter);
  const walk = tableWalk(scope, {
    table: "sessions",
    keys: [field === "UPDATED_AT" ? "updated_at" : "created_at", "id"],
    order: direction,
    also: "key",
    weight: `${SESSION_WEIGHT} + octet_length(metadata)`,
    list: all([...compares("user_id", "=", scope.reach.userId), ...indexedConditions(filter)]),
    unindexed: unindexed.length === 0 ? null : all(unindexed),
  });
  const fetch = (rows: readonly SqlRow[]) => sessionsOf(scope, rows);
  const cursors = { kind: "sessions", owner: [scope.tenantId, field, direction] } as const;
  return walkPage(scope, { ...walk, fetch }, request.page, cursors);
}

function sessionsOf(scope: ReadScope, rows: readonly SqlRow[]): readonly Session[] {
  const read = scope.sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE key = ?`);
  return rows.flatMap((row) => {
    const found = read.get(row.key ?? null);
    return found === undefined ? [] : [sessionRow(found).session];
  });
}

function indexedConditions(filter: SessionFilter): readonly Condition[] {
  return [
    ...oneOf("session_type", filter.sessionTypes),
    ...oneOf("agent_name", filter.agentNames),
    ...oneOf("user_id", filter.userIds),
    ...compares("parent_session_id", "=", filter.parentSessionId),
    ...compares("updated_at", ">", filter.updatedAfter),
    ...compares("updated_at", "<", filter.updatedBefore),
    ...compares("created_at", ">", filter.createdAfter),
    ...compares("created_at", "<", filter.createdBefore),
  ];
}

function unindexedConditions(scope: ReadScope, filter: SessionFilter): readonly Condition[] {
  const title = filter.titleContains ?? null;
  return [
    ...either(filter.root, "parent_session_id IS NULL", "parent_session_id IS NOT NULL", []),
    ...either(filter.running, LIVE, `NOT ${LIVE}`, [scope.now]),
    ...(title === null ? [] : [{ text: "instr(title_folded, ?) > 0", values: [title.toLowerCase()] }]),
  ];
}

/** A session's newest run is alive: not ended, its lease not run out. */
const LIVE = `EXISTS (SELECT 1 FROM runs WHERE runs.session_key = sessions.key AND runs.ordinal = sessions.run_count
  AND runs.ended_as IS NULL AND runs.lease_expires_at > ?)`;

function either(value: boolean | null | undefined, yes: string, no: string, values: Condition["values"]) {
  return value === null || value === undefined ? [] : [{ text: value ? yes : no, values }];
}
