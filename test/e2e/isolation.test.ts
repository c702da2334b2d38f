import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSchema } from "../../src/schema/schema.ts";
import { openEventStream } from "../support/event-stream.ts";
import { documentOf, type FieldPath, fieldPaths, valuesAt } from "../support/field-paths.ts";
import { OPERATOR_KEY, startGateway, type TestGateway } from "../support/gateway.ts";
import {
  type Arguments,
  MUTATION_ARGUMENTS,
  QUERY_ARGUMENTS,
  SUBSCRIPTION_ARGUMENTS,
  type WalkIds,
} from "../support/isolation-fixture.ts";
import { makeOwner, type Owner, unusedIds } from "../support/isolation-owner.ts";

// Foreign looks exactly like missing. Every field of the printed schema is first shown to answer something to its
// owner; then another tenant's key and another user's key must hear for the owner's ids, word for word, what they hear
// for ids that were never used. A field that is added without a fixture fails here.

const schema = buildSchema();
const paths = fieldPaths(schema);
/** The newest message is one of many, and pictures stand in a user's: what others hold is reached through the log. */
const others = ["System", "Assistant", "Tool", "Agent", "Unreadable"].map((kind) => `${kind}Message.parts`);
const roundabout = fieldPaths(schema, new Set(["Session.lastMessage", ...others]));
/** What no query can show: each with its reason. */
const NEVER_IN_A_QUERY: Readonly<Record<string, string>> = {
  "RunEvent.delta": "deltas are never stored; the subscriptions below show it",
  "UnreadableMessage.parts": "an unreadable message has no parts, by definition",
};
const fixtures: Readonly<Record<FieldPath["operation"], Readonly<Record<string, Arguments>>>> = {
  query: QUERY_ARGUMENTS,
  mutation: MUTATION_ARGUMENTS,
  subscription: SUBSCRIPTION_ARGUMENTS,
};
/** Ways to one field that are compared for strangers; more of them show nothing new. */
const WAYS_PER_FIELD = 3;

interface Way {
  readonly path: FieldPath;
  readonly variant: number;
}

function rootOf(path: FieldPath): string {
  return path.steps[0]?.field ?? "";
}

function waysOf(operation: FieldPath["operation"], ways: readonly FieldPath[], ids: WalkIds): readonly Way[] {
  return ways
    .filter((path) => path.operation === operation)
    .flatMap((path) => (fixtures[operation][rootOf(path)]?.(ids) ?? []).map((_, variant) => ({ path, variant })));
}

function documentFor({ path, variant }: Way, ids: WalkIds): string {
  const given = fixtures[path.operation][rootOf(path)]?.(ids)[variant] ?? null;
  return documentOf(schema, path, given === null ? "" : `(${given})`);
}

/** The answer with every id of the request, every made id, time and cursor replaced: what is left must be equal. */
function normalized(text: string, ids: WalkIds): string {
  const named = Object.entries(ids)
    .sort(([, left], [, right]) => right.length - left.length)
    .reduce((result, [name, id]) => result.replaceAll(id, `<${name}>`), text);
  return named
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/sgw_[\w%.~-]+/g, "<secret>")
    .replace(/"(cursor|startCursor|endCursor)":"[^"]+"/g, '"$1":"<cursor>"');
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += 8) await Promise.all(items.slice(start, start + 8).map(work));
}

describe("every field that a query reaches", () => {
  it("answers its owner, and strangers as if it were not there", async () => {
    const owner = await makeOwner(gateway);
    const other = await gateway.tenant(unusedIds().tenant);
    const never = unusedIds();
    const silent: string[] = [];
    const leaks: string[] = [];
    const fields = [...paths].filter(([, ways]) => ways.some((path) => path.operation === "query"));
    expect(fields.length).toBeGreaterThan(180);
    await inBatches(fields, async ([name, all]) => {
      const shown: Way[] = [];
      for (const way of waysOf("query", [...all, ...(roundabout.get(name) ?? [])], owner.ids)) {
        if (shown.length < WAYS_PER_FIELD && (await answersOwner(owner, way))) shown.push(way);
      }
      if (shown.length === 0) silent.push(name);
      for (const way of shown) {
        for (const key of [other, owner.strangerKey]) {
          const leak = await leakOf(key, way, owner, never);
          if (leak !== null) leaks.push(leak);
        }
      }
    });
    expect(silent).toEqual(Object.keys(NEVER_IN_A_QUERY));
    expect(leaks).toEqual([]);
  }, 120_000);
});

