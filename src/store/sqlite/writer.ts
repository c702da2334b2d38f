import { GatewayError, unavailable } from "../../errors.ts";
import type { Connection } from "./open.ts";

/** How long a busy file is tried again before its writers hear UNAVAILABLE, and the pauses between. */
const BUSY_MILLISECONDS_MAX = 5_000;
const PAUSE_MILLISECONDS_MIN = 5;
const PAUSE_MILLISECONDS_MAX = 50;
/** How long a closing file waits for another connection's lock, holding the process, before its writers are refused. */
const DRAIN_MILLISECONDS_MAX = 250;

interface QueuedWrite {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}
type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** One file's queue of writes. */
export interface Writer {
  /** Resolves once the transaction that holds the work has been committed to disk. */
  enqueue<T>(work: () => T): Promise<T>;
  /** Commits what is queued, now; each write is settled when this returns, refused where the file stays busy. */
  drain(): void;
}

/**
 * Group commit: all that is queued within one turn of the event loop commits in one IMMEDIATE transaction, each write
 * in a savepoint of its own, so that a refused one takes no other down. SQLite may end the whole transaction by itself
 * (disk full, I/O error): then no further write of the group runs, and all of it is answered UNAVAILABLE.
 */
export function createWriter(connection: Connection, random: () => number = Math.random): Writer {
  let queue: QueuedWrite[] = [];
  let scheduled = false;
  let busySince: number | null = null;
  let busy: unknown = null;

  const schedule = (delayMilliseconds: number | null): void => {
    if (scheduled) return;
    scheduled = true;
    if (delayMilliseconds === null) setImmediate(flush);
    else setTimeout(flush, delayMilliseconds);
  };
  const flush = (): void => {
    scheduled = false;
    if (queue.length === 0) return;
    if (!begin()) return;
    const group = queue;
    queue = [];
    settle(group, commitGroup(connection, group));
  };
  const begin = (): boolean => {
    try {
      connection.sql("BEGIN IMMEDIATE").run();
      busySince = null;
      return true;
    } catch (error) {
      waitOrRefuse(error);
      return false;
    }
  };
  const waitOrRefuse = (error: unknown): void => {
    const now = performance.now();
    busySince ??= now;
    busy = error;
    if (isBusy(error) && now - busySince < BUSY_MILLISECONDS_MAX) {
      schedule(PAUSE_MILLISECONDS_MIN + random() * (PAUSE_MILLISECONDS_MAX - PAUSE_MILLISECONDS_MIN));
      return;
    }
    busySince = null;
    refuseAll(error);
  };
  const refuseAll = (error: unknown): void => {
    const group = queue;
    queue = [];
    settle(
      group,
      group.map(() => ({ error: engineError(error) })),
    );
  };
  return {
    enqueue<T>(work: () => T): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        queue.push({ work, resolve: (value) => resolve(value as T), reject });
        schedule(null);
      });
    },
    drain() {
      const deadline = performance.now() + DRAIN_MILLISECONDS_MAX;
      while (queue.length > 0 && performance.now() < deadline) {
        flush();
        if (queue.length > 0) pause(PAUSE_MILLISECONDS_MIN);
      }
      refuseAll(busy);
    },
  };
}

function commitGroup(connection: Connection, group: readonly QueuedWrite[]): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  for (const write of group) {
    outcomes.push(runInSavepoint(connection, write.work));
    if (!connection.inTransaction()) return group.map(() => ({ error: lost(outcomes.at(-1)) }));
  }
  try {
    connection.sql("COMMIT").run();
    return outcomes;
  } catch (error) {
    rollBack(connection);
    return group.map(() => ({ error: engineError(error) }));
  }
}

/** An engine that can't even roll back must not leave the group's promises unsettled. */
function rollBack(connection: Connection): void {
  try {
    if (connection.inTransaction()) connection.sql("ROLLBACK").run();
  } catch {
    // The next BEGIN says what is wrong with the file.
  }
}

/** Holds the thread: only while a file is closing, and only for another process's lock. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function runInSavepoint(connection: Connection, work: () => unknown): Outcome {
  try {
    connection.sql("SAVEPOINT write").run();
    const value = work();
    connection.sql("RELEASE write").run();
    return { value };
  } catch (error) {
    undo(connection);
    return { error: error instanceof GatewayError ? error : engineError(error) };
  }
}

function undo(connection: Connection): void {
  try {
    if (connection.inTransaction()) connection.exec("ROLLBACK TO write; RELEASE write");
  } catch {
    // Without its savepoint nothing of the group may stay.
    rollBack(connection);
  }
}

function lost(outcome: Outcome | undefined): unknown {
  return outcome !== undefined && "error" in outcome ? engineError(outcome.error) : engineError(null);
}

function settle(group: readonly QueuedWrite[], outcomes: readonly Outcome[]): void {
  for (const [index, write] of group.entries()) {
    const outcome = outcomes[index];
    if (outcome !== undefined && "value" in outcome) write.resolve(outcome.value);
    else write.reject(outcome?.error ?? engineError(null));
  }
}

/** Whether another connection holds the lock. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

/** What the engine threw, as the client may hear it; the cause is for the log. */
export function engineError(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  return unavailable("This tenant's store can't answer now. Nothing of this request was stored; try again.", cause);
}
