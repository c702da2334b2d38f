import type { CursorPosition, CursorScope } from "../cursor.ts";
import type { Page, PageRequest } from "../page.ts";
import { planPage, sealPage } from "../paging.ts";
import { all, type Condition } from "./condition.ts";
import type { Sql, SqlRow } from "./scope.ts";

/** A list that keyset pages walk. `order` names the columns of its sort key, all in one direction, unique together. */
export interface KeysetList<T> {
  readonly table: string;
  readonly columns: string;
  readonly order: readonly string[];
  readonly descending: boolean;
  readonly condition: Condition;
  readonly cursors: CursorScope;
  readonly rowOf: (row: SqlRow) => T;
  readonly positionOf: (node: T) => CursorPosition;
}

/** One page of the list; the number of statements does not grow with it. */
export function keysetPage<T>(sql: Sql, list: KeysetList<T>, request: PageRequest): Page<T> {
  const plan = planPage(request, list.cursors);
  const forward = plan.direction === "forward";
  // "Behind" is where the list goes on in its own order, whichever end the page is read from.
  const behind = list.descending ? "<" : ">";
  const ahead = list.descending ? ">" : "<";
  const window = all([
    list.condition,
    ...bound(list.order, behind, plan.after),
    ...bound(list.order, ahead, plan.before),
  ]);
  const direction = forward === list.descending ? "DESC" : "ASC";
  const found = sql(`SELECT ${list.columns} FROM ${list.table} WHERE ${window.text}
    ORDER BY ${list.order.map((column) => `${column} ${direction}`).join(", ")} LIMIT ?`)
    .all(...window.values, plan.rows + 1)
    .map(list.rowOf);
  const more = found.length > plan.rows;
  const nodes = found.slice(0, plan.rows);
  if (!forward) nodes.reverse();
  const edge = forward ? nodes[0] : nodes.at(-1);
  const anchor = edge === undefined ? (forward ? plan.after : plan.before) : list.positionOf(edge);
  const strict = forward ? ahead : behind;
  const beyond = bound(list.order, edge === undefined ? `${strict}=` : strict, anchor);
  const opposite = anchor !== null && count(sql, list.table, all([list.condition, ...beyond]), 1) > 0;
  const totalCount = request.count === true ? count(sql, list.table, list.condition, -1) : null;
  const ends = { hasNextPage: forward ? more : opposite, hasPreviousPage: forward ? opposite : more };
  return sealPage({ nodes, totalCount, ...ends }, request, list.cursors, list.positionOf);
}

function bound(order: readonly string[], comparison: string, position: CursorPosition | null): readonly Condition[] {
  if (position === null) return [];
  const text = `(${order.join(", ")}) ${comparison} (${order.map(() => "?").join(", ")})`;
  return [{ text, values: order.map((_, index) => position[index] ?? "") }];
}

function count(sql: Sql, table: string, condition: Condition, limit: number): number {
  const row = sql(`SELECT count(*) AS total FROM (SELECT 1 FROM ${table} WHERE ${condition.text} LIMIT ?)`).get(
    ...condition.values,
    limit,
  );
  return Number(row?.total);
}
