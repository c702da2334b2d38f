import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFetchClient } from "../../src/extension/session/fetch-client.ts";
import { createGraphqlStore } from "../../src/extension/session/graphql-store.ts";
import type { OpenStore } from "../../src/store/conformance/case.ts";
import { CONFORMANCE_CASES } from "../../src/store/conformance/suite.ts";
import type { Reach, SessionStore } from "../../src/store/contract.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

const SKIPPED: ReadonlyMap<string, string> = new Map([
  ["changes are numbered, one entry a session, deletions among them", "the API has subscriptions instead of tails"],
  ["a dump gives every record; a filled store refuses to be loaded", "dump and load are no part of the API"],
  ["what was dumped is loaded exactly into another store", "dump and load are no part of the API"],
]);

let gateway: TestGateway;
let skippedMs = 0;
let tenants = 0;

beforeAll(async () => {
  const time = { wall: () => Date.now() + skippedMs, monotonic: () => performance.now() + skippedMs };
  gateway = await startGateway({ time });
});
afterAll(() => gateway.close());

/** A tenant of its own over the socket; a narrowed reach is a key of that reach. */
async function open(): Promise<OpenStore> {
  const tenant = `t${++tenants}`;
  const whole = await gateway.tenant(tenant);
  return {
    within: (reach) => storeWith(reach === undefined ? async () => whole : keyOf(tenant, reach)),
    advanceSeconds: (seconds) => {
      skippedMs += seconds * 1000;
    },
    close: async () => {},
  };
}

function storeWith(apiKey: () => Promise<string>): SessionStore {
  return createGraphqlStore(createFetchClient({ url: gateway.url, apiKey }));
}

function keyOf(tenant: string, { userId, visibleRoles, writableRoles }: Partial<Reach>): () => Promise<string> {
  const narrowed = userId === undefined || userId === null ? {} : { userId, expiresAt: inADay() };
  const roles = ["SYSTEM", "USER", "ASSISTANT", "TOOL", "AGENT"];
  const input = {
    ...{ scopes: ["READ", "WRITE", "DELETE"], ...narrowed },
    visibleRoles: [...(visibleRoles ?? roles)],
    writableRoles: [...(writableRoles ?? roles)],
  };
  let key: Promise<string> | null = null;
  return () => {
    key ??= gateway.key(tenant, input);
    return key;
  };
}

const inADay = () => new Date(Date.now() + skippedMs + 86_400_000).toISOString();

describe("the GraphQL store over a socket keeps the contract:", () => {
  for (const one of CONFORMANCE_CASES) {
    it(one.name, async (context) => {
      const reason = SKIPPED.get(one.name);
      context.skip(reason !== undefined, reason);
      await one.run(open);
    });
  }

  it("skips only cases that the suite has, and refuses what they ask for", async () => {
    const names = CONFORMANCE_CASES.map((one) => one.name);
    expect([...SKIPPED.keys()].filter((name) => !names.includes(name))).toEqual([]);
    const store = (await open()).within();
    await store.createSession({ id: "s" });
    const refused = [
      store.lastChangeNumber(),
      store.changesAfter(0, 1),
      store.deleteUserSessions("u"),
      store.mark("s"),
      store.load(store.dump()),
      store.dump()[Symbol.asyncIterator]().next(),
    ];
    const outcomes = await Promise.allSettled(refused);
    const codes = outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "accepted"));
    expect(codes).toEqual(refused.map(() => "FORBIDDEN"));
  });
});
