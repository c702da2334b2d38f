import type { SessionId } from "../store/model.ts";
import type { StreamParts } from "./stream.ts";

/** Looks for leases that ran out since it looked last: a run dies of silence, so that no event tells of it. */
export interface LeaseWatch {
  /** It is time to look. */
  tick(): void;
  /** Sessions whose live run has died since the last look; none before it is time. */
  expired(): Promise<readonly SessionId[]>;
}

/** A watch from now on; `tick` is the stream's timer to call. */
export function createLeaseWatch(parts: StreamParts): LeaseWatch {
  let due = false;
  let since = parts.clock.now();
  return {
    tick() {
      due = true;
    },
    async expired() {
      if (!due) return [];
      due = false;
      const through = parts.clock.now();
      const sessions = await parts.store.leasesExpired(since, through);
      since = through;
      return sessions;
    },
  };
}
