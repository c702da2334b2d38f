import { rateLimited } from "../errors.ts";
import type { TenantRecord } from "../store/registry-contract.ts";
import { type Clock, type Instant, MICROSECONDS_PER_SECOND } from "../time.ts";

export interface Limiter {
  /** Takes `count` root fields from the tenant's minute; RATE_LIMITED, and nothing taken, where they are not there. */
  spend(tenant: TenantRecord, count: number): void;
}

/** A tenant's tokens, as they were at `since`. */
interface Bucket {
  readonly perMinute: number;
  readonly tokens: number;
  readonly since: Instant;
}

const SECONDS_PER_MINUTE = 60;
/** Buckets that lie about before those that must be full again are let go. */
const BUCKETS_BEFORE_SWEEP = 1_000;

/**
 * A token bucket a tenant: a minute's worth at most, refilled steadily, so that a minute's end brings no rush. It
 * counts in this process; a limit that is changed holds from the next spending on.
 */
export function createLimiter({ clock }: { readonly clock: Clock }): Limiter {
  const buckets = new Map<string, Bucket>();
  let sweptAt = clock.now();
  const sweep = (now: Instant): void => {
    if (buckets.size < BUCKETS_BEFORE_SWEEP || secondsBetween(sweptAt, now) < SECONDS_PER_MINUTE) return;
    sweptAt = now;
    for (const [tenantId, bucket] of buckets) {
      if (secondsBetween(bucket.since, now) >= SECONDS_PER_MINUTE) buckets.delete(tenantId);
    }
  };
  return {
    spend(tenant, count) {
      const perMinute = tenant.limits.requestsPerMinute;
      if (perMinute === null) {
        buckets.delete(tenant.id);
        return;
      }
      const now = clock.now();
      sweep(now);
      const tokens = tokensNow(buckets.get(tenant.id), perMinute, now);
      const rest = tokens - count;
      if (rest < 0) throw refusal(perMinute, count, -rest);
      buckets.set(tenant.id, { perMinute, tokens: rest, since: now });
    },
  };
}

function tokensNow(bucket: Bucket | undefined, perMinute: number, now: Instant): number {
  if (bucket === undefined) return perMinute;
  // What was spent stays spent where the limit changes.
  const kept = bucket.tokens + (perMinute - bucket.perMinute);
  const refill = (secondsBetween(bucket.since, now) * perMinute) / SECONDS_PER_MINUTE;
  return Math.min(perMinute, kept + refill);
}

function refusal(perMinute: number, count: number, missing: number) {
  if (count > perMinute) {
    const message = `This operation has ${count} root fields; the tenant's limit is ${perMinute} a minute.`;
    return rateLimited(message, SECONDS_PER_MINUTE);
  }
  const message = `The tenant's limit of ${perMinute} root fields a minute is reached.`;
  return rateLimited(message, (missing * SECONDS_PER_MINUTE) / perMinute);
}

function secondsBetween(from: Instant, to: Instant): number {
  return (to - from) / MICROSECONDS_PER_SECOND;
}
