import { expect, it } from "vitest";
import type { Generation } from "../../../src/store/model.ts";
import { createProjectionCache, type PinnedContext } from "../../../src/store/sqlite/projection-cache.ts";

const context = (messageCount: number): PinnedContext => ({
  edited: { snapshot: null, boundary: 0, hidden: [] },
  projection: { units: [], repairs: [] },
  messageCount,
});

/** A cache and what it had to make, by last sequence. */
function watched() {
  const cache = createProjectionCache();
  const made: number[] = [];
  const read = (lastSequence: number, messages = 1) =>
    cache.at({ generation: 1 as Generation, lastSequence, edits: 0 }, () => {
      made.push(lastSequence);
      return context(messages);
    });
  return { made, read };
}

it("keeps the eight contexts that were read last", () => {
  const { made, read } = watched();
  for (let sequence = 1; sequence <= 8; sequence++) read(sequence);
  read(1);
  read(9);
  expect(made).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  read(1);
  read(3);
  read(2);
  expect(made).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 2]);
});

it("keeps at most 200,000 messages, but the context read last whatever its size", () => {
  const { made, read } = watched();
  read(1, 150_000);
  read(2, 50_000);
  read(1);
  read(3, 1);
  read(2, 50_000);
  expect(made).toEqual([1, 2, 3, 2]);
  read(4, 900_000);
  read(4);
  read(3);
  expect(made).toEqual([1, 2, 3, 2, 4, 3]);
});
