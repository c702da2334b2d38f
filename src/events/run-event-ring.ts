import { isDelta, type RunEvent } from "../store/model.ts";
import { STORED_EVENTS_PER_RUN_MAX } from "../store/run-check.ts";

/** What an event weighs beside its texts. */
const EVENT_BYTES = 256;

export interface RingLimits {
  readonly events: number;
  readonly bytes: number;
}

/**
 * Run events that are stored nowhere, on their way to one reader. What is stored is not taken in: it is read again.
 * When the reader is too slow, the oldest deltas go first.
 */
export interface RunEventRing {
  add(event: RunEvent): void;
  /** Grows with every event taken in; names a moment for `take`. */
  serial(): number;
  size(): number;
  /** Removes those taken in up to that moment that fit, and gives them in the order in which they came. */
  take(throughSerial: number, fits: (event: RunEvent) => boolean): readonly RunEvent[];
}

interface Entry {
  readonly serial: number;
  readonly event: RunEvent;
  readonly bytes: number;
}

/** An empty ring. Without `deltas` it takes in none. */
export function createRunEventRing(limits: RingLimits, deltas: boolean): RunEventRing {
  let entries: Entry[] = [];
  let bytes = 0;
  let serial = 0;

  function dropOldest(): void {
    const oldestDelta = entries.findIndex((entry) => isDelta(entry.event.type));
    const [dropped] = entries.splice(Math.max(oldestDelta, 0), 1);
    bytes -= dropped?.bytes ?? 0;
  }

  return {
    add(event) {
      // Past so many events of its run, it may be one that the store does not keep.
      const wanted = isDelta(event.type) ? deltas : event.index > STORED_EVENTS_PER_RUN_MAX;
      if (!wanted) return;
      serial++;
      const entry = { serial, event, bytes: weightOf(event) };
      entries.push(entry);
      bytes += entry.bytes;
      while (entries.length > limits.events || (bytes > limits.bytes && entries.length > 1)) dropOldest();
    },
    serial: () => serial,
    size: () => entries.length,
    take(throughSerial, fits) {
      const fitting = (entry: Entry) => entry.serial <= throughSerial && fits(entry.event);
      const [kept, taken]: [Entry[], RunEvent[]] = [[], []];
      for (const entry of entries) {
        if (!fitting(entry)) {
          kept.push(entry);
          continue;
        }
        taken.push(entry.event);
        bytes -= entry.bytes;
      }
      entries = kept;
      return taken;
    },
  };
}

/** Two bytes a UTF-16 unit, as the process holds them. */
function weightOf(event: RunEvent): number {
  const payload = event.payload === null ? 0 : JSON.stringify(event.payload).length;
  return EVENT_BYTES + 2 * ((event.delta?.length ?? 0) + payload);
}
