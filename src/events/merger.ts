import type { Timers } from "./timers.ts";

/** Holds the last value of each key until the key may be sent again. */
export interface Merger<Key, Value> {
  held(key: Key): Value | undefined;
  /** In place of what was held of the key. */
  put(key: Key, value: Value): void;
  drop(key: Key): void;
  /** What may be sent now, oldest first; it counts as sent. For the rest `wake` is called when its time has come. */
  take(): readonly Value[];
  /** The key was taken and not sent after all: it has not begun to wait. */
  unsent(key: Key): void;
  release(): void;
}

/** A key is sent at most once in so many milliseconds: at once where it was quiet, else its last value when due. */
export function createMerger<Key, Value>(parts: {
  readonly timers: Timers;
  readonly milliseconds: number;
  readonly wake: () => void;
}): Merger<Key, Value> {
  const holding = new Map<Key, Value>();
  /** When each key may be sent again; in the order of those times, since the wait is always the same. */
  const dueTimes = new Map<Key, number>();
  let released = false;
  let cancel: (() => void) | null = null;

  function forgetDue(now: number): void {
    for (const [key, due] of dueTimes) {
      if (due > now) return;
      dueTimes.delete(key);
    }
  }

  function arm(now: number): void {
    cancel?.();
    cancel = null;
    let earliest = Number.POSITIVE_INFINITY;
    for (const key of holding.keys()) earliest = Math.min(earliest, dueTimes.get(key) ?? now);
    if (released || earliest === Number.POSITIVE_INFINITY) return;
    cancel = parts.timers.after(Math.max(1, Math.ceil(earliest - now)), () => {
      cancel = null;
      parts.wake();
    });
  }

  return {
    held: (key) => holding.get(key),
    put(key, value) {
      holding.delete(key);
      holding.set(key, value);
    },
    drop(key) {
      holding.delete(key);
    },
    take() {
      const now = parts.timers.now();
      forgetDue(now);
      const taken: Value[] = [];
      for (const [key, value] of holding) {
        if (dueTimes.has(key)) continue;
        holding.delete(key);
        dueTimes.set(key, now + parts.milliseconds);
        taken.push(value);
      }
      arm(now);
      return taken;
    },
    unsent(key) {
      dueTimes.delete(key);
    },
    release() {
      released = true;
      cancel?.();
      cancel = null;
      holding.clear();
      dueTimes.clear();
    },
  };
}
