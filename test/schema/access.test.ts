import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../src/store/registry-contract.ts";
import { SCOPES } from "../../src/store/registry-contract.ts";
import type { Caller } from "../../src/tenancy/contract.ts";
import { documentOf } from "../support/field-paths.ts";
import {
  MUTATION_ARGUMENTS,
  QUERY_ARGUMENTS,
  SUBSCRIPTION_ARGUMENTS,
  type WalkIds,
} from "../support/isolation-fixture.ts";
import { type Data, openTestApi, schema, type TestApi } from "../support/schema.ts";

let api: TestApi;
beforeAll(async () => {
  api = await openTestApi();
});
afterAll(() => api.dispose());

const NAMES_A_TENANT = "An operator names a tenant with the header x-tenant-id.";
type Need = readonly Scope[] | "anyone" | "operator";
const fixtures = { query: QUERY_ARGUMENTS, mutation: MUTATION_ARGUMENTS, subscription: SUBSCRIPTION_ARGUMENTS };

function needOf(operation: keyof typeof fixtures, field: string): Need {
  if (field === "viewer") return "anyone";
  if (field === "tenants" || field.endsWith("Tenant")) return "operator";
  if (operation !== "mutation") return ["READ"];
  if (field === "deleteSession") return ["DELETE"];
  if (field === "deleteUserSessions") return ["DELETE", "ADMIN"];
  return field.endsWith("ApiKey") ? ["ADMIN"] : ["WRITE"];
}

const roots = [
  ["query", schema.getQueryType()],
  ["mutation", schema.getMutationType()],
  ["subscription", schema.getSubscriptionType()],
] as const;
const fields = roots.flatMap(([operation, type]) =>
  Object.keys(type?.getFields() ?? {}).map((field) => ({ operation, field, type: type?.name ?? "" })),
);

const ids = (): WalkIds => ({
  session: crypto.randomUUID(),
  child: crypto.randomUUID(),
  run: crypto.randomUUID(),
  user: "u",
  agent: "a",
  request: "r",
  key: crypto.randomUUID(),
  tenant: "other",
});

/** The code that the caller gets at the root; "accepted" where it is let through to the data. */
async function verdict({ operation, field, type }: (typeof fields)[number], caller: Caller): Promise<string> {
  const args = fixtures[operation][field]?.(ids())[0] ?? null;
  const document = documentOf(schema, { operation, steps: [{ type, field }] }, args === null ? "" : `(${args})`);
  const answer =
    operation === "subscription" ? await api.follow(document, { caller }) : await api.ask(document, { caller });
  if (!("codes" in answer)) return "accepted";
  if (answer.errors[0]?.message === NAMES_A_TENANT) return "BAD_USER_INPUT";
  return answer.codes[0]?.startsWith("FORBIDDEN") ? "FORBIDDEN" : "accepted";
}

describe("who may ask for what", () => {
  it("needs the scopes of every root field, no fewer and no more", async () => {
    expect(fields.length).toBeGreaterThan(28);
    for (const root of fields) {
      const need = needOf(root.operation, root.field);
      for (const left of [[], ...SCOPES.map((scope) => [scope]), ["DELETE", "ADMIN"], SCOPES] as Scope[][]) {
        const may = need === "anyone" || (need !== "operator" && need.every((scope) => left.includes(scope)));
        const got = await verdict(root, api.caller({ scopes: new Set(left) }));
        expect(`${root.field} with ${left}: ${got}`).toBe(
          `${root.field} with ${left}: ${may ? "accepted" : "FORBIDDEN"}`,
        );
      }
    }
  });

  it("lets an operator who named no tenant ask for viewer and tenants alone", async () => {
    for (const root of fields) {
      const need = needOf(root.operation, root.field);
      const expected = need === "anyone" || need === "operator" ? "accepted" : "BAD_USER_INPUT";
      // deleteTenant refuses an active tenant, and the one of the walk is there by then.
      const got = root.field === "deleteTenant" ? "accepted" : await verdict(root, api.operator(false));
      expect(`${root.field}: ${got}`).toBe(`${root.field}: ${expected}`);
    }
  });

  it("lets an operator who named a tenant do everything in it", async () => {
    for (const root of fields.filter(({ field }) => field !== "deleteTenant")) {
      expect(`${root.field}: ${await verdict(root, api.operator())}`).toBe(`${root.field}: accepted`);
    }
  });

  it("reads nothing for a key that may only write", async () => {
    const caller = api.caller({ scopes: new Set(["WRITE"]) });
    const messages = 'messages: [{ message: { user: { text: "x" } } }]';
    const written = await api.ask(
      `mutation { appendMessages(input: { sessionId: "w", ${messages} }) {
        session { id lastSequence lastMessage { text } children { totalCount } runs { totalCount } latestRun { id } }
      } }`,
      { caller },
    );
    expect(written.codes).toContain("FORBIDDEN appendMessages.session.children");
    const small = await api.ask(
      `mutation { appendMessages(input: { sessionId: "w", ${messages} }) {
        session { id lastSequence lastMessage { text } latestRun { id } activeRun { id } parent { id } } messages { text session { id } }
      } }`,
      { caller },
    );
    expect(small.data.appendMessages.session).toMatchObject({ lastSequence: 2, lastMessage: null });
    expect(small.data.appendMessages.messages).toEqual([{ text: "x", session: null }]);
    expect(new Set(small.codes.map((line) => line.split(" ")[0]))).toEqual(new Set(["FORBIDDEN"]));
    const rewound = await api.ask(
      `mutation { rewindSession(input: { sessionId: "w", throughSequence: 0, expectedLastSequence: 2 }) { removed { text } } }`,
      { caller },
    );
    expect(rewound.codes).toEqual(["FORBIDDEN rewindSession"]);
  });
});

