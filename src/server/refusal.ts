import type { ServerResponse } from "node:http";
import type { GraphQLError } from "graphql";
import { type ErrorCode, GatewayError } from "../errors.ts";
import { type JsonMediaType, PLAIN_JSON } from "./negotiate.ts";

/** Seconds after which a client may come back to a server that is full or on its way out. */
const BUSY_RETRY_SECONDS = 1;

/** HTTP statuses of a request that was refused before anything was executed. */
export const STATUS_OF_CODE: Readonly<Record<ErrorCode, number>> = {
  BAD_USER_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  QUOTA_EXCEEDED: 403,
  RATE_LIMITED: 429,
  PAYLOAD_TOO_LARGE: 413,
  UNAVAILABLE: 503,
  INTERNAL_SERVER_ERROR: 500,
};

/** A refusal whose HTTP status says more than its code does (405, 406, 415). */
export class HttpRefusal extends GatewayError {
  readonly status: number;

  constructor(status: number, message: string) {
    super("BAD_USER_INPUT", message);
    this.status = status;
  }
}

/** The status of the first error; 500 where it has none of our codes. */
export function statusOf(errors: readonly GraphQLError[]): number {
  const code = errors[0]?.extensions.code;
  const known = Object.entries(STATUS_OF_CODE).find(([name]) => name === code);
  return known?.[1] ?? 500;
}

/** Writes a whole answer of `status` with this value as JSON, Retry-After included where the status calls for it. */
export function writeJson(response: ServerResponse, status: number, type: JsonMediaType, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "Content-Type": `${type}; charset=utf-8`, "Content-Length": body.byteLength });
  response.end(body);
}

/** A GraphQL answer without data: refused before execution. */
export function writeRefusal(
  response: ServerResponse,
  errors: readonly GraphQLError[],
  options: { readonly status?: number; readonly type?: JsonMediaType | null } = {},
): void {
  const status = options.status ?? statusOf(errors);
  if (status === 401) response.setHeader("WWW-Authenticate", 'Bearer realm="gateway"');
  if (status === 429 || status === 503) {
    const retryAfter = errors[0]?.extensions.retryAfter;
    response.setHeader("Retry-After", String(typeof retryAfter === "number" ? retryAfter : BUSY_RETRY_SECONDS));
  }
  writeJson(response, status, options.type ?? PLAIN_JSON, { errors });
}
