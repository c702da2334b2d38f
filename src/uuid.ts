import { assert } from "./assert.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The lower-case form of a UUID of any version, given in any case; null for other text. */
export function normalizeUuid(text: string): string | null {
  const lower = text.toLowerCase();
  return UUID.test(lower) ? lower : null;
}

/** Makes UUIDs; a part that needs ids takes one of these. */
export type UuidFactory = () => string;

/** Fills and returns the bytes, like `crypto.getRandomValues`. */
export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;

export const secureRandom: RandomSource = (bytes) => globalThis.crypto.getRandomValues(bytes);

/** UUIDs of version 7 (RFC 9562), ascending within one factory even where the clock stands still or steps back. */
export function createUuidFactory(
  milliseconds: () => number = Date.now,
  random: RandomSource = secureRandom,
): UuidFactory {
  let lastMilliseconds = -1;
  let counter = 0;
  return () => {
    const bytes = random(new Uint8Array(16));
    const now = Math.floor(milliseconds());
    if (now > lastMilliseconds) {
      lastMilliseconds = now;
      // 11 random bits leave room for 2,048 and more ids in one millisecond before the counter borrows from the next.
      counter = (((bytes[6] ?? 0) & 0x07) << 8) | (bytes[7] ?? 0);
    } else if (++counter > 0xfff) {
      lastMilliseconds++;
      counter = 0;
    }
    return formatVersion7(bytes, lastMilliseconds, counter);
  };
}

function formatVersion7(bytes: Uint8Array, milliseconds: number, counter: number): string {
  assert(bytes.length === 16, "a UUID has 16 bytes");
  const time = milliseconds.toString(16).padStart(12, "0");
  const variant = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const tail = [variant, ...bytes.subarray(9)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const sequence = counter.toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
