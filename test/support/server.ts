import { type ExecutionResult, GraphQLError, type GraphQLSchema } from "graphql";
import { afterEach } from "vitest";
import { readConfig } from "../../src/config.ts";
import { badInput, forbidden, GatewayError, notFound, rateLimited, unauthenticated } from "../../src/errors.ts";
import { type Log, type LogFields, silentLog } from "../../src/log.ts";
import type { ServerConfig, ServerParts } from "../../src/server/parts.ts";
import { createGatewayServer, type GatewayServer } from "../../src/server/server.ts";
import type { TenantId } from "../../src/store/model.ts";
import type { Scope, TenantRecord } from "../../src/store/registry-contract.ts";
import type { Authenticator, Caller, Credentials } from "../../src/tenancy/contract.ts";
import { createClock, instant } from "../../src/time.ts";
import { createUuidFactory } from "../../src/uuid.ts";
import { createProbeSchema, type Probe } from "./probe-schema.ts";

/** A server over the probe schema, on a free port, with keys that the test can revoke. */
export interface ProbeServer {
  readonly url: string;
  readonly graphql: string;
  readonly webSocket: string;
  readonly port: number;
  readonly server: GatewayServer;
  readonly probe: Probe;
  readonly logged: readonly { readonly message: string; readonly fields: LogFields | undefined }[];
  /** Ends the credential of this key, as a revocation does. */
  kill(key: string, error: GatewayError): void;
  /** Watches that were not released yet. */
  watches(): number;
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  ask(body: { readonly query: string; readonly variables?: unknown }): Promise<ExecutionResult>;
  close(): Promise<void>;
}

export const KEY = "Bearer writer";
export const READ_KEY = "Bearer reader";

const running: ProbeServer[] = [];

/** Closes what a test started; call it once at the top of a test file. */
export function closeServersAfterEach(): void {
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
  });
}

export interface ProbeOptions {
  readonly config?: Partial<ServerConfig>;
  readonly budget?: number;
  readonly ready?: () => boolean;
  readonly schema?: GraphQLSchema;
}

export async function startServer(options: ProbeOptions = {}): Promise<ProbeServer> {
  const { schema, probe } = createProbeSchema();
  const { authenticator, kill, watches } = standInAuthenticator();
  const logged: { message: string; fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields) => void logged.push({ message, fields });
  const log: Log = { ...silentLog, warn: note, error: note };
  const parts: ServerParts = {
    ...{ schema: options.schema ?? schema, authenticator, log, newUuid: createUuidFactory() },
    clock: createClock({ wall: Date.now, monotonic: () => performance.now() }),
    contextFor: (caller, requestId, ended) => ({ caller, requestId, ended, probe }),
    toGraphQLError: standInMasking,
    spend: standInLimiter(options.budget ?? Number.POSITIVE_INFINITY),
    afterResponse: () => {
      probe.answers++;
    },
    ready: options.ready ?? (() => true),
    config: testConfig(options.config),
  };
  const server = createGatewayServer(parts);
  const { url, port } = await server.listen();
  const graphql = `${url}/graphql`;
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(graphql, {
      method: "POST",
      headers: { authorization: KEY, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const started: ProbeServer = {
    ...{ url, graphql, port, server, probe, logged, kill, watches, post, close: server.close },
    webSocket: graphql.replace("http", "ws"),
    ask: async (body) => JSON.parse(await (await post(body)).text()),
  };
  running.push(started);
  return started;
}

/** Defaults, on a free port, with a short grace time. */
export function testConfig(changes: Partial<ServerConfig> = {}): ServerConfig {
  return { ...readConfig({ flags: new Map(), environment: {} }), port: 0, graceSeconds: 1, ...changes };
}

function standInMasking(error: unknown, requestId: string): GraphQLError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const place = error instanceof GraphQLError ? { nodes: error.nodes ?? null, path: error.path ?? null } : {};
  if (original instanceof GatewayError) {
    const extensions = { code: original.code, ...original.details };
    return new GraphQLError(original.message, { ...place, extensions });
  }
  if (original instanceof GraphQLError) {
    return new GraphQLError(original.message, { ...place, extensions: { code: "BAD_USER_INPUT" } });
  }
  const extensions = { code: "INTERNAL_SERVER_ERROR", requestId };
  return new GraphQLError("Something went wrong.", { ...place, extensions });
}

function standInLimiter(budget: number): ServerParts["spend"] {
  const spent = new Map<string, number>();
  return ({ tenant }, rootFields) => {
    const id = tenant?.id ?? "";
    const total = (spent.get(id) ?? 0) + rootFields;
    if (total > budget) throw rateLimited("Too many requests.", 7);
    spent.set(id, total);
  };
}

const SCOPES_OF_KEY: Readonly<Record<string, { tenant: string | null; scopes: readonly Scope[] }>> = {
  writer: { tenant: "acme", scopes: ["READ", "WRITE"] },
  reader: { tenant: "acme", scopes: ["READ"] },
  globex: { tenant: "globex", scopes: ["READ", "WRITE"] },
  operator: { tenant: null, scopes: ["READ", "WRITE", "DELETE", "ADMIN"] },
};

function standInAuthenticator() {
  const dead = new Map<string, GatewayError>();
  const watching = new Map<AbortController, string>();
  const authenticate = async ({ authorization, tenantIds }: Credentials): Promise<Caller> => {
    const name = authorization?.replace(/^Bearer /, "") ?? "";
    const key = SCOPES_OF_KEY[name];
    const ended = dead.get(name);
    if (ended !== undefined) throw ended;
    if (key === undefined) throw unauthenticated();
    if (tenantIds.length > 0 && key.tenant !== null) throw forbidden("Only an operator names a tenant.");
    if (tenantIds.length > 1) throw badInput([], "Name one tenant.");
    if (tenantIds[0] === "nowhere") throw notFound("tenant");
    const tenant = key.tenant ?? tenantIds[0] ?? null;
    return {
      kind: key.tenant === null ? "OPERATOR" : "API_KEY",
      tenant: tenant === null ? null : tenantRecord(tenant),
      ...{ scopes: new Set(key.scopes), userId: null, keyId: name as Caller["keyId"], expiresAt: null },
      ...{ visibleRoles: new Set(), writableRoles: new Set() },
    };
  };
  const authenticator: Authenticator = {
    authenticate,
    watch(caller) {
      const controller = new AbortController();
      watching.set(controller, caller.keyId ?? "");
      const ended = dead.get(caller.keyId ?? "");
      if (ended !== undefined) controller.abort(ended);
      return { ended: controller.signal, release: () => void watching.delete(controller) };
    },
  };
  const kill = (key: string, error: GatewayError) => {
    dead.set(key, error);
    for (const [controller, name] of watching) if (name === key) controller.abort(error);
  };
  return { authenticator, kill, watches: () => watching.size };
}

function tenantRecord(id: string): TenantRecord {
  const limits = { maxSessions: null, maxMessages: null, maxBytes: null, requestsPerMinute: null };
  return { id: id as TenantId, generation: 1, name: null, state: "ACTIVE", limits, createdAt: instant(0) };
}
