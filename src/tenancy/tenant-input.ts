import { badInput } from "../errors.ts";
import { checkCount, TENANT_ID } from "../store/check.ts";
import type { TenantId, TenantLimits } from "../store/model.ts";
import type { Maybe } from "../store/page.ts";
import type { CreateTenantInput, TenantLimitsInput } from "./contract.ts";
import { checkName } from "./grants.ts";

const LIMIT_NAMES = ["maxSessions", "maxMessages", "maxBytes", "requestsPerMinute"] as const;
/** The largest Int of GraphQL. */
const INT_MAX = 2 ** 31 - 1;

/** Limits that were given, checked; names that were left out are not in it. */
type GivenLimits = { readonly [Name in keyof TenantLimits]?: number | null };

/** A new tenant, checked. */
export interface CheckedTenant {
  readonly id: TenantId;
  readonly name: string | null;
  readonly limits: TenantLimits;
  /** The attributes as they were asked for, in one spelling: equal texts are the same input. */
  readonly createdFrom: string;
}

/** Checks what createTenant was given beside its first key; a limit left out is the default. */
export function checkTenant(input: CreateTenantInput, defaults: TenantLimits): CheckedTenant {
  if (!TENANT_ID.test(input.id)) {
    throw badInput(["id"], "A tenant's id has 1 to 63 of a-z, 0-9 and -, and begins with a letter or a digit.");
  }
  const id = input.id as TenantId;
  const name = checkName(input.name, ["name"]);
  const given = checkLimits(input.limits);
  const asked = LIMIT_NAMES.map((limit) => (given[limit] === undefined ? "default" : given[limit]));
  return { id, name, limits: { ...defaults, ...given }, createdFrom: JSON.stringify([name, ...asked]) };
}

/** The limits of an update over those that hold; null for all of them is no limit at all. */
export function mergeLimits(input: Maybe<TenantLimitsInput>, limits: TenantLimits): TenantLimits {
  if (input === null) return { maxSessions: null, maxMessages: null, maxBytes: null, requestsPerMinute: null };
  return { ...limits, ...checkLimits(input) };
}

function checkLimits(input: Maybe<TenantLimitsInput>): GivenLimits {
  const given: { -readonly [Name in keyof GivenLimits]: GivenLimits[Name] } = {};
  for (const name of LIMIT_NAMES) {
    const value = input?.[name];
    if (value === undefined) continue;
    given[name] = value === null ? null : checkCount(value, ["limits", name]);
    if (name === "requestsPerMinute" && value !== null && value > INT_MAX) {
      throw badInput(["limits", name], `This is ${INT_MAX} at most; null is no limit.`);
    }
  }
  return given;
}
