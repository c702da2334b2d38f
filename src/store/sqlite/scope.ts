import type { Instant } from "../../time.ts";
import type { UuidFactory } from "../../uuid.ts";
import type { Reach } from "../contract.ts";
import type { TenantId, TenantLimits } from "../model.ts";
import type { ReadBudget } from "../read-budget.ts";
import type { ProjectionCache } from "./projection-cache.ts";

/** A value that SQLite stores; booleans are not among them (the driver refuses to bind them). */
export type SqlValue = string | number | Uint8Array | null;
/** A row as the driver gives it; a codec in a *-rows file turns it into a noun, and nothing else casts. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A prepared statement. Every call runs it to its end: nothing can be left half-iterated. */
export interface Statement {
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
  /** `changes`: rows written; `lastKey`: the integer key of the last inserted one. */
  run(...values: readonly SqlValue[]): { readonly changes: number; readonly lastKey: number };
}

/**
 * A borrowed database, for one synchronous call. The text of a statement is its key in the cache, so texts are
 * fixed.
 */
export type Sql = (text: string) => Statement;

/** What every operation inside the file may use. `now` is one instant for the whole operation. */
export interface ReadScope {
  readonly sql: Sql;
  readonly tenantId: TenantId;
  readonly reach: Reach;
  readonly budget: ReadBudget;
  readonly now: Instant;
  /** What the file's latest contexts look like. Committed ones alone: a write may be rolled back, so it keeps none. */
  readonly projections: ProjectionCache;
  /** Size of the tenant's data on disk, as in TenantUsage.byteCount. */
  readonly byteCount: () => number;
}

/** Inside one savepoint of a group commit: what throws is rolled back alone. */
export interface WriteScope extends ReadScope {
  readonly newUuid: UuidFactory;
  readonly limits: TenantLimits;
}