/** What a stranger heard of the owner: another answer than for unused ids, or, unasked, an id of the owner's. */
async function leakOf(key: string, way: Way, owner: Owner, never: WalkIds): Promise<string | null> {
  const [asked, unused] = [documentFor(way, owner.ids), documentFor(way, never)];
  const { text } = await gateway.post(key, asked);
  if (asked === unused) {
    // Another user of the same tenant may know what the tenant is called.
    const { tenant, ...ids } = owner.ids;
    const secrets = key === owner.strangerKey ? Object.values(ids) : [...Object.values(ids), tenant];
    return secrets.some((id) => text.includes(id)) ? `${asked}\n  shows ${text}` : null;
  }
  const foreign = normalized(text, owner.ids);
  const missing = normalized((await gateway.post(key, unused)).text, never);
  return foreign === missing ? null : `${asked}\n  foreign ${foreign}\n  missing ${missing}`;
}

async function answersOwner(owner: Owner, way: Way): Promise<boolean> {
  const document = documentFor(way, owner.ids);
  for (const [key, headers] of [
    [owner.key, {}],
    [owner.userKey, {}],
    [OPERATOR_KEY, { "x-tenant-id": owner.ids.tenant }],
  ] as const) {
    const answer = await gateway.post(key, document, {}, headers);
    if (valuesAt(answer.data, way.path).length > 0) return true;
  }
  return false;
}

/** Where an id can be seen to be taken: the contract says CONFLICT there, to a narrowed key of the same tenant. */
const SHOWS_TAKEN_IDS = new Set(["createSession", "appendMessages", "startRun"]);

describe("every mutation", () => {
  const roots = Object.keys(schema.getMutationType()?.getFields() ?? {});
  it.each(roots)(
    "%s answers its owner, and strangers as if nothing were there; what they did changed nothing",
    async (root) => {
      const owner = await makeOwner(gateway);
      const never = unusedIds();
      const own = [...paths.values()].flat().filter((path) => path.operation === "mutation" && rootOf(path) === root);
      const payload = own.filter((path) => path.steps.length === 2);
      const before = await stateOf(owner);
      for (const way of waysOf("mutation", payload, owner.ids)) {
        const other = await gateway.tenant(unusedIds().tenant);
        for (const key of SHOWS_TAKEN_IDS.has(root) ? [other] : [other, owner.strangerKey]) {
          const foreign = await gateway.post(key, documentFor(way, owner.ids));
          const missing = await gateway.post(key, documentFor(way, never));
          expect(normalized(foreign.text, owner.ids)).toBe(normalized(missing.text, never));
        }
      }
      expect(await stateOf(owner)).toEqual(before);
      await Promise.all(payload.map((path) => showsPayload(path)));
    },
    60_000,
  );

  /** Each on a fresh owner: a mutation works once. */
  async function showsPayload(path: FieldPath): Promise<void> {
    const owner = await makeOwner(gateway);
    if (rootOf(path) === "deleteTenant") {
      const suspend = `mutation { updateTenant(input: { tenantId: "${owner.ids.tenant}", status: SUSPENDED }) { tenant { id } } }`;
      await gateway.post(OPERATOR_KEY, suspend);
    }
    const answers: string[] = [];
    for (const way of waysOf("mutation", [path], owner.ids)) {
      for (const key of [owner.key, OPERATOR_KEY]) {
        const answer = await gateway.post(key, documentFor(way, owner.ids));
        if (valuesAt(answer.data, path).length > 0) return;
        answers.push(answer.text);
      }
    }
    expect.fail(`${rootOf(path)}.${path.steps.at(-1)?.field} shows its owner nothing: ${answers.join("\n")}`);
  }

  it.each([...SHOWS_TAKEN_IDS])("%s says to another user that the id is taken, and nothing more", async (root) => {
    const owner = await makeOwner(gateway);
    const [path] = [...paths.values()].flat().filter((one) => one.operation === "mutation" && rootOf(one) === root);
    const before = await stateOf(owner);
    for (const way of waysOf("mutation", path === undefined ? [] : [path], owner.ids)) {
      const { errors, data } = await gateway.post(owner.strangerKey, documentFor(way, owner.ids));
      expect([data[root], errors.map((error) => error.extensions)]).toEqual([
        null,
        [{ code: "CONFLICT", reason: "ID_TAKEN" }],
      ]);
    }
    expect(await stateOf(owner)).toEqual(before);
  });
});

