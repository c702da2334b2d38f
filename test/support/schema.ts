import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  getOperationAST,
  parse,
  subscribe,
  validate,
} from "graphql";
import { unavailable } from "../../src/errors.ts";
import type { Feed } from "../../src/events/contract.ts";
import type { GatewayContext } from "../../src/schema/context.ts";
import { toGraphQLError } from "../../src/schema/errors.ts";
import { createLoaders } from "../../src/schema/loaders.ts";
import { buildSchema } from "../../src/schema/schema.ts";
import type { SessionStore } from "../../src/store/contract.ts";
import { SCOPES, type TenantRecord } from "../../src/store/registry-contract.ts";
import { createSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Caller } from "../../src/tenancy/contract.ts";
import { reachOf } from "../../src/tenancy/reach.ts";
import { createUuidFactory } from "../../src/uuid.ts";
import { NO_LIMITS } from "./store.ts";
import { OPERATOR, openTestTenancy, type TestTenancy } from "./tenancy.ts";

export const schema = buildSchema();

/** JSON whose shape the document says; a test reads what it asked for. */
export type Data = ReturnType<typeof JSON.parse>;

export interface Answer {
  /** Plain JSON, as it would go over the wire. */
  readonly data: Data;
  readonly errors: readonly GraphQLError[];
  /** `CODE response.path` of each error. */
  readonly codes: readonly string[];
}

export interface AskOptions {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly caller?: Caller;
  readonly feed?: Feed;
  /** Wraps the caller's store, to watch what it is asked for. */
  readonly wrap?: (store: SessionStore) => SessionStore;
}

/** The schema over one tenant's real file and the real control store, without a server. */
export interface TestApi {
  readonly tenancy: TestTenancy;
  readonly tenant: TenantRecord;
  /** An API key's caller of that tenant with all scopes, or as overridden. */
  caller(change?: Partial<Caller>): Caller;
  operator(named?: boolean): Caller;
  context(options?: AskOptions): GatewayContext;
  ask(document: string, options?: AskOptions): Promise<Answer>;
  /** The stream, or the answer that refuses it. */
  follow(document: string, options?: AskOptions): Promise<AsyncGenerator<Answer> | Answer>;
  dispose(): void;
}

/** Opens a new data folder with one tenant, acme. */
export async function openTestApi(): Promise<TestApi> {
  const tenancy = openTestTenancy();
  const { tenant } = await tenancy.tenant("acme");
  const newUuid = createUuidFactory();
  const use: Parameters<typeof createSqliteStore>[0]["use"] = (work) => tenancy.pool().use(tenant, work);
  const store = createSqliteStore({ use, limits: () => NO_LIMITS, newUuid });
  const note = (message: string) => void tenancy.logged.push(message);
  const log = { debug: note, info: note, warn: note, error: note };
  const caller = (change: Partial<Caller> = {}): Caller => ({
    ...OPERATOR,
    kind: "API_KEY",
    tenant,
    scopes: new Set(SCOPES),
    ...change,
  });
  const context = ({ caller: given, feed, wrap = (inner) => inner }: AskOptions = {}): GatewayContext => {
    const who = given ?? caller();
    const own = who.tenant === null ? null : wrap({ ...noContexts, ...store.within(reachOf(who)) });
    const clock = tenancy.registry().clock;
    return {
      caller: who,
      store: own,
      feed: who.tenant === null ? null : (feed ?? silentFeed),
      tenants: tenancy.tenants(),
      loaders: createLoaders(own),
      clock,
      log,
      requestId: "request-1",
    };
  };
  const answer = (result: ExecutionResult): Answer => {
    const errors = (result.errors ?? []).map((error) => toGraphQLError(error, { requestId: "request-1", log }));
    const codes = errors.map((error) => [error.extensions.code, error.path?.join(".")].filter(Boolean).join(" "));
    return { data: JSON.parse(JSON.stringify(result.data ?? null)), errors, codes };
  };
  const prepared = (document: string, options: AskOptions) => {
    const parsed = parse(document);
    const errors = validate(schema, parsed);
    return { refused: errors.length > 0 ? answer({ errors }) : null, args: argumentsOf(parsed, options) };
  };
  const argumentsOf = (parsed: DocumentNode, options: AskOptions) => ({
    schema,
    document: parsed,
    contextValue: context(options),
    variableValues: options.variables ?? {},
    operationName: getOperationAST(parsed)?.name?.value ?? null,
  });
  return {
    tenancy,
    tenant,
    caller,
    operator: (named = true) => (named ? { ...OPERATOR, tenant } : OPERATOR),
    context,
    async ask(document, options = {}) {
      const { refused, args } = prepared(document, options);
      return refused ?? answer(await execute(args));
    },
    async follow(document, options = {}) {
      const { refused, args } = prepared(document, options);
      if (refused !== null) return refused;
      const result = await subscribe(args);
      if (!(Symbol.asyncIterator in result)) return answer(result);
      return (async function* () {
        for await (const event of result) yield answer(event);
      })();
    },
    dispose: () => tenancy.dispose(),
  };
}

/** For what the store does not carry out yet. */
const missing = async () => {
  throw unavailable("This is still to come.");
};
const noContexts: Pick<
  SessionStore,
  "readContext" | "createSnapshot" | "latestSnapshot" | "listSnapshots" | "rewindSession"
> = {
  readContext: missing,
  createSnapshot: missing,
  latestSnapshot: missing,
  listSnapshots: missing,
  rewindSession: missing,
};

/** A stream of these items that then ends. */
export async function* streamOf<T>(items: readonly T[]): AsyncGenerator<T, undefined> {
  yield* items;
}

export const silentFeed: Feed = {
  rawMessages: async () => streamOf([]),
  sessionChanges: async () => streamOf([]),
  runEvents: async () => streamOf([]),
  session: async () => streamOf([]),
  draft: () => null,
};

/** The extensions of the only error. */
export function onlyError(answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.errors.length !== 1) throw new Error(`${answer.errors.length} errors: ${answer.codes}`);
  return answer.errors[0]?.extensions ?? {};
}
