import { describe, expect, it } from "vitest";
import { createClock, formatInstant, instant, parseInstant, startOf } from "../src/time.ts";

describe("instants", () => {
  it("carry an offset and microseconds over the edge of a year", () => {
    const time = parseInstant("2025-12-31T23:59:59.999999-05:30");
    expect(time === null ? null : formatInstant(time)).toBe("2026-01-01T05:29:59.999999Z");
  });

  it("refuse dates that do not exist, hour 24, second 60, a missing offset and nine fraction digits", () => {
    const refused = [
      "2026-02-30T00:00:00Z",
      "2026-01-01T00:00:00",
      "2026-01-01T24:00:00Z",
      "2026-01-01T00:00:60Z",
      "2026-01-01T00:00:00.123456789Z",
      "2026-13-01T00:00:00Z",
      "not a time",
    ];
    expect(refused.map(parseInstant)).toEqual(refused.map(() => null));
  });

  it("read one instant from five spellings", () => {
    const spellings = [
      "2026-01-01T00:00:00.5Z",
      "2026-01-01T00:00:00.500000Z",
      "2026-01-01T00:00:00.50+00:00",
      "2026-01-01T05:30:00.5+05:30",
      "2025-12-31T20:30:00.500-03:30",
    ];
    expect(new Set(spellings.map(parseInstant)).size).toBe(1);
  });

  it("are written with six digits before the epoch too", () => {
    expect(formatInstant(instant(-1))).toBe("1969-12-31T23:59:59.999999Z");
  });

  it("start their hour, day and month in UTC", () => {
    const time = parseInstant("2026-03-29T01:30:00.000001Z");
    if (time === null) throw new Error("the instant is valid");
    const starts = (["HOUR", "DAY", "MONTH"] as const).map((unit) => formatInstant(startOf(unit, time)));
    expect(starts).toEqual([
      "2026-03-29T01:00:00.000000Z",
      "2026-03-29T00:00:00.000000Z",
      "2026-03-01T00:00:00.000000Z",
    ]);
  });
});

describe("a clock", () => {
  it("goes on by monotonic time while the wall steps back an hour", () => {
    const source = { wallMs: 10_000_000, monotonicMs: 5 };
    const clock = createClock({ wall: () => source.wallMs, monotonic: () => source.monotonicMs });
    const before = clock.now();
    source.wallMs -= 3_600_000;
    source.monotonicMs += 2;
    expect(clock.now() - before).toBe(2_000);
  });

  it("starts on the newest time of a file, at most 24 h ahead", () => {
    const source = { wall: () => 0, monotonic: () => 0 };
    const day = 86_400_000_000;
    expect(createClock(source, instant(day / 2)).now()).toBe(day / 2);
    expect(createClock(source, instant(day * 9)).now()).toBe(day);
  });
});