describe("what the tenant shows", () => {
  const document = "{ tenant { id usage { sessionCount } limits { maxSessions } apiKeys { totalCount } } }";

  it("hides usage, limits and keys from a credential of one end user", async () => {
    const caller = api.caller({ userId: "u1" as Caller["userId"], scopes: new Set(["READ"]) });
    const { data, codes } = await api.ask(document, { caller });
    expect(data.tenant).toEqual({ id: "acme", usage: null, limits: null, apiKeys: null });
    expect(codes).toEqual(["FORBIDDEN tenant.apiKeys"]);
    const administrator = await api.ask(document, { caller: { ...caller, scopes: new Set(SCOPES) } });
    expect(administrator.codes).toEqual(["FORBIDDEN tenant.apiKeys"]);
  });

  it("shows administrators all of it, and an operator the keys of every tenant", async () => {
    const { data, codes } = await api.ask(document);
    expect(codes).toEqual([]);
    expect(data.tenant).toMatchObject({
      id: "acme",
      limits: { maxSessions: 1000 },
      apiKeys: { totalCount: expect.any(Number) },
    });
    const all = await api.ask("{ tenants { nodes { id apiKeys(first: 0) { totalCount } } } }", {
      caller: api.operator(false),
    });
    expect(all.codes).toEqual([]);
    expect(all.data.tenants.nodes[0]).toMatchObject({ id: "acme" });
  });

  it("never shows one tenant's usage as another's", async () => {
    await api.tenancy.tenant("empty");
    const { data, codes } = await api.ask("{ tenants { nodes { id usage { sessionCount } } } }", {
      caller: api.operator(),
    });
    const usage = Object.fromEntries(data.tenants.nodes.map((node: Data) => [node.id, node.usage]));
    expect(usage.acme.sessionCount).toBeGreaterThan(0);
    expect(usage.empty).toBeNull();
    expect(codes[0]).toMatch(/^BAD_USER_INPUT tenants\.nodes\.\d\.usage$/);
  });
});

describe("keys", () => {
  it("lets any key revoke itself, and no other", async () => {
    const { tenant } = api;
    const made = await api.tenancy.tenants().createKey(tenant.id, {}, api.operator());
    const caller = api.caller({ keyId: made.key.id, scopes: new Set(["READ"]) });
    const revoke = (id: string) =>
      api.ask(`mutation { revokeApiKey(input: { apiKeyId: "${id}" }) { apiKey { id revokedAt } } }`, { caller });
    const other = await api.tenancy.tenants().createKey(tenant.id, {}, api.operator());
    expect((await revoke(other.key.id)).codes).toEqual(["FORBIDDEN revokeApiKey"]);
    const own = await revoke(made.key.id);
    expect(own.data.revokeApiKey.apiKey).toMatchObject({ id: made.key.id, revokedAt: expect.any(String) });
  });

  it("shows a new key's secret once, and names the input that is refused", async () => {
    const document = `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id scopes } } }`;
    const made = await api.ask(document, { variables: { input: { id: "k1", scopes: ["READ", "WRITE"] } } });
    expect(made.data.createApiKey).toMatchObject({
      secret: expect.stringMatching(/^sgw_k1_/),
      apiKey: { id: "k1", scopes: ["READ", "WRITE"] },
    });
    const refused = await api.ask(document, { variables: { input: { userId: "u", scopes: ["ADMIN"] } } });
    expect(refused.codes).toEqual(["BAD_USER_INPUT createApiKey"]);
    expect(refused.errors[0]?.extensions.field).toEqual(["input", expect.any(String)]);
  });
});
