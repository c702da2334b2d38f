import { badInput } from "../errors.ts";
import { type CursorPosition, type CursorScope, openCursor, sealCursor } from "./cursor.ts";
import { PAGE_BYTES_MAX, PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, type Page, type PageRequest } from "./page.ts";

/** A checked page request: the end it is anchored at, how many rows at most, and the bounds, both exclusive. */
export interface PagePlan {
  readonly direction: "forward" | "backward";
  readonly rows: number;
  readonly after: CursorPosition | null;
  readonly before: CursorPosition | null;
  readonly offset: number;
}

/**
 * Checks Relay arguments: more than 1,000 rows are cut to that; negative numbers, first with last, and offset with a
 * cursor or last are BAD_USER_INPUT at the argument, as is a cursor of another list.
 */
export function planPage(request: PageRequest, scope: CursorScope): PagePlan {
  const first = count(request.first, "first");
  const last = count(request.last, "last");
  const offset = count(request.offset, "offset");
  const after = request.after ?? null;
  const before = request.before ?? null;
  if (first !== null && last !== null) throw badInput(["last"], "Ask for first or for last, not for both.");
  if (offset !== null && (after !== null || before !== null || last !== null)) {
    throw badInput(
      ["offset"],
      "An offset counts from the list's start; it can't be combined with after, before or last.",
    );
  }
  return {
    direction: last === null ? "forward" : "backward",
    rows: Math.min(last ?? first ?? PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX),
    after: after === null ? null : openCursor(scope, after, "after"),
    before: before === null ? null : openCursor(scope, before, "before"),
    offset: offset ?? 0,
  };
}

function count(value: number | null | undefined, argument: string): number | null {
  if (value === null || value === undefined) return null;
  if (!Number.isSafeInteger(value) || value < 0) throw badInput([argument], "This must be a whole number, 0 or more.");
  return value;
}

/** Rows found for a page, already in the connection's order, and whether rows of the list lie beyond either end. */
export interface FoundRows<T> {
  readonly nodes: readonly T[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly totalCount: number | null;
}

/** A page with its cursors. An empty one gives the cursors of the request back, so that a loop goes on where it was. */
export function sealPage<T>(
  found: FoundRows<T>,
  request: PageRequest,
  scope: CursorScope,
  positionOf: (node: T) => CursorPosition,
): Page<T> {
  const cursors = found.nodes.map((node) => sealCursor(scope, positionOf(node)));
  return {
    ...found,
    cursors,
    startCursor: cursors[0] ?? request.before ?? null,
    endCursor: cursors.at(-1) ?? request.after ?? null,
  };
}

/**
 * How many of these rows, weights in the order they are taken from the anchored end, fit into a page: at least one
 * where there is one.
 */
export function rowsThatFit(weights: readonly number[], limitBytes = PAGE_BYTES_MAX): number {
  let bytes = 0;
  let rows = 0;
  for (const weight of weights) {
    bytes += weight;
    if (bytes > limitBytes && rows > 0) break;
    rows++;
  }
  return rows;
}
