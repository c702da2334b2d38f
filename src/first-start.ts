import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "./errors.ts";
import type { Gateway } from "./gateway.ts";

const OPERATOR_KEY_FILE = "operator.key";
const DEFAULT_KEY_FILE = "default.key";
const DEFAULT_TENANT = "default";
const OPERATOR_KEY_BYTES = 32;

/** The operator's key: the configured one, else what the data folder holds, else a new one kept there from now on. */
export interface OperatorKey {
  readonly key: string;
  /** Null where it is configured. */
  readonly path: string | null;
}

/** Finds or makes the operator's key. A file of it is for the process's own user alone. */
export function operatorKeyOf(dataFolder: string, configured: string | null): OperatorKey {
  if (configured !== null) return { key: configured, path: null };
  const path = join(dataFolder, OPERATOR_KEY_FILE);
  if (existsSync(path)) return { key: readKey(path), path };
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const key = randomBytes(OPERATOR_KEY_BYTES).toString("base64url");
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: "wx" });
  return { key, path };
}

function readKey(path: string): string {
  const key = readFileSync(path, "utf8").trim();
  if (key === "") throw unavailable(`The key file ${OPERATOR_KEY_FILE} in the data folder is empty; delete it.`);
  return key;
}

/** What a first start made, and where later starts find it. Null paths: the operator brought their own key. */
export interface StartingKeys {
  readonly tenantId: string;
  readonly key: string | null;
  readonly path: string;
  readonly isNew: boolean;
}

/**
 * Without a configured operator's key the first start makes a tenant `default` with a key, so that there is something
 * to try; later starts say where its file is. Null where there is none (any more).
 */
export async function startingKeys(
  gateway: Pick<Gateway, "execute">,
  dataFolder: string,
  operator: OperatorKey,
): Promise<StartingKeys | null> {
  if (operator.path === null) return null;
  const path = join(dataFolder, DEFAULT_KEY_FILE);
  if (existsSync(path)) return { tenantId: DEFAULT_TENANT, key: readFileSync(path, "utf8").trim(), path, isNew: false };
  if (await hasTenants(gateway)) return null;
  const key = await makeDefault(gateway);
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: "wx" });
  return { tenantId: DEFAULT_TENANT, key, path, isNew: true };
}

async function hasTenants(gateway: Pick<Gateway, "execute">): Promise<boolean> {
  const { data } = await gateway.execute("{ tenants(first: 1) { nodes { id } } }", {}, null);
  const tenants = data?.tenants as { readonly nodes: readonly unknown[] } | undefined;
  return (tenants?.nodes.length ?? 0) > 0;
}

async function makeDefault(gateway: Pick<Gateway, "execute">): Promise<string> {
  const document = "mutation ($input: CreateTenantInput!) { createTenant(input: $input) { firstKey { secret } } }";
  const firstKey = { name: "first key", scopes: ["READ", "WRITE", "DELETE", "ADMIN"] };
  const { data, errors } = await gateway.execute(document, { input: { id: DEFAULT_TENANT, firstKey } }, null);
  const created = data?.createTenant as { readonly firstKey: { readonly secret: string } | null } | null | undefined;
  const secret = created?.firstKey?.secret;
  if (secret === undefined) throw unavailable(`The first tenant could not be made: ${errors?.[0]?.message ?? ""}`);
  return secret;
}
