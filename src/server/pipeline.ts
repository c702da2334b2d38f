import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  type OperationTypeNode,
  parse,
  subscribe,
  validate,
} from "graphql";
import { createYoga, type Plugin } from "graphql-yoga";
import { GatewayError, rateLimited } from "../errors.ts";
import type { Caller } from "../tenancy/contract.ts";
import { createDocumentCache } from "./document-cache.ts";
import { scanDocument } from "./document-limits.ts";
import { guardStream, type ResultStream } from "./guarded-stream.ts";
import { fragmentsOf, rootFieldCount, shapeProblem } from "./operation-limits.ts";
import type { ServerParts } from "./parts.ts";
import { checkRows } from "./row-cost.ts";

/** Wait before a tenant that has all its subscriptions open should try again. */
const SUBSCRIPTION_RETRY_SECONDS = 5;

/** GraphQL parameters of one operation, their types checked. */
export interface OperationParams {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>> | null;
}

/** Who asks, through whichever door. */
export interface Asker {
  readonly caller: Caller;
  readonly requestId: string;
}

/** An operation that may run. A result without `data` was refused before execution. */
export interface PreparedOperation {
  readonly kind: "ready";
  readonly type: OperationTypeNode;
  readonly args: ExecutionArgs;
  run(): Promise<ExecutionResult | ResultStream>;
}
/** Refused by the document alone; `plain` where GraphQL itself refuses it, so that any GraphQL server would. */
export interface RefusedOperation {
  readonly kind: "refused";
  readonly errors: readonly GraphQLError[];
  readonly plain: boolean;
}

/** Everything that happens to an operation, the same behind every door: limits, caches, rate, context, masking. */
export interface Pipeline {
  prepare(params: OperationParams, asker: Asker): PreparedOperation | RefusedOperation;
  /** Live subscriptions of all tenants. */
  readonly subscriptions: number;
}

/** One pipeline per server; the doors call it, nothing of HTTP is known in it. */
export function createPipeline(parts: ServerParts): Pipeline {
  const streams = createStreamCount(parts.config.subscriptionsPerTenantMax);
  const { getEnveloped } = createYoga<object, { readonly asker: Asker }>({
    schema: parts.schema,
    plugins: [limitsPlugin(parts), executionPlugin(parts, streams)],
    // Done once, with our own bounds, by the plugins.
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  const wire = (error: unknown, asker: Asker) => parts.toGraphQLError(error, asker.requestId);
  return {
    get subscriptions() {
      return streams.total;
    },
    prepare({ query, operationName, variables }, asker) {
      const refuse = (errors: readonly unknown[]): RefusedOperation => ({
        kind: "refused",
        errors: errors.map((error) => wire(error, asker)),
        plain: errors.every((error) => error instanceof GraphQLError && !isOurs(error)),
      });
      const enveloped = getEnveloped({ asker });
      try {
        const document: DocumentNode = enveloped.parse(query);
        const errors: readonly GraphQLError[] = enveloped.validate(parts.schema, document);
        if (errors.length > 0) return refuse(errors);
        const operation = getOperationAST(document, operationName);
        if (operation === undefined || operation === null) {
          return refuse([new GraphQLError("operationName must name an operation of the document.")]);
        }
        checkRows(parts.schema, operation, fragmentsOf(document), variables ?? {}, parts.config.rowsMax);
        const args: ExecutionArgs = {
          ...{ schema: parts.schema, document, operationName, variableValues: variables },
          contextValue: { asker },
        };
        const start = operation.operation === "subscription" ? enveloped.subscribe : enveloped.execute;
        return { kind: "ready", type: operation.operation, args, run: async () => start(args) };
      } catch (error) {
        return refuse([error]);
      }
    },
  };
}

function isOurs(error: GraphQLError): boolean {
  return error.originalError instanceof GatewayError;
}

/** Bounds before and after parsing, with one cache for the documents and one for what validation said of them. */
function limitsPlugin({ config }: ServerParts): Plugin {
  const documents = createDocumentCache();
  const verdicts = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string) => {
        const known = documents.get(source);
        if (known !== undefined) return known;
        const tokens = scanDocument(source, config);
        const document = parse(source, { maxTokens: config.tokensMax });
        documents.add(source, document, tokens);
        return document;
      });
    },
    onValidate({ setValidationFn }) {
      setValidationFn((schema: ServerParts["schema"], document: DocumentNode) => {
        const known = verdicts.get(document);
        if (known !== undefined) return known;
        const problem = shapeProblem(document, config);
        const errors =
          problem === null
            ? validate(schema, document)
            : [new GraphQLError(problem.message, { originalError: problem })];
        verdicts.set(document, errors);
        return errors;
      });
    },
  };
}

