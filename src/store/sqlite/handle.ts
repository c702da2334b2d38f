import { assert } from "../../assert.ts";
import { type Clock, createClock, instant, type TimeSource } from "../../time.ts";
import type { UuidFactory } from "../../uuid.ts";
import type { Reach } from "../contract.ts";
import type { TenantId, TenantLimits } from "../model.ts";
import type { ReadBudget } from "../read-budget.ts";
import type { Connection } from "./open.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { createWriter, engineError } from "./writer.ts";

/** A tenant's open file. Borrow it for one synchronous call; the pool may close it after. */
export interface TenantHandle {
  /** Runs at once, as one consistent view. */
  read<T>(reach: Reach, budget: ReadBudget, work: (scope: ReadScope) => T): T;
  /** Queues the work for the next group commit. */
  write<T>(reach: Reach, budget: ReadBudget, limits: TenantLimits, work: (scope: WriteScope) => T): Promise<T>;
  readonly clock: Clock;
  readonly connection: Connection;
  /** Commits what is queued, then closes. */
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

/** Wraps a connection whose tenant row has been checked. */
export function createHandle(connection: Connection, parts: HandleParts): TenantHandle {
  const newest = connection.sql("SELECT newest_time FROM tenant").get();
  assert(newest !== undefined, "a tenant's file has its row");
  const clock = createClock(parts.time, instant(Number(newest.newest_time)));
  const writer = createWriter(connection);
  const byteCount = (): number => usedBytes(connection) + parts.logBytes();
  const readScope = (reach: Reach, budget: ReadBudget): ReadScope => ({
    sql: connection.sql,
    tenantId: parts.tenantId,
    reach,
    budget,
    now: clock.now(),
  });
  return {
    clock,
    connection,
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
    write(reach, budget, limits, work) {
      return writer.enqueue(() => {
        const scope = { ...readScope(reach, budget), newUuid: parts.newUuid, limits, byteCount };
        const result = work(scope);
        connection.sql("UPDATE tenant SET newest_time = max(newest_time, ?)").run(scope.now);
        return result;
      });
    },
    close() {
      writer.drain();
      connection.close();
    },
  };
}

/** Used pages as bytes; pages that an erasure has freed are not counted. */
function usedBytes(connection: Connection): number {
  const pages = Number(connection.pragma("page_count")) - Number(connection.pragma("freelist_count"));
  return pages * Number(connection.pragma("page_size"));
}
