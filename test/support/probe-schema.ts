import { buildSchema, type GraphQLSchema } from "graphql";
import { badInput, forbidden } from "../../src/errors.ts";
import type { Caller } from "../../src/tenancy/contract.ts";

const SDL = /* GraphQL */ `
  scalar Json
  type Item { id: ID!, name: String!, items(first: Int, last: Int): ItemConnection! }
  type ItemConnection { nodes: [Item!]!, totalCount: Int! }
  type Query {
    hello: String!
    tenant: String
    slow: String!
    refused: String
    broken: String
    echo(value: Json): Json
    items(first: Int, last: Int): ItemConnection!
    item: Item!
    takes(number: Int!): Int!
  }
  type Mutation { append(text: String!): Int! }
  type Subscription {
    "Every value that the test pushes."
    pushed: Int!
    count(to: Int!): Int!
    fails: Int!
    refusedAtOnce: Int!
    large: String!
  }
`;

/** What the test and the schema share. */
export interface Probe {
  readonly appended: string[];
  /** Resolves each slow field that waits. */
  readonly slow: (() => void)[];
  readonly pushed: Pushed;
  answers: number;
  /** Context values that were seen, newest last. */
  readonly contexts: object[];
}

interface ProbeContext {
  readonly caller: Caller;
  readonly probe: Probe;
  readonly ended: AbortSignal | null;
}

interface Pushed {
  push(value: number): void;
  readonly listeners: number;
  iterate(): AsyncGenerator<{ readonly pushed: number }, void, void>;
}

export function createProbeSchema(): { readonly schema: GraphQLSchema; readonly probe: Probe } {
  const schema = buildSchema(SDL);
  const probe: Probe = { appended: [], slow: [], pushed: createPushed(), answers: 0, contexts: [] };
  resolve(schema, "Query", {
    hello: (_args, context) => {
      probe.contexts.push(context);
      return "world";
    },
    tenant: (_args, { caller }) => caller.tenant?.id ?? null,
    slow: () => new Promise((done) => void probe.slow.push(() => done("slow"))),
    refused: () => {
      throw badInput(["input", "text"], "This text can't be taken.");
    },
    broken: () => {
      throw new Error("SQLITE_FULL at /var/lib/gateway/acme.sqlite");
    },
    echo: ({ value }) => value,
    items: () => ({ nodes: [], totalCount: 0 }),
    item: () => ({ id: "1", name: "one", items: { nodes: [], totalCount: 0 } }),
    takes: ({ number }) => number,
  });
  resolve(schema, "Mutation", {
    append: ({ text }, { caller }) => {
      if (!caller.scopes.has("WRITE")) throw forbidden("This key may not write.");
      return probe.appended.push(String(text));
    },
  });
  listen(schema, {
    pushed: () => probe.pushed.iterate(),
    count: async function* ({ to }) {
      for (let count = 1; count <= Number(to); count++) yield { count };
    },
    fails: async function* () {
      yield { fails: 1 };
      throw new Error("database disk image is malformed: /data/acme.sqlite");
    },
    refusedAtOnce: () => {
      throw badInput(["afterSequence"], "That is beyond the last.");
    },
    large: async function* () {
      for (;;) yield { large: "x".repeat(100_000) };
    },
  });
  return { schema, probe };
}

type Resolver = (args: Readonly<Record<string, unknown>>, context: ProbeContext) => unknown;

function resolve(schema: GraphQLSchema, type: "Query" | "Mutation", resolvers: Readonly<Record<string, Resolver>>) {
  const fields = (type === "Query" ? schema.getQueryType() : schema.getMutationType())?.getFields() ?? {};
  for (const [name, resolver] of Object.entries(resolvers)) {
    const field = fields[name];
    if (field !== undefined) field.resolve = (_source, args, context) => resolver(args, context);
  }
}

function listen(schema: GraphQLSchema, resolvers: Readonly<Record<string, Resolver>>) {
  const fields = schema.getSubscriptionType()?.getFields() ?? {};
  for (const [name, resolver] of Object.entries(resolvers)) {
    const field = fields[name];
    if (field !== undefined) field.subscribe = (_source, args, context) => resolver(args, context);
  }
}

function createPushed(): Pushed {
  const queues = new Set<{ values: number[]; wake: () => void }>();
  return {
    get listeners() {
      return queues.size;
    },
    push(value) {
      for (const queue of queues) {
        queue.values.push(value);
        queue.wake();
      }
    },
    iterate() {
      const queue = { values: [] as number[], wake: () => {} };
      queues.add(queue);
      const done = { done: true as const, value: undefined };
      const stop = async () => {
        queues.delete(queue);
        queue.wake();
        return done;
      };
      return {
        async next() {
          while (queue.values.length === 0) {
            if (!queues.has(queue)) return done;
            await new Promise<void>((wake) => {
              queue.wake = wake;
            });
          }
          return { done: false, value: { pushed: queue.values.shift() ?? 0 } };
        },
        return: stop,
        throw: stop,
        [Symbol.asyncIterator]() {
          return this;
        },
        async [Symbol.asyncDispose]() {
          await stop();
        },
      };
    },
  };
}
