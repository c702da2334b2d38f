/** The closed set of codes that a client may act on; the README says what to do about each. */
export const ERROR_CODES = [
  "BAD_USER_INPUT",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CONFLICT",
  "QUOTA_EXCEEDED",
  "RATE_LIMITED",
  "PAYLOAD_TOO_LARGE",
  "UNAVAILABLE",
  "INTERNAL_SERVER_ERROR",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** What a CONFLICT is about, as `extensions.reason`. */
export const CONFLICT_REASONS = [
  "ID_TAKEN",
  "CONTENT_DIFFERS",
  "STALE_SEQUENCE",
  "STALE_VERSION",
  "RUN_FENCED",
  "LEASE_HELD",
  "RUN_ENDED",
  "ATTRIBUTES_DIFFER",
] as const;
export type ConflictReason = (typeof CONFLICT_REASONS)[number];

/** Names of fields and indexes of lists, from an operation's input down to the value that is meant. */
export type FieldPath = readonly (string | number)[];

/** Facts beside the code: reason, index, lastSequence, snapshotVersion, runId, leaseExpiresAt, retryAfter (seconds). */
export type ErrorDetails = Readonly<Record<string, string | number>>;

/**
 * The one error class of the product. Its message is written for the client: a plain sentence that helps, never a
 * path, SQL or a stack. `cause` is for the log alone. `path` is relative to the input of the operation that threw;
 * whoever wraps that input puts its own name in front with `under`.
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: ErrorCode;
  readonly path: FieldPath | null;
  readonly details: ErrorDetails;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly path?: FieldPath | null; readonly details?: ErrorDetails; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.path = options.path ?? null;
    this.details = options.details ?? {};
  }

  /** The same error with `prefix` in front of its path; one without a path stays as it is. */
  under(...prefix: FieldPath): GatewayError {
    if (this.path === null) return this;
    const options = { path: [...prefix, ...this.path], details: this.details };
    return new GatewayError(this.code, this.message, { ...options, cause: this.cause });
  }
}

/** The input's value at `path` can't be accepted; `message` says what would be. */
export function badInput(path: FieldPath, message: string, details: ErrorDetails = {}): GatewayError {
  return new GatewayError("BAD_USER_INPUT", message, { path, details });
}

/** Missing or foreign: the two are never told apart. `noun` is the contract's word, e.g. "session". */
export function notFound(noun: string): GatewayError {
  return new GatewayError("NOT_FOUND", `There is no such ${noun}.`);
}

/** The state forbids it; `reason` says which state, `details` what to do next. */
export function conflict(reason: ConflictReason, message: string, details: ErrorDetails = {}): GatewayError {
  return new GatewayError("CONFLICT", message, { details: { reason, ...details } });
}

/** The caller is known and may not. */
export function forbidden(message: string): GatewayError {
  return new GatewayError("FORBIDDEN", message);
}

/** No live credential. */
export function unauthenticated(message = "A valid key or token is needed: Authorization: Bearer …"): GatewayError {
  return new GatewayError("UNAUTHENTICATED", message);
}

/** A size limit was passed. `path` is the input field (a payload), or null where the answer is meant (a page). */
export function tooLarge(message: string, path: FieldPath | null = null): GatewayError {
  return new GatewayError("PAYLOAD_TOO_LARGE", message, { path });
}

/** A limit of the tenant is reached; nothing was stored. */
export function quotaExceeded(message: string): GatewayError {
  return new GatewayError("QUOTA_EXCEEDED", message);
}

/** The tenant's store can't answer now. The cause goes to the log; a repeat later is safe. */
export function unavailable(message: string, cause?: unknown): GatewayError {
  return new GatewayError("UNAVAILABLE", message, { cause });
}

/** `retryAfterSeconds` is rounded up to whole seconds, at least 1. */
export function rateLimited(message: string, retryAfterSeconds: number): GatewayError {
  const retryAfter = Math.max(1, Math.ceil(retryAfterSeconds));
  return new GatewayError("RATE_LIMITED", message, { details: { retryAfter } });
}
