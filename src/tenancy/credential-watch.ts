import { forbidden, type GatewayError, unauthenticated } from "../errors.ts";
import type { Bus } from "../events/bus.ts";
import type { Log } from "../log.ts";
import type { Registry, TenantRecord } from "../store/registry-contract.ts";
import type { Clock } from "../time.ts";
import type { Authenticator, Caller } from "./contract.ts";
import { expiryProblem, isUnsettled, keyProblem, suspensionProblem } from "./liveness.ts";

export interface CredentialWatchParts {
  readonly registry: Pick<Registry, "getKey" | "getTenant">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A timer sleeps no longer than this before it looks at the clock again: the wall clock may step, and a longer wait
 * than 2^31 ms would fire at once.
 */
const SLEEP_MILLISECONDS_MAX = 60_000;

/**
 * Makes `watch`. The bus ends a credential inside the publish that tells of it; the registry is asked once more as the
 * watch begins, since the credential may have died after it was checked and before anybody listened.
 */
export function createCredentialWatch(parts: CredentialWatchParts): Authenticator["watch"] {
  return (caller) => {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | null = null;
    let unsubscribe = (): void => undefined;
    const release = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      unsubscribe();
      unsubscribe = () => undefined;
    };
    let released = false;
    const end = (reason: GatewayError): void => {
      if (released) return;
      released = true;
      release();
      controller.abort(reason);
    };
    const wait = (): void => {
      if (caller.expiresAt === null || released) return;
      const now = parts.clock.now();
      const problem = expiryProblem(caller.expiresAt, now);
      if (problem !== null) {
        end(problem);
        return;
      }
      const milliseconds = Math.ceil((caller.expiresAt - now) / 1000);
      timer = setTimeout(wait, Math.min(milliseconds, SLEEP_MILLISECONDS_MAX));
      timer.unref();
    };
    unsubscribe = listen(parts.bus, caller, end);
    wait();
    recheck(parts, caller).then(
      (problem) => problem !== null && end(problem),
      (error: unknown) => parts.log.warn("a stream's credential could not be checked again", { error: String(error) }),
    );
    return {
      ended: controller.signal,
      release() {
        released = true;
        release();
      },
    };
  };
}

function listen(bus: Bus, caller: Caller, end: (reason: GatewayError) => void): () => void {
  const { tenant, keyId } = caller;
  if (tenant === null) return () => undefined;
  return bus.subscribe({ tenantId: tenant.id, sessionId: null }, (event) => {
    if (event.kind !== "access" || event.tenantId !== tenant.id) return;
    if (event.keyId === null) end(forbidden("This tenant was suspended or deleted."));
    else if (event.keyId === keyId) end(unauthenticated("This key was revoked."));
  });
}

async function recheck(parts: CredentialWatchParts, caller: Caller): Promise<GatewayError | null> {
  const { tenant, keyId } = caller;
  if (tenant === null) return null;
  if (keyId === null) return tenantProblem(await parts.registry.getTenant(tenant.id), tenant);
  const found = await parts.registry.getKey(keyId);
  const problem = tenantProblem(found?.tenant ?? null, tenant);
  return problem ?? (found === null ? null : keyProblem(found.key, parts.clock.now()));
}

function tenantProblem(now: TenantRecord | null, then: TenantRecord): GatewayError | null {
  if (now === null || now.generation !== then.generation || isUnsettled(now)) {
    return forbidden("This tenant was deleted.");
  }
  return suspensionProblem(now);
}
