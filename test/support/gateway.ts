import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, readConfig } from "../../src/config.ts";
import { createGateway, type Gateway } from "../../src/gateway.ts";
import { type Log, silentLog } from "../../src/log.ts";
import type { TimeSource } from "../../src/time.ts";
import { createUuidFactory } from "../../src/uuid.ts";

export const OPERATOR_KEY = "the-operator-key-of-the-tests-0123456789";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly data: any;
  readonly errors: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
  }[];
  readonly text: string;
  readonly headers: Headers;
}

/** A gateway in this process, over real sockets and files in a folder of its own. */
export interface TestGateway {
  readonly url: string;
  readonly folder: string;
  readonly gateway: Gateway;
  /** Posts an operation with a key, or with none. */
  post(
    key: string | null,
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Makes a tenant by the operator; gives a key of it with every scope. */
  tenant(id: string, limits?: Readonly<Record<string, number>>): Promise<string>;
  /** Makes a key of the tenant; gives its secret. */
  key(tenantId: string, input?: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly flags?: Readonly<Record<string, string>>;
  readonly log?: Log;
  readonly descriptorLimit?: number;
  /** The gateway's time, where a test moves it. */
  readonly time?: TimeSource;
  /** A folder that outlives the gateway; the test removes it. */
  readonly folder?: string;
}

/** Starts one on a free port. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "gateway-"));
  const config = configOf(folder, options.flags ?? {});
  const gateway = createGateway({
    config,
    operatorKey: OPERATOR_KEY,
    descriptorLimit: options.descriptorLimit ?? 1_024,
    time: options.time ?? { wall: Date.now, monotonic: () => performance.now() },
    newUuid: createUuidFactory(),
    log: options.log ?? silentLog,
  });
  const address = await gateway.listen();
  const url = `http://${address.host}:${address.port}/graphql`;
  const post: TestGateway["post"] = (key, query, variables = {}, headers = {}) =>
    postTo(url, key, JSON.stringify({ query, variables }), headers);
  const key: TestGateway["key"] = async (tenantId, input = {}) => {
    const document = "mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }";
    const { data, text } = await post(OPERATOR_KEY, document, { input }, { "x-tenant-id": tenantId });
    if (!data?.createApiKey) throw new Error(text);
    return data.createApiKey.secret;
  };
  return {
    ...{ url, folder, gateway, post, key },
    async tenant(id, limits) {
      const document = "mutation ($input: CreateTenantInput!) { createTenant(input: $input) { tenant { id } } }";
      const { data, text } = await post(OPERATOR_KEY, document, { input: { id, name: `Tenant ${id}`, limits } });
      if (!data?.createTenant) throw new Error(text);
      return key(id, { scopes: ["READ", "WRITE", "DELETE", "ADMIN"] });
    },
    async close() {
      await gateway.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configOf(folder: string, flags: Readonly<Record<string, string>>): Config {
  const given = Object.entries({ port: "0", "data-dir": folder, grace: "2", ...flags });
  return readConfig({ flags: new Map(given.map(([flag, value]) => [flag, [value]])), environment: {} });
}

/** Posts a body as it is. */
export async function postTo(
  url: string,
  key: string | null,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization, ...headers },
    body,
  });
  const text = await response.text();
  const { data = null, errors = [] } = JSON.parse(text);
  return { status: response.status, data, errors, text, headers: response.headers };
}
