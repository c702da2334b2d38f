import type { Credentials } from "../tenancy/contract.ts";

/**
 * Credentials from raw headers (names and values by turns), in which a header that came twice still shows twice. Two
 * Authorization headers count as none: which of them would be meant?
 */
export function credentialsOfHeaders(rawHeaders: readonly string[]): Credentials {
  const authorizations = valuesOf(rawHeaders, "authorization");
  const [authorization = null] = authorizations.length === 1 ? authorizations : [];
  return { authorization, tenantIds: valuesOf(rawHeaders, "x-tenant-id") };
}

/** Credentials from the payload of a WebSocket's connection_init; what is not text counts as not given. */
export function credentialsOfPayload(payload: Readonly<Record<string, unknown>> | undefined): Credentials {
  const authorization = payload?.authorization;
  const tenantId = payload?.["x-tenant-id"];
  const tenantIds = Array.isArray(tenantId) ? tenantId : [tenantId];
  return {
    authorization: typeof authorization === "string" ? authorization : null,
    tenantIds: tenantIds.filter((value) => value !== undefined && value !== null).map(String),
  };
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
