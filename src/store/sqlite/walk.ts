import type { CursorPosition, CursorScope } from "../cursor.ts";
import { sealCursor } from "../cursor.ts";
import { PAGE_EXAMINED_ROWS_MAX, type Page, type PageRequest } from "../page.ts";
import { type PagePlan, planPage, rowsThatFit } from "../paging.ts";
import { all, type Condition } from "./condition.ts";
import type { ReadScope, SqlRow, SqlValue } from "./scope.ts";

// Keyset pages over any list. A first pass finds which rows a page holds, by key and weight; a second reads them.

/** One list of rows and how it is walked. */
export interface Walk<T> {
  /** Sort columns, the last one unique; all of them run the same way. */
  readonly keys: readonly string[];
  readonly order: "ASC" | "DESC";
  /** Rows inside the window, in that order, each with its key columns and `weight` (bytes). */
  readonly scan: (window: Condition, order: "ASC" | "DESC", limit: number, offset: number) => readonly SqlRow[];
  /** The nodes of rows that `scan` gave. */
  readonly fetch: (rows: readonly SqlRow[]) => readonly T[];
  readonly count: () => number;
  /** Where places are dense: the window that an offset stands for, so that nothing is counted off. */
  readonly skip?: (offset: number) => Condition;
  /**
   * Where rows are filtered without an index: the row that lies `PAGE_EXAMINED_ROWS_MAX` into the window, unfiltered.
   * A page then ends there, short, with a cursor to go on from.
   */
  readonly horizon?: (window: Condition, order: "ASC" | "DESC") => SqlRow | undefined;
}

/** The page of a list that the request asks for; its weight is spent from the read budget. */
export function walkPage<T>(scope: ReadScope, walk: Walk<T>, request: PageRequest, cursors: CursorScope): Page<T> {
  const plan = planPage(request, cursors);
  const forward = plan.direction === "forward";
  const order = forward ? walk.order : opposite(walk.order);
  const skipped = plan.offset > 0 && walk.skip !== undefined ? [walk.skip(plan.offset)] : [];
  const window = all([...skipped, ...behind(walk, plan.after, false), ...ahead(walk, plan.before, false)]);
  const offset = skipped.length > 0 ? 0 : plan.offset;
  const horizon = offset === 0 ? walk.horizon?.(window, order) : undefined;
  const near = horizon === undefined ? window : all([window, upTo(walk, horizon, forward)]);
  const found = walk.scan(near, order, plan.rows + 1, offset);
  const taken = Math.min(plan.rows, rowsThatFit(found.map(weightOf)));
  const rows = found.slice(0, taken);
  const more = found.length > taken || horizon !== undefined;
  if (!forward) rows.reverse();
  scope.budget.spend(rows.reduce((total, row) => total + weightOf(row), 0));
  const edge = horizon !== undefined && found.length <= taken ? sealCursor(cursors, positionOf(walk, horizon)) : null;
  const positions = rows.map((row) => sealCursor(cursors, positionOf(walk, row)));
  return {
    nodes: walk.fetch(rows),
    cursors: positions,
    ...neighbours(walk, plan, rows, more),
    startCursor: (forward ? null : edge) ?? positions[0] ?? request.before ?? null,
    endCursor: (forward ? edge : null) ?? positions.at(-1) ?? request.after ?? null,
    totalCount: request.count === true ? walk.count() : null,
  };
}

/** Ascending rows after a position, as many as a page's bytes hold; what streams read. */
export function walkAfter<T>(scope: ReadScope, walk: Walk<T>, after: CursorPosition, limit: number): readonly T[] {
  const found = walk.scan(all(behind(walk, after, false)), walk.order, limit, 0);
  const rows = found.slice(0, rowsThatFit(found.map(weightOf)));
  scope.budget.spend(rows.reduce((total, row) => total + weightOf(row), 0));
  return walk.fetch(rows);
}

/** Exact in both directions, whichever cursors bound the page. */
function neighbours<T>(
  walk: Walk<T>,
  plan: PagePlan,
  rows: readonly SqlRow[],
  more: boolean,
): { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean } {
  const forward = plan.direction === "forward";
  const first = rows[0];
  const last = rows.at(-1);
  const exists = (window: readonly Condition[]) => walk.scan(all(window), walk.order, 1, 0).length > 0;
  const after = () => {
    if (forward && more) return true;
    if (plan.before === null) return false;
    return exists(last === undefined ? behind(walk, plan.before, true) : behind(walk, positionOf(walk, last), false));
  };
  const before = () => {
    if (!forward && more) return true;
    if (plan.offset > 0) return rows.length > 0 || exists([]);
    if (plan.after === null) return false;
    return exists(first === undefined ? ahead(walk, plan.after, true) : ahead(walk, positionOf(walk, first), false));
  };
  return { hasNextPage: after(), hasPreviousPage: before() };
}

