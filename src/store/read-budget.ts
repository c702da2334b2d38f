import { tooLarge } from "../errors.ts";

/** Bytes that one operation may read over all its pages. */
export const OPERATION_READ_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Counts what one operation has read. A single row is always allowed; it is the row after the limit that is
 * refused.
 */
export interface ReadBudget {
  /** PAYLOAD_TOO_LARGE where earlier pages have used the budget up; call it once a page, with the page's weight. */
  spend(bytes: number): void;
  /** A subscription starts afresh with every event. */
  renew(): void;
}

/** A budget of `limitBytes`, nothing spent. */
export function createReadBudget(limitBytes = OPERATION_READ_BYTES_MAX): ReadBudget {
  let spentBytes = 0;
  return {
    spend(bytes) {
      const alone = spentBytes === 0;
      spentBytes += bytes;
      if (spentBytes > limitBytes && !alone) {
        throw tooLarge(`One operation reads at most ${limitBytes} bytes over all its pages; ask for fewer at a time.`);
      }
    },
    renew() {
      spentBytes = 0;
    },
  };
}
