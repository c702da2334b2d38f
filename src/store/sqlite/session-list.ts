import type { ListSessions, SessionFilter } from "../contract.ts";
import type { CursorPosition, CursorScope } from "../cursor.ts";
import type { Session } from "../model.ts";
import type { Page } from "../page.ts";
import { planPage, sealPage } from "../paging.ts";
import { all, type Condition, compares, oneOf } from "./condition.ts";
import type { ReadScope } from "./scope.ts";
import { SESSION_COLUMNS, sessionRow } from "./session-rows.ts";

type Comparison = "<" | ">" | "<=" | ">=";

/** Keyset pages by (time, id): a session that no one touches is met exactly once, whatever moves around it. */
export function listSessions(scope: ReadScope, request: ListSessions): Page<Session> {
  const { field, direction } = request.orderBy ?? { field: "UPDATED_AT", direction: "DESC" };
  const column = field === "UPDATED_AT" ? "updated_at" : "created_at";
  const cursors: CursorScope = { kind: "sessions", owner: [scope.tenantId, field, direction] };
  const plan = planPage(request.page, cursors);
  const list = all([...reachConditions(scope), ...filterConditions(scope, request.filter ?? {})]);
  const forward = plan.direction === "forward";
  const ascends = forward === (direction === "ASC");
  // "Behind" is where the list goes on in its own order, whichever end the page is read from.
  const behind: Comparison = direction === "ASC" ? ">" : "<";
  const ahead: Comparison = direction === "ASC" ? "<" : ">";
  const window = [list, ...from(column, behind, plan.after), ...from(column, ahead, plan.before)];
  const found = rowsOf(scope, all(window), column, ascends, plan.rows + 1, plan.offset);
  const more = found.length > plan.rows;
  const nodes = found.slice(0, plan.rows);
  if (!forward) nodes.reverse();
  const position = (session: Session): CursorPosition => [
    field === "UPDATED_AT" ? session.updatedAt : session.createdAt,
    session.id,
  ];
  const edge = forward ? nodes[0] : nodes.at(-1);
  const anchor = edge === undefined ? (forward ? plan.after : plan.before) : position(edge);
  const inclusive: Comparison = forward ? `${ahead}=` : `${behind}=`;
  const beyond = edge === undefined ? inclusive : forward ? ahead : behind;
  const opposite = anchor !== null && exists(scope, all([list, ...from(column, beyond, anchor)]));
  const totalCount = request.page.count === true ? count(scope, list) : null;
  return sealPage(
    { nodes, totalCount, hasNextPage: forward ? more : opposite, hasPreviousPage: forward ? opposite : more },
    request.page,
    cursors,
    position,
  );
}

function reachConditions(scope: ReadScope): readonly Condition[] {
  return compares("user_id", "=", scope.reach.userId);
}

function filterConditions(scope: ReadScope, filter: SessionFilter): readonly Condition[] {
  const title = filter.titleContains;
  return [
    ...oneOf("session_type", filter.sessionTypes),
    ...oneOf("agent_name", filter.agentNames),
    ...oneOf("user_id", filter.userIds),
    ...compares("parent_session_id", "=", filter.parentSessionId),
    ...either(filter.root, "parent_session_id IS NULL", "parent_session_id IS NOT NULL", []),
    ...either(filter.running, LIVE, `NOT ${LIVE}`, [scope.now]),
    ...(title ? [{ text: "instr(title_folded, ?) > 0", values: [title.toLowerCase()] }] : []),
    ...compares("updated_at", ">", filter.updatedAfter),
    ...compares("updated_at", "<", filter.updatedBefore),
    ...compares("created_at", ">", filter.createdAfter),
    ...compares("created_at", "<", filter.createdBefore),
  ];
}

/** A session's newest run is alive: not ended, its lease not run out. */
const LIVE = `EXISTS (SELECT 1 FROM runs WHERE runs.session_key = sessions.key AND runs.ordinal = sessions.run_count
  AND runs.ended_as IS NULL AND runs.lease_expires_at > ?)`;

function either(value: boolean | null | undefined, yes: string, no: string, values: Condition["values"]) {
  return value === null || value === undefined ? [] : [{ text: value ? yes : no, values }];
}

function from(column: string, comparison: Comparison, position: CursorPosition | null): readonly Condition[] {
  if (position === null) return [];
  return [{ text: `(${column}, id) ${comparison} (?, ?)`, values: [position[0] ?? 0, position[1] ?? ""] }];
}

function rowsOf(
  scope: ReadScope,
  condition: Condition,
  column: string,
  ascends: boolean,
  limit: number,
  offset: number,
): Session[] {
  const order = ascends ? "ASC" : "DESC";
  const rows = scope
    .sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE ${condition.text}
      ORDER BY ${column} ${order}, id ${order} LIMIT ? OFFSET ?`)
    .all(...condition.values, limit, offset);
  return rows.map((row) => sessionRow(row).session);
}

function exists(scope: ReadScope, condition: Condition): boolean {
  return scope.sql(`SELECT 1 FROM sessions WHERE ${condition.text} LIMIT 1`).get(...condition.values) !== undefined;
}

function count(scope: ReadScope, condition: Condition): number {
  const row = scope.sql(`SELECT count(*) AS total FROM sessions WHERE ${condition.text}`).get(...condition.values);
  return Number(row?.total);
}
