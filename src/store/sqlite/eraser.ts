/** What the eraser works with; each slice is one queued write of its own. */
export interface EraserParts {
  /** Erases a slice. Milliseconds until there is more to do, null for never; rejects where the file is sick. */
  readonly slice: () => Promise<number | null>;
  /** Gives freed pages back to the disk and takes the log in, between slices. */
  readonly settle: () => void;
}

/** Erases in the background what deleted sessions left, in slices that let every other write in between. */
export interface Eraser {
  /** Something was deleted (or the file was opened): look for what is to be erased. */
  wake(): void;
  /** Resolves once nothing is left to erase, or the eraser has stopped. */
  idle(): Promise<void>;
  /** Whether rows of deleted sessions are still being erased. */
  isErasing(): boolean;
  stop(): void;
}

const PAUSE_MILLISECONDS = 2;
const RETRY_MILLISECONDS = 1_000;

/** An eraser that sleeps. Its timers keep no process alive. */
export function createEraser(parts: EraserParts): Eraser {
  let timer: NodeJS.Timeout | null = null;
  let running = false;
  let again = false;
  let stopped = false;
  let waiting: (() => void)[] = [];
  const arm = (milliseconds: number): void => {
    if (stopped || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      void step();
    }, milliseconds);
    timer.unref();
  };
  const rest = (): void => {
    const settled = waiting;
    waiting = [];
    for (const resolve of settled) resolve();
  };
  const step = async (): Promise<void> => {
    if (stopped || running) return;
    running = true;
    again = false;
    try {
      const next = await parts.slice();
      if (stopped) return;
      parts.settle();
      again ||= next === 0;
      if (again) arm(PAUSE_MILLISECONDS);
      else {
        rest();
        if (next !== null) arm(next);
      }
    } catch {
      // The writers hear what is wrong with the file; erasing only has to come back.
      again = true;
      arm(RETRY_MILLISECONDS);
    } finally {
      running = false;
    }
  };
  return {
    wake() {
      again = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      arm(0);
    },
    idle() {
      if (stopped || (!again && !running)) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    isErasing: () => again || running,
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      rest();
    },
  };
}
