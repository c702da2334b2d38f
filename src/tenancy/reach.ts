import type { Reach } from "../store/contract.ts";
import type { Caller } from "./contract.ts";

/** What of a tenant's data the caller's credential reaches. */
export function reachOf(caller: Caller): Reach {
  const { userId, visibleRoles, writableRoles } = caller;
  return { userId, visibleRoles, writableRoles };
}
