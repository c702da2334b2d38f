import { describe, expect, it } from "vitest";
import { badInput } from "../../src/errors.ts";
import type { ConformanceCase, OpenStore } from "../../src/store/conformance/case.ts";
import { expectRefusal, expectSame } from "../../src/store/conformance/expectation.ts";
import { CONFORMANCE_CASES } from "../../src/store/conformance/suite.ts";
import type { SessionStore } from "../../src/store/contract.ts";
import { openTestStore } from "../support/store.ts";

async function openSqlite(): Promise<OpenStore> {
  const test = openTestStore();
  return {
    within: (reach = {}) => test.within(reach),
    advanceSeconds: (seconds) => {
      test.time.wallMs += seconds * 1000;
    },
    close: async () => test.dispose(),
  };
}

describe("the SQLite store keeps the contract:", () => {
  it.each(CONFORMANCE_CASES.map((one): [string, ConformanceCase] => [one.name, one]))("%s", async (_, one) => {
    await one.run(openSqlite);
  });
});

describe("the suite", () => {
  const faults: readonly (readonly [string, (store: SessionStore) => Partial<SessionStore>])[] = [
    ["forgets sessions", () => ({ getSessions: async (ids) => ids.map(() => null) })],
    [
      "gives no repairs",
      (store) => ({
        readContext: async (request) => {
          const view = await store.readContext(request);
          return view === null ? null : { ...view, repairs: [] };
        },
      }),
    ],
    [
      "calls every page the last",
      (store) => ({
        listMessages: async (request) => {
          const page = await store.listMessages(request);
          return page === null ? null : { ...page, hasNextPage: false };
        },
      }),
    ],
    ["deletes nothing", () => ({ deleteSession: async () => null })],
  ];
  it.each(faults)("does not pass a store that %s", async (_, fault) => {
    const faulty = async (): Promise<OpenStore> => {
      const open = await openSqlite();
      return { ...open, within: (reach) => ({ ...open.within(reach), ...fault(open.within(reach)) }) };
    };
    const outcomes = await Promise.allSettled(CONFORMANCE_CASES.map((one) => one.run(faulty)));
    expect(outcomes.some((outcome) => outcome.status === "rejected")).toBe(true);
  });

  it("compares values whatever the order of their keys, and refusals by code and reason", async () => {
    expectSame({ a: 1, b: [2] }, { b: [2], a: 1 }, "value");
    expect(() => expectSame([1, 2], [2, 1], "list")).toThrow("list: expected [2,1], found [1,2]");
    await expectRefusal(Promise.reject(badInput([], "no")), "BAD_USER_INPUT");
    await expect(expectRefusal(Promise.resolve(), "BAD_USER_INPUT")).rejects.toThrow("accepted");
  });
});
