declare const instantBrand: unique symbol;

/** Microseconds since 1970-01-01T00:00:00Z, a whole number. */
export type Instant = number & { readonly [instantBrand]: true };

export const MICROSECONDS_PER_SECOND = 1_000_000;
const MICROSECONDS_PER_DAY = 86_400 * MICROSECONDS_PER_SECOND;

/** Asserts nothing: for numbers that are known to be whole microseconds. */
export function instant(microseconds: number): Instant {
  return microseconds as Instant;
}

/** Rounded to whole microseconds. */
export function instantOfMilliseconds(milliseconds: number): Instant {
  return instant(Math.round(milliseconds * 1000));
}

/** Later by so many seconds; earlier where negative. */
export function plusSeconds(time: Instant, seconds: number): Instant {
  return instant(time + seconds * MICROSECONDS_PER_SECOND);
}

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 instant with up to six fractional digits and an explicit offset; null for anything else,
 * impossible dates, hour 24 and second 60 among it (`new Date` reads 30 February as 2 March).
 * Also null where a double can't hold the microseconds exactly, which begins in the year 2255.
 */
export function parseInstant(text: string): Instant | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = match;
  const days = daysFromCivil(Number(year), Number(month), Number(day));
  if (days === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offset = (sign === "-" ? -1 : 1) * (Number(offsetHour) * 3600 + Number(offsetMinute) * 60);
  const seconds = days * 86_400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  const exact = BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, "0"));
  const value = Number(exact);
  return BigInt(value) === exact ? instant(value) : null;
}

/** RFC 3339 in UTC with exactly six fractional digits. */
export function formatInstant(time: Instant): string {
  const micros = ((time % MICROSECONDS_PER_SECOND) + MICROSECONDS_PER_SECOND) % MICROSECONDS_PER_SECOND;
  const whole = new Date((time - micros) / 1000).toISOString();
  return `${whole.slice(0, -5)}.${String(micros).padStart(6, "0")}Z`;
}

/** Start of the UTC hour, day or month that holds the instant. */
export function startOf(unit: "HOUR" | "DAY" | "MONTH", time: Instant): Instant {
  if (unit === "HOUR") return floorTo(time, 3600 * MICROSECONDS_PER_SECOND);
  const day = floorTo(time, MICROSECONDS_PER_DAY);
  if (unit === "DAY") return day;
  const date = new Date(day / 1000);
  return instant(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) * 1000);
}

function floorTo(time: Instant, unit: number): Instant {
  return instant(Math.floor(time / unit) * unit);
}

/** Days since 1970-01-01 of a date in the proleptic Gregorian calendar; null for one that does not exist. */
function daysFromCivil(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() / 86_400_000 : null;
}

/** Where the time comes from; handed in, so that tests hold it in their hands. */
export interface Clock {
  /** Never less than an earlier answer of the same clock. */
  now(): Instant;
}

/** The two raw sources of time, in milliseconds with fractions. `monotonic` has any zero and never goes back. */
export interface TimeSource {
  wall(): number;
  monotonic(): number;
}

/**
 * A clock that never goes back: max(wall, anchor + monotonic time since the anchor). `floor` (the newest time that a
 * file holds) lifts the anchor by at most 24 h, so that one absurd time can't move the present for good.
 */
export function createClock(source: TimeSource, floor: Instant | null = null): Clock {
  const start = instantOfMilliseconds(source.wall());
  const lifted = floor === null ? start : Math.min(Math.max(start, floor), start + MICROSECONDS_PER_DAY);
  const anchorMonotonic = source.monotonic();
  let latest = lifted;
  return {
    now() {
      const elapsed = Math.floor((source.monotonic() - anchorMonotonic) * 1000);
      latest = Math.max(latest, instantOfMilliseconds(source.wall()), lifted + elapsed);
      return instant(latest);
    },
  };
}
