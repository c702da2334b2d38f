/** Runs works of one key one after another, works of different keys side by side. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Makes turns; a work that fails lets the next one begin. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
