import type { Reach, SessionStore } from "../contract.ts";

/** An empty store of one tenant, made for one case. */
export interface OpenStore {
  /** The store as a caller of this reach sees it; all roles and every user where nothing is said. */
  within(reach?: Partial<Reach>): SessionStore;
  /** Moves the store's clock on; null where the store's clock is not in the suite's hands. */
  readonly advanceSeconds: ((seconds: number) => void) | null;
  close(): Promise<void>;
}

/** One promise of the contract. `run` resolves where it is kept and rejects with what was found instead. */
export interface ConformanceCase {
  readonly name: string;
  /** Why the case can't be asked of stores whose clock stands outside; null where it asks nothing of time. */
  readonly needsClock: string | null;
  run(open: () => Promise<OpenStore>): Promise<void>;
}

/** A case over one store, which is closed whatever comes of it. */
export function storeCase(
  name: string,
  work: (store: SessionStore, open: OpenStore) => Promise<void>,
): ConformanceCase {
  return { name, needsClock: null, run: (open) => withStore(open, work) };
}

/** As storeCase, for a promise about time passing. */
export function timedCase(
  name: string,
  why: string,
  work: (store: SessionStore, advanceSeconds: (seconds: number) => void) => Promise<void>,
): ConformanceCase {
  const run = (open: () => Promise<OpenStore>) =>
    withStore(open, async (store, { advanceSeconds }) => {
      if (advanceSeconds === null) throw new Error(`${name} needs a clock to move: ${why}`);
      await work(store, advanceSeconds);
    });
  return { name, needsClock: why, run };
}

async function withStore(
  open: () => Promise<OpenStore>,
  work: (store: SessionStore, open: OpenStore) => Promise<void>,
): Promise<void> {
  const opened = await open();
  try {
    await work(opened.within(), opened);
  } finally {
    await opened.close();
  }
}
