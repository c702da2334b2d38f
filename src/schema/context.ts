import type { Feed } from "../events/contract.ts";
import type { Log } from "../log.ts";
import type { SessionStore } from "../store/contract.ts";
import type { Run, Session, TenantUsage } from "../store/model.ts";
import type { TenantRecord } from "../store/registry-contract.ts";
import type { Caller, Tenants } from "../tenancy/contract.ts";
import type { Clock } from "../time.ts";

/** What many rows of one answer ask for one by one, read together. Nothing is kept once a batch has started. */
export interface Loaders {
  /** Null for a session that is missing or out of reach. */
  session(id: string): Promise<Session | null>;
  /** Null for a run that is missing or out of reach. */
  run(id: string): Promise<Run | null>;
  tenantUsage(tenant: TenantRecord): Promise<TenantUsage>;
}

/** What one operation works with: no request, no handle of a file. Privilege is another Caller. */
export interface GatewayContext {
  readonly caller: Caller;
  /** The caller's tenant as the caller reaches it; null for an operator who named none. */
  readonly store: SessionStore | null;
  readonly feed: Feed | null;
  readonly tenants: Tenants;
  readonly loaders: Loaders;
  readonly clock: Clock;
  readonly log: Log;
  readonly requestId: string;
}
