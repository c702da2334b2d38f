import type { Bus } from "../../src/events/bus.ts";
import type { Feed } from "../../src/events/contract.ts";
import { createDrafts, type Drafts } from "../../src/events/drafts.ts";
import { createFeed } from "../../src/events/feed.ts";
import { createMemoryBus } from "../../src/events/memory-bus.ts";
import { publishing } from "../../src/events/publishing.ts";
import type { FeedSettings } from "../../src/events/stream.ts";
import type { Timers } from "../../src/events/timers.ts";
import { silentLog } from "../../src/log.ts";
import type { Reach, SessionStore } from "../../src/store/contract.ts";
import type { TenantId } from "../../src/store/model.ts";
import { createReadBudget, type ReadBudget } from "../../src/store/read-budget.ts";
import type { TenantHandle } from "../../src/store/sqlite/handle.ts";
import { createSqliteStore } from "../../src/store/sqlite/store.ts";
import { instantOfMilliseconds } from "../../src/time.ts";
import { createUuidFactory } from "../../src/uuid.ts";
import { FULL_REACH, NO_LIMITS, openTestStore, type TestStore } from "../support/store.ts";

/** Timers that a test moves by hand; `soon` is the real thing. */
export interface ManualTimers extends Timers {
  advance(milliseconds: number): void;
  /** Timers that are waiting, those of `soon` among them. */
  active(): number;
}

export function createManualTimers(): ManualTimers {
  let time = 0;
  const waiting = new Set<{ due: number; readonly every: number | null; readonly work: () => void }>();
  const add = (due: number, every: number | null, work: () => void) => {
    const timer = { due, every, work };
    waiting.add(timer);
    return () => void waiting.delete(timer);
  };
  return {
    now: () => time,
    soon(work) {
      const cancel = add(Number.POSITIVE_INFINITY, null, work);
      const handle = setImmediate(() => {
        cancel();
        work();
      });
      return () => {
        cancel();
        clearImmediate(handle);
      };
    },
    after: (milliseconds, work) => add(time + milliseconds, null, work),
    every: (milliseconds, work) => add(time + milliseconds, milliseconds, work),
    advance(milliseconds) {
      const end = time + milliseconds;
      for (;;) {
        const [next] = [...waiting].filter((timer) => timer.due <= end).sort((left, right) => left.due - right.due);
        if (next === undefined) break;
        time = next.due;
        if (next.every === null) waiting.delete(next);
        else next.due += next.every;
        next.work();
      }
      time = end;
    },
    active: () => waiting.size,
  };
}

export interface FeedOptions {
  readonly reach?: Partial<Reach>;
  readonly ended?: AbortSignal;
  readonly settings?: Partial<FeedSettings>;
  readonly budget?: ReadBudget;
}

/** One tenant's real store with a bus before it. */
export interface World {
  readonly test: TestStore;
  /** As the product writes: publishing. */
  readonly store: SessionStore;
  /** Writes that no bus hears of. */
  readonly quiet: SessionStore;
  readonly bus: Bus;
  readonly drafts: Drafts;
  readonly timers: ManualTimers;
  feed(options?: FeedOptions): Feed;
  append(sessionId: string, count: number): Promise<void>;
}

/** Opens a tenant; `bus` and `drafts` may be shared with others. */
export function openWorld(
  tenant = "acme",
  bus: Bus = createMemoryBus({ log: silentLog }),
  drafts: Drafts = createDrafts(),
): World {
  const test = openTestStore();
  const tenantId = tenant as TenantId;
  const timers = createManualTimers();
  const store = publishing(whole(test.store), { bus, tenantId, drafts });
  return {
    test,
    store,
    quiet: whole(test.store),
    bus,
    drafts,
    timers,
    feed({ reach = {}, ended, settings = {}, budget = createReadBudget() } = {}) {
      return createFeed({
        store: storeOf(test, { ...FULL_REACH, ...reach }, budget),
        bus,
        tenantId,
        reach: { ...FULL_REACH, ...reach },
        clock: { now: () => instantOfMilliseconds(test.time.wallMs) },
        budget,
        ended: ended ?? null,
        drafts,
        log: silentLog,
        settings: { timers, ...settings },
      });
    },
    async append(sessionId, count) {
      for (let index = 0; index < count; index++) {
        await store.appendMessages({ sessionId, messages: [{ message: { user: { text: `message ${index}` } } }] });
      }
    },
  };
}

/** As a caller reaches it, spending the operation's budget. */
function storeOf(test: TestStore, reach: Reach, budget: ReadBudget): SessionStore {
  const parts = {
    use: <T>(work: (handle: TenantHandle) => T) => work(test.handle()),
    limits: () => NO_LIMITS,
    newUuid,
  };
  return whole(createSqliteStore(parts).within(reach, budget));
}

const newUuid = createUuidFactory();

const missing = (): never => {
  throw new Error("no test of streams needs this");
};

type Foreign =
  | "readContext"
  | "createSnapshot"
  | "latestSnapshot"
  | "listSnapshots"
  | "rewindSession"
  | "dump"
  | "load";
const foreign: Pick<SessionStore, Foreign> = {
  readContext: missing,
  createSnapshot: missing,
  latestSnapshot: missing,
  listSnapshots: missing,
  rewindSession: missing,
  dump: missing,
  load: missing,
};

/** What the store at hand does not do yet stands still. */
function whole(store: TestStore["store"]): SessionStore {
  return { ...foreign, ...store };
}

/** Reads a stream as fast as it comes. */
export interface Reader<T> {
  readonly items: readonly T[];
  /** "open", "done", or the error that it ended with. */
  readonly state: unknown;
  /** Once so many items have come; the test's own time-out is the limit. */
  until(count: number): Promise<readonly T[]>;
  /** Once it has ended. */
  end(): Promise<unknown>;
}

export function readAll<T>(iterator: AsyncIterableIterator<T>): Reader<T> {
  const items: T[] = [];
  let state: unknown = "open";
  const run = async () => {
    try {
      for await (const item of iterator) items.push(item);
      state = "done";
    } catch (error) {
      state = error;
    }
  };
  const ending = run();
  return {
    items,
    get state() {
      return state;
    },
    async until(count) {
      while (items.length < count && state === "open") await turn();
      return items;
    },
    async end() {
      await ending;
      return state;
    },
  };
}

/** The next so many items. */
export async function take<T>(iterator: AsyncIterableIterator<T>, count: number): Promise<readonly T[]> {
  const items: T[] = [];
  while (items.length < count) {
    const { value, done } = await iterator.next();
    if (done) break;
    items.push(value);
  }
  return items;
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Long enough for everything that is under way to arrive. */
export async function quiet(): Promise<void> {
  for (let index = 0; index < 30; index++) await turn();
}

/** 1, 2, … in that range. */
export function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