function weightOf(row: SqlRow): number {
  return Number(row.weight);
}

function positionOf<T>(walk: Walk<T>, row: SqlRow): CursorPosition {
  return walk.keys.map((key) => {
    const value = row[key];
    return typeof value === "number" ? value : String(value);
  });
}

/** Rows that come after a position in the list's own order. */
function behind<T>(walk: Walk<T>, position: CursorPosition | null, inclusive: boolean): readonly Condition[] {
  return beside(walk, position, walk.order === "ASC" ? ">" : "<", inclusive);
}

function ahead<T>(walk: Walk<T>, position: CursorPosition | null, inclusive: boolean): readonly Condition[] {
  return beside(walk, position, walk.order === "ASC" ? "<" : ">", inclusive);
}

function beside<T>(walk: Walk<T>, position: CursorPosition | null, sign: "<" | ">", inclusive: boolean) {
  if (position === null) return [];
  const values: readonly SqlValue[] = walk.keys.map((_, index) => position[index] ?? null);
  const operator = inclusive ? `${sign}=` : sign;
  if (walk.keys.length === 1) return [{ text: `${walk.keys[0]} ${operator} ?`, values }];
  return [{ text: `(${walk.keys.join(", ")}) ${operator} (${walk.keys.map(() => "?").join(", ")})`, values }];
}

function upTo<T>(walk: Walk<T>, row: SqlRow, forward: boolean): Condition {
  const position = positionOf(walk, row);
  const [condition] = forward ? ahead(walk, position, true) : behind(walk, position, true);
  return condition ?? all([]);
}

function opposite(order: "ASC" | "DESC"): "ASC" | "DESC" {
  return order === "ASC" ? "DESC" : "ASC";
}

/** A list that is one table (or join) under one condition. `unindexed` filters what no index finds. */
export interface TableList {
  readonly table: string;
  /** Values that the table's own text binds, where it is a sub-select. */
  readonly bound?: readonly SqlValue[];
  readonly keys: readonly string[];
  readonly order: "ASC" | "DESC";
  /** SQL of a row's weight in bytes. */
  readonly weight: string;
  /** Columns of the first pass beside the keys, e.g. the row's integer key. */
  readonly also: string;
  readonly list: Condition;
  readonly unindexed?: Condition | null;
}

/** How a TableList is scanned and counted; `fetch` and the rest are the caller's. */
export function tableWalk(scope: ReadScope, list: TableList): Omit<Walk<never>, "fetch"> {
  const columns = `${list.keys.join(", ")}, ${list.also}, ${list.weight} AS weight`;
  const filter = list.unindexed ?? null;
  const bound = list.bound ?? [];
  const matching = filter === null ? list.list : all([list.list, filter]);
  const ordered = (order: string) => list.keys.map((key) => `${key} ${order}`).join(", ");
  const walk = {
    keys: list.keys,
    order: list.order,
    scan(window: Condition, order: "ASC" | "DESC", limit: number, offset: number) {
      const condition = all([matching, window]);
      return scope
        .sql(`SELECT ${columns} FROM ${list.table} WHERE ${condition.text} ORDER BY ${ordered(order)} LIMIT ? OFFSET ?`)
        .all(...bound, ...condition.values, limit, offset);
    },
    count() {
      const row = scope.sql(`SELECT count(*) AS total FROM ${list.table} WHERE ${matching.text}`);
      return Number(row.get(...bound, ...matching.values)?.total);
    },
  };
  if (filter === null) return walk;
  const horizon = (window: Condition, order: "ASC" | "DESC") => {
    const condition = all([list.list, window]);
    return scope
      .sql(`SELECT ${list.keys.join(", ")} FROM ${list.table} WHERE ${condition.text}
        ORDER BY ${ordered(order)} LIMIT 1 OFFSET ${PAGE_EXAMINED_ROWS_MAX - 1}`)
      .get(...bound, ...condition.values);
  };
  return { ...walk, horizon };
}
