import type { ReadBudget } from "../store/read-budget.ts";
import type { Bus, BusEvent, Topic } from "./bus.ts";
import type { Timers } from "./timers.ts";

/** What one look at the store brought. */
export interface Reading<T> {
  readonly items: readonly T[];
  /** Look again at the next pull, without waiting for a wake-up. */
  readonly more: boolean;
  /** Nothing can follow these items. */
  readonly ended: boolean;
}

export interface PullParts {
  readonly bus: Bus;
  readonly topic: Topic;
  readonly timers: Timers;
  readonly recheckMilliseconds: number;
  readonly budget: ReadBudget;
  readonly ended: AbortSignal | null;
  /** Whether the event calls for a look; null is the slow timer: look at everything again, whatever the bus lost. */
  readonly hear: (event: BusEvent | null) => boolean;
}

/** A stream that listens already and is not accepted yet. */
export interface Pull<T> {
  wake(): void;
  /** Runs with every other resource of the stream when it ends, however it ends. */
  onRelease(release: () => void): void;
  /** `work` checks the request and says how to read; where it refuses, everything is freed. */
  accept(work: () => Promise<() => Promise<Reading<T>>>): Promise<AsyncIterableIterator<T>>;
}

interface Waiter<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: unknown): void;
}

/**
 * Opens a stream that is read from only while somebody waits for its next item: a slow reader costs what one read
 * brought and no more. It is no async generator, since one that waits can't be ended before what it waits for comes.
 *
 * Reads start in a turn of their own: everything that one commit published has been heard by then, so that a read never
 * sees a stored event before the deltas that came with it.
 */
export function openPull<T>(parts: PullParts): Pull<T> {
  const waiters: Waiter<T>[] = [];
  const releases: (() => void)[] = [];
  let queue: IteratorResult<T>[] = [];
  let read: (() => Promise<Reading<T>>) | null = null;
  let state: "open" | "finishing" | "done" | "failed" = "open";
  let failure: unknown;
  let dirty = true;
  let reading = false;
  let cancelRound: (() => void) | null = null;

  function release(): void {
    cancelRound?.();
    cancelRound = null;
    queue = [];
    for (const free of releases.splice(0)) free();
  }

  function finish(): void {
    if (state === "failed" || state === "done") return;
    state = "done";
    release();
    for (const waiter of waiters.splice(0)) waiter.resolve({ done: true, value: undefined });
  }

  function fail(error: unknown): void {
    if (state === "failed" || state === "done") return;
    state = "failed";
    failure = error;
    release();
    for (const waiter of waiters.splice(0)) waiter.reject(error);
  }

  function wake(): void {
    dirty = true;
    schedule();
  }

  function schedule(): void {
    if (state !== "open" || reading || cancelRound !== null || waiters.length === 0 || !dirty) return;
    cancelRound = parts.timers.soon(() => {
      cancelRound = null;
      void round();
    });
  }

  async function round(): Promise<void> {
    if (state !== "open" || read === null) return;
    dirty = false;
    reading = true;
    parts.budget.renew();
    try {
      const found = await read();
      if (state !== "open") return;
      queue = found.items.map((value) => ({ done: false, value }));
      dirty ||= found.more;
      if (found.ended) state = "finishing";
    } catch (error) {
      fail(error);
    } finally {
      reading = false;
    }
    deliver();
  }

  function deliver(): void {
    while (waiters.length > 0) {
      const item = queue.shift();
      if (item === undefined) break;
      // What hangs on this item is read next, from a budget of its own.
      parts.budget.renew();
      waiters.shift()?.resolve(item);
    }
    if (state === "finishing" && queue.length === 0) finish();
    schedule();
  }

  function next(): Promise<IteratorResult<T>> {
    if (state === "failed") return Promise.reject(failure);
    if (state === "done") return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      waiters.push({ resolve, reject });
      deliver();
    });
  }

  const iterator: AsyncIterableIterator<T> = {
    next,
    async return() {
      finish();
      return { done: true, value: undefined };
    },
    async throw(error) {
      finish();
      throw error;
    },
    [Symbol.asyncIterator]: () => iterator,
  };

  releases.push(
    parts.bus.subscribe(parts.topic, (event) => {
      if (parts.hear(event)) wake();
    }),
    parts.timers.every(parts.recheckMilliseconds, () => {
      if (parts.hear(null)) wake();
    }),
  );
  const { ended } = parts;
  if (ended !== null) {
    const end = () => fail(ended.reason);
    ended.addEventListener("abort", end, { once: true });
    releases.push(() => ended.removeEventListener("abort", end));
    if (ended.aborted) end();
  }

  return {
    wake,
    onRelease(free) {
      if (state === "open") releases.push(free);
      else free();
    },
    async accept(work) {
      try {
        read = await work();
      } catch (error) {
        finish();
        throw error;
      }
      if (state === "failed") throw failure;
      return iterator;
    },
  };
}