/** What the owner can see of its data; times of keys aside, which reading them moves. */
async function stateOf(owner: Owner): Promise<unknown> {
  const document = `{ sessions(first: 10) { totalCount nodes { id title userId messageCount updatedAt
    rawMessages(first: 20) { nodes { payload } } snapshots(first: 5) { nodes { id } }
    runs(first: 5) { nodes { id status phase cancelRequestedAt events(first: 1) { totalCount } } } } }
    tenant { name status apiKeys { nodes { id revokedAt } } } }`;
  const { data, errors } = await gateway.post(owner.key, document);
  expect(errors).toEqual([]);
  return data;
}

describe("every subscription", () => {
  const roots = Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
  it.each(roots)(
    "%s answers its owner, and is refused to strangers, or silent, as for an unused id",
    async (root) => {
      const owner = await makeOwner(gateway);
      const never = unusedIds();
      const other = await gateway.tenant(unusedIds().tenant);
      const own = [...paths.values()]
        .flat()
        .filter((path) => path.operation === "subscription" && rootOf(path) === root);
      const near = own.filter((path) => path.steps.length <= 2);
      await inBatches(near, async (path) => {
        for (const way of waysOf("subscription", [path], owner.ids)) {
          await expect(streamShows(owner, way), documentFor(way, owner.ids)).resolves.toBe(true);
        }
      });
      const [first] = near;
      for (const way of waysOf("subscription", first === undefined ? [] : [first], owner.ids)) {
        for (const key of [other, owner.strangerKey]) {
          const foreign = await heard(key, documentFor(way, owner.ids), owner);
          const missing = await heard(key, documentFor(way, never), owner);
          expect(normalized(foreign, owner.ids)).toBe(normalized(missing, never));
        }
      }
    },
    60_000,
  );

  /** Reads events, while things happen in the owner's session, until one shows the field. */
  async function streamShows(owner: Owner, way: Way): Promise<boolean> {
    const stream = await openEventStream(gateway.url, owner.key, documentFor(way, owner.ids));
    try {
      await happen(owner);
      for (let event = 0; event < 60; event++) {
        const { data } = (await stream.next(3_000).catch(() => null)) ?? {};
        if (data === undefined) return false;
        if (valuesAt(data, way.path).length > 0) return true;
      }
      return false;
    } finally {
      stream.close();
    }
  }

  async function heard(key: string, document: string, owner: Owner): Promise<string> {
    const stream = await openEventStream(gateway.url, key, document);
    try {
      await happen(owner);
      return (await stream.isSilent(400)) ? "silence" : JSON.stringify(await stream.next());
    } finally {
      stream.close();
    }
  }

  async function happen({ key, ids }: Owner): Promise<void> {
    const append = `mutation { appendMessages(input: { sessionId: "${ids.session}", messages: [
      { turn: 1, message: { tool: { toolCallId: "c", name: "n", text: "live" } } }] }) { duplicates } }`;
    await gateway.post(key, append);
    const events = `[
      { type: TEXT_DELTA, phase: GENERATING, delta: "d", messageId: "${crypto.randomUUID()}" }
      { type: CUSTOM, phase: GENERATING, name: "n", payload: { p: 1 }, toolCall: { id: "c", name: "n" } }]`;
    const report = `mutation { recordRunEvents(input: { runId: "${ids.run}", events: ${events} }) { run { id } } }`;
    await gateway.post(key, report);
  }
});
