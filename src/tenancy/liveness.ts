import { forbidden, type GatewayError, unauthenticated } from "../errors.ts";
import type { KeyRecord, TenantRecord } from "../store/registry-contract.ts";
import type { Instant } from "../time.ts";

/** Why the key opens nothing now; null where it is live. */
export function keyProblem(key: Pick<KeyRecord, "revokedAt" | "expiresAt">, now: Instant): GatewayError | null {
  if (key.revokedAt !== null) return unauthenticated("This key was revoked.");
  return expiryProblem(key.expiresAt, now);
}

/** Why a credential with that end opens nothing now. At its very end it is over. */
export function expiryProblem(expiresAt: Instant | null, now: Instant): GatewayError | null {
  return expiresAt !== null && expiresAt <= now ? unauthenticated("This credential has expired.") : null;
}

/** A suspended tenant is closed to everybody, an operator who names it included. */
export function suspensionProblem(tenant: TenantRecord): GatewayError | null {
  return tenant.state === "SUSPENDED" ? forbidden("This tenant is suspended.") : null;
}

/** Whether the tenant is on its way in or out: to callers it does not exist. */
export function isUnsettled(tenant: TenantRecord): boolean {
  return tenant.state === "CREATING" || tenant.state === "DELETING";
}
