import { expect, it } from "vitest";
import { createUuidFactory, normalizeUuid } from "../src/uuid.ts";

it("UUIDs ascend within one factory while the clock stands still and steps back", () => {
  let now = 1_800_000_000_000;
  const make = createUuidFactory(() => now);
  const ids = Array.from({ length: 10_000 }, (_, index) => {
    if (index === 5_000) now -= 60_000;
    return make();
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toBe(
    true,
  );
});

it("any version is taken in any case and given in lower case", () => {
  expect(normalizeUuid("6BA7B810-9DAD-11D1-80B4-00C04FD430C8")).toBe("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
  expect(
    ["", "x", "6ba7b8109dad11d180b400c04fd430c8", " 6ba7b810-9dad-11d1-80b4-00c04fd430c8"].map(normalizeUuid),
  ).toEqual([null, null, null, null]);
});
