import { assert } from "../../assert.ts";
import { type Clock, createClock, instant, type TimeSource } from "../../time.ts";
import type { UuidFactory } from "../../uuid.ts";
import type { Reach } from "../contract.ts";
import type { TenantId, TenantLimits } from "../model.ts";
import { createReadBudget, type ReadBudget } from "../read-budget.ts";
import { createEraser, type Eraser } from "./eraser.ts";
import type { Connection } from "./open.ts";
import { createProjectionCache } from "./projection-cache.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { eraseSlice, hasLeftovers } from "./tombstones.ts";
import { createWriter, engineError } from "./writer.ts";

/** A tenant's open file. Borrow it for one synchronous call; the pool may close it after. */
export interface TenantHandle {
  /** Runs at once, as one consistent view. */
  read<T>(reach: Reach, budget: ReadBudget, work: (scope: ReadScope) => T): T;
  /** Queues the work for the next group commit. */
  write<T>(reach: Reach, budget: ReadBudget, limits: TenantLimits, work: (scope: WriteScope) => T): Promise<T>;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly eraser: Eraser;
  /** Commits what is queued, then closes. What is left to erase goes on at the next open. */
  close(): void;
}

/** What a handle is made of beside its file. */
export interface HandleParts {
  readonly tenantId: TenantId;
  readonly time: TimeSource;
  readonly newUuid: UuidFactory;
  /** Size of the file's write-ahead log now. */
  readonly logBytes: () => number;
}

/** The eraser's own reach: it names no role and no user. */
const NOBODY: Reach = { userId: null, visibleRoles: new Set(), writableRoles: new Set() };
const NO_LIMITS: TenantLimits = { maxSessions: null, maxMessages: null, maxBytes: null, requestsPerMinute: null };
/** Pages given back to the disk after a slice. */
const VACUUMED_PAGES = 512;

/** Wraps a connection whose tenant row has been checked, and goes on erasing what an earlier life of it left. */
export function createHandle(connection: Connection, parts: HandleParts): TenantHandle {
  const newest = connection.sql("SELECT newest_time FROM tenant").get();
  assert(newest !== undefined, "a tenant's file has its row");
  const clock = createClock(parts.time, instant(Number(newest.newest_time)));
  const writer = createWriter(connection);
  const byteCount = (): number => usedBytes(connection) + parts.logBytes();
  const projections = createProjectionCache();
  const readScope = (reach: Reach, budget: ReadBudget): ReadScope => ({
    sql: connection.sql,
    tenantId: parts.tenantId,
    reach,
    budget,
    now: clock.now(),
    projections,
    byteCount,
  });
  const write: TenantHandle["write"] = (reach, budget, limits, work) =>
    writer.enqueue(() => {
      const scope = { ...readScope(reach, budget), newUuid: parts.newUuid, limits };
      const result = work(scope);
      connection.sql("UPDATE tenant SET newest_time = max(newest_time, ?)").run(scope.now);
      return result;
    });
  const eraser = createEraser({
    slice: () => write(NOBODY, createReadBudget(), NO_LIMITS, eraseSlice),
    settle: () => settleErased(connection),
  });
  if (hasLeftovers(connection.sql)) eraser.wake();
  return {
    clock,
    connection,
    eraser,
    write,
    read(reach, budget, work) {
      try {
        connection.sql("BEGIN").run();
        return work(readScope(reach, budget));
      } catch (error) {
        throw engineError(error);
      } finally {
        if (connection.inTransaction()) connection.sql("ROLLBACK").run();
      }
    },
    close() {
      eraser.stop();
      writer.drain();
      connection.close();
    },
  };
}

/** `exec` runs the vacuum to its end; a single row of its result would give back a single page. */
function settleErased(connection: Connection): void {
  connection.exec(`PRAGMA incremental_vacuum(${VACUUMED_PAGES})`);
  connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Used pages as bytes; pages that an erasure has freed are not counted. */
function usedBytes(connection: Connection): number {
  const pages = Number(connection.pragma("page_count")) - Number(connection.pragma("freelist_count"));
  return pages * Number(connection.pragma("page_size"));
}
