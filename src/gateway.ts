import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, parse, validate } from "graphql";
import type { Config } from "./config.ts";
import { type DataFolder, openDataFolder } from "./data-folder.ts";
import { createDrafts } from "./events/drafts.ts";
import { createFeed } from "./events/feed.ts";
import { publishing } from "./events/publishing.ts";
import type { Log } from "./log.ts";
import type { GatewayContext } from "./schema/context.ts";
import { toGraphQLError } from "./schema/errors.ts";
import { createLoaders } from "./schema/loaders.ts";
import { buildSchema } from "./schema/schema.ts";
import { createGatewayServer } from "./server/server.ts";
import type { SessionStore } from "./store/contract.ts";
import { MESSAGE_ROLES, type TenantUsage } from "./store/model.ts";
import { createReadBudget } from "./store/read-budget.ts";
import type { TenantRecord } from "./store/registry-contract.ts";
import { createAuthenticator } from "./tenancy/authenticate.ts";
import type { Authenticator, Caller, Tenants } from "./tenancy/contract.ts";
import { createJwtVerifier, type JwtVerifier } from "./tenancy/jwt.ts";
import { createLimiter } from "./tenancy/limits.ts";
import { connectionLimit, poolLimit } from "./tenancy/pool.ts";
import { reachOf } from "./tenancy/reach.ts";
import type { Clock, TimeSource } from "./time.ts";
import type { UuidFactory } from "./uuid.ts";

/** What the process hands in: everything that comes from outside. */
export interface GatewayParts {
  readonly config: Config;
  readonly operatorKey: string;
  /** Files and sockets that the process may have open. */
  readonly descriptorLimit: number;
  readonly time: TimeSource;
  readonly newUuid: UuidFactory;
  readonly log: Log;
}

/** The gateway, wired. One process holds one data folder. */
export interface Gateway {
  readonly tenants: Tenants;
  /** Finishes what a crash cut: tenants half made or half deleted. */
  resume(): Promise<void>;
  /** Resumes, then serves. */
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>;
  /** Carries out an operation as the operator, for a tenant where one is named, without a socket. */
  execute(
    document: string,
    variables: Readonly<Record<string, unknown>>,
    tenantId: string | null,
  ): Promise<ExecutionResult>;
  /** Answers what is in flight, ends streams, checkpoints and closes every file. */
  close(): Promise<void>;
}

/** Wires the parts, from the data folder up to the server; `close` lets go of them in reverse order. */
export function createGateway(parts: GatewayParts): Gateway {
  const { config, log, newUuid } = parts;
  const openDatabases = poolLimit(config.openDatabasesMax, parts.descriptorLimit);
  const data = openDataFolder({ config, openDatabases, time: parts.time, newUuid, log });
  const { clock, bus } = data;
  const jwt = jwtOf(config, clock);
  const authenticator = createAuthenticator({
    ...{ registry: data.registry, bus, clock, jwt, log },
    operatorKey: parts.operatorKey,
  });
  const schema = buildSchema();
  const contextFor = contextFactory(data, log);
  const limiter = createLimiter({ clock });
  let isReady = false;
  const server = createGatewayServer({
    ...{ schema, authenticator, contextFor, clock, log, newUuid },
    toGraphQLError: (error, requestId) => toGraphQLError(error, { requestId, log }),
    spend(caller, rootFields) {
      if (caller.tenant !== null && caller.kind !== "OPERATOR") limiter.spend(caller.tenant, rootFields);
    },
    afterResponse: () => data.trim(),
    ready: () => isReady,
    config: {
      ...config,
      connectionsMax: Math.min(config.connectionsMax, connectionLimit(parts.descriptorLimit, openDatabases)),
    },
  });
  const local = localOperator({ schema, authenticator, contextFor, newUuid, log, operatorKey: parts.operatorKey });
  return {
    tenants: data.tenants,
    execute: local,
    resume: () => data.resume(),
    async listen() {
      await data.resume();
      const address = await server.listen();
      isReady = true;
      void data.sweep().catch((error: unknown) => log.warn("the sweep ended early", { error: String(error) }));
      return address;
    },
    async close() {
      isReady = false;
      await server.close();
      data.close();
    },
  };
}

function jwtOf(config: Config, clock: Clock): JwtVerifier | null {
  const { jwksUrl, jwtSecret, jwtIssuer, jwtAudience } = config;
  if (jwtIssuer === null || jwtAudience === null) return null;
  if (jwksUrl === null && jwtSecret === null) return null;
  return createJwtVerifier({
    source: jwksUrl === null ? { kind: "secret", secret: jwtSecret ?? "" } : { kind: "jwks", url: jwksUrl },
    issuer: jwtIssuer,
    audience: jwtAudience,
    algorithms: config.jwtAlgorithms.length === 0 ? undefined : config.jwtAlgorithms,
    claims: { tenant: config.jwtTenantClaim, scopes: config.jwtScopesClaim, user: config.jwtUserClaim },
    clock,
  });
}

type ContextFor = (caller: Caller, requestId: string, ended: AbortSignal | null) => GatewayContext;

/** One context an operation: its own read budget, its own loaders, and the store as this caller reaches it. */
function contextFactory(data: DataFolder, log: Log): ContextFor {
  const drafts = createDrafts();
  const usageOf = (tenant: TenantRecord): Promise<TenantUsage> =>
    data.storeOf(tenant).within(WHOLE_REACH).tenantUsage();
  return (caller, requestId, ended) => {
    const { tenant } = caller;
    const base = { caller, tenants: data.tenants, clock: data.clock, log, requestId };
    if (tenant === null) return { ...base, store: null, feed: null, loaders: createLoaders(null, usageOf) };
    const budget = createReadBudget();
    const reach = reachOf(caller);
    const voice = { bus: data.bus, tenantId: tenant.id, drafts };
    const store: SessionStore = publishing(data.storeOf(tenant).within(reach, budget), voice);
    const feed = createFeed({ store, reach, budget, ended, log, clock: data.clock, ...voice });
    return { ...base, store, feed, loaders: createLoaders(store, usageOf) };
  };
}

const WHOLE_REACH = {
  userId: null,
  visibleRoles: new Set(MESSAGE_ROLES),
  writableRoles: new Set(MESSAGE_ROLES),
};

/** Operations of the command line where no server runs: the API itself, without a socket. */
function localOperator(parts: {
  readonly schema: GraphQLSchema;
  readonly authenticator: Authenticator;
  readonly contextFor: ContextFor;
  readonly newUuid: UuidFactory;
  readonly log: Log;
  readonly operatorKey: string;
}): Gateway["execute"] {
  return async (text, variables, tenantId) => {
    const requestId = parts.newUuid();
    try {
      const document: DocumentNode = parse(text);
      const problems = validate(parts.schema, document);
      if (problems.length > 0) return { errors: problems };
      const caller = await parts.authenticator.authenticate({
        authorization: `Bearer ${parts.operatorKey}`,
        tenantIds: tenantId === null ? [] : [tenantId],
      });
      const contextValue = parts.contextFor(caller, requestId, null);
      const result = await execute({ schema: parts.schema, document, variableValues: variables, contextValue });
      const errors = result.errors?.map((error) => toGraphQLError(error, { requestId, log: parts.log }));
      return errors === undefined ? result : { ...result, errors };
    } catch (error) {
      return { errors: [toGraphQLError(error, { requestId, log: parts.log })] };
    }
  };
}
