import DataLoader from "dataloader";
import { GatewayError } from "../errors.ts";
import type { SessionStore } from "../store/contract.ts";
import type { TenantUsage } from "../store/model.ts";
import type { TenantRecord } from "../store/registry-contract.ts";
import { OPERATOR_NAMES_A_TENANT } from "./access.ts";
import type { Loaders } from "./context.ts";

const BATCH_KEYS_MAX = 1_000;

/**
 * Loaders over one caller's store; null for an operator who named no tenant. `usageOf` reads the usage of any tenant,
 * for operators who list them; without it an operator has to name the tenant.
 */
export function createLoaders(
  store: SessionStore | null,
  usageOf: (tenant: TenantRecord) => Promise<TenantUsage> = async () => reached<never>(null),
): Loaders {
  const sessions = freshLoader(async (ids) => reached(store).getSessions(ids));
  const runs = freshLoader(async (ids) => reached(store).getRuns(ids));
  return {
    session: (id) => sessions.load(id),
    run: (id) => runs.load(id),
    tenantUsage: usageOf,
  };
}

function reached<Store>(store: Store | null): Store {
  if (store === null) throw new GatewayError("BAD_USER_INPUT", OPERATOR_NAMES_A_TENANT);
  return store;
}

/**
 * Forgets everything as each batch starts: a subscription lives on one context for hours, and a loader that remembers
 * would show it the rows of its first minute.
 */
function freshLoader<T>(read: (ids: readonly string[]) => Promise<readonly T[]>): DataLoader<string, T> {
  const loader: DataLoader<string, T> = new DataLoader(
    async (ids) => {
      loader.clearAll();
      return read(ids);
    },
    { maxBatchSize: BATCH_KEYS_MAX },
  );
  return loader;
}