/** Rate, context and masking around GraphQL's own execute and subscribe. */
function executionPlugin(parts: ServerParts, streams: StreamCount): Plugin<{ readonly asker: Asker }> {
  const admit = (args: ExecutionArgs, asker: Asker) => {
    const operation = getOperationAST(args.document, args.operationName);
    if (operation === undefined || operation === null) return;
    parts.spend(asker.caller, rootFieldCount(operation, fragmentsOf(args.document)));
  };
  const masked = (result: ExecutionResult, { requestId }: Asker): ExecutionResult =>
    result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => parts.toGraphQLError(error, requestId)) };
  const refused = (error: unknown, { requestId }: Asker): ExecutionResult => ({
    errors: [parts.toGraphQLError(error, requestId)],
  });
  return {
    onExecute({ setExecuteFn, context: { asker } }) {
      setExecuteFn(async (args: ExecutionArgs): Promise<ExecutionResult> => {
        try {
          admit(args, asker);
          const contextValue = parts.contextFor(asker.caller, asker.requestId, null);
          return masked(await execute({ ...args, contextValue }), asker);
        } catch (error) {
          return refused(error, asker);
        }
      });
    },
    onSubscribe({ setSubscribeFn, context: { asker } }) {
      setSubscribeFn(async (args: ExecutionArgs): Promise<ExecutionResult | ResultStream> => {
        let leave = () => {};
        try {
          admit(args, asker);
          leave = enter(asker.caller, parts, streams);
          const watch = parts.authenticator.watch(asker.caller);
          const leaveCount = leave;
          leave = () => {
            watch.release();
            leaveCount();
          };
          const contextValue = parts.contextFor(asker.caller, asker.requestId, watch.ended);
          const stream = await subscribe({ ...args, contextValue });
          if (!(Symbol.asyncIterator in stream)) {
            leave();
            return masked(stream, asker);
          }
          return guardStream(stream, {
            ended: watch.ended,
            asResult: (error) => refused(error, asker),
            eachResult: (result) => {
              parts.afterResponse();
              return masked(result, asker);
            },
            onEnd: leave,
          });
        } catch (error) {
          leave();
          return refused(error, asker);
        }
      });
    },
  };
}

function enter(caller: Caller, parts: ServerParts, streams: StreamCount): () => void {
  const leave = streams.enter(caller.tenant?.id ?? "");
  if (leave !== null) return leave;
  throw rateLimited(
    `A tenant has at most ${parts.config.subscriptionsPerTenantMax} subscriptions at once.`,
    SUBSCRIPTION_RETRY_SECONDS,
  );
}

interface StreamCount {
  /** How to leave again; null where the tenant has as many as it may. */
  enter(tenant: string): (() => void) | null;
  readonly total: number;
}

function createStreamCount(perTenantMax: number): StreamCount {
  const counts = new Map<string, number>();
  return {
    get total() {
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
    enter(tenant) {
      const count = counts.get(tenant) ?? 0;
      if (count >= perTenantMax) return null;
      counts.set(tenant, count + 1);
      return () => {
        const left = (counts.get(tenant) ?? 1) - 1;
        if (left === 0) counts.delete(tenant);
        else counts.set(tenant, left);
      };
    },
  };
}
