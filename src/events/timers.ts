/** What streams wait with; handed in, so that tests hold the time in their hands. Cancelling twice is harmless. */
export interface Timers {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Once, behind everything that is about to run in this turn of the event loop. */
  soon(work: () => void): () => void;
  after(milliseconds: number, work: () => void): () => void;
  every(milliseconds: number, work: () => void): () => void;
}

/** The process's own timers. None of them keeps the process alive. */
export function createTimers(): Timers {
  return {
    now: () => performance.now(),
    soon(work) {
      const handle = setImmediate(work);
      return () => clearImmediate(handle);
    },
    after(milliseconds, work) {
      const handle = setTimeout(work, milliseconds).unref();
      return () => clearTimeout(handle);
    },
    every(milliseconds, work) {
      const handle = setInterval(work, milliseconds).unref();
      return () => clearInterval(handle);
    },
  };
}
