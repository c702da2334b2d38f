/** Given by a client or left out; both spellings of "not given" mean the same. */
export type Maybe<T> = T | null | undefined;

export const PAGE_ROWS_DEFAULT = 100;
export const PAGE_ROWS_MAX = 1_000;
/** Rows are added to a page while they fit; one row is always given. */
export const PAGE_BYTES_MAX = 8 * 1024 * 1024;
/** Rows that a walk over filtered rows looks at before it gives a short page. */
export const PAGE_EXAMINED_ROWS_MAX = 10_000;

/** Relay arguments as they came; the store checks them (BAD_USER_INPUT with the argument's name as its path). */
export interface PageRequest {
  readonly first?: Maybe<number>;
  readonly after?: Maybe<string>;
  readonly last?: Maybe<number>;
  readonly before?: Maybe<string>;
  /** Only where the contract has it: sessions and rawMessages. */
  readonly offset?: Maybe<number>;
  /** Whether the answer's totalCount is wanted; else it is null. */
  readonly count?: boolean;
}

/**
 * One page, rows in the connection's order whichever end it was read from. `hasNextPage` and `hasPreviousPage` are
 * exact. `startCursor` and `endCursor` are the rows' own; on an empty page the `before` and `after` given, else null.
 */
export interface Page<T> {
  readonly nodes: readonly T[];
  /** The cursor of each node, by index. */
  readonly cursors: readonly string[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
  readonly totalCount: number | null;
}
