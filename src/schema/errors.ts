import { GraphQLError } from "graphql";
import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { exceedsCodePoints, firstCodePoints } from "../text.ts";

const MASKED = "Something went wrong here. The log has it under this request id.";
/** graphql-js quotes the value that it refuses in full, be it 16 MB. */
const QUOTED_PIECE_CODE_POINTS_MAX = 200;
const MISTAKE_CODE_POINTS_MAX = 2_000;

/**
 * Any error of an operation as the client sees it: code, facts and `field` (the place in the input, names and indexes)
 * in extensions. What is no GatewayError and no mistake in the document or its variables is masked, and logged.
 */
export function toGraphQLError(
  error: unknown,
  { requestId, log }: { readonly requestId: string; readonly log: Log },
): GraphQLError {
  const cause = innermost(error);
  if (cause instanceof GatewayError) {
    if (cause.code !== "INTERNAL_SERVER_ERROR") {
      if (cause.cause !== undefined)
        log.warn(cause.message, { requestId, code: cause.code, cause: textOf(cause.cause) });
      const field = cause.path === null ? {} : { field: cause.path };
      return placed(error, cause.message, { ...cause.details, ...field, code: cause.code });
    }
  } else if (error instanceof GraphQLError && cause instanceof GraphQLError && isClientMistake(error, cause)) {
    const message = shortened(error.message);
    return placed(error, message, { ...fieldOf(message), code: "BAD_USER_INPUT", ...error.extensions });
  }
  log.error("An operation failed", { requestId, error: textOf(cause) });
  return placed(error, MASKED, { code: "INTERNAL_SERVER_ERROR", requestId });
}

function innermost(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

/**
 * Refused before execution (no path yet), or while a field's arguments were read (graphql-js gives those nodes). A
 * value of ours that could not be written out has neither.
 */
function isClientMistake(error: GraphQLError, cause: GraphQLError): boolean {
  return error.path === undefined || cause.nodes !== undefined || cause.extensions.code !== undefined;
}

/** Without originalError: whoever masks errors after us must not take this one for unknown. */
function placed(error: unknown, message: string, extensions: Readonly<Record<string, unknown>>): GraphQLError {
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { extensions: { ...extensions } });
  const { nodes, source, positions, path } = error;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { ...extensions },
  });
}

function shortened(message: string): string {
  const pieces = message.split('"').map((piece) => cut(piece, QUOTED_PIECE_CODE_POINTS_MAX));
  return cut(pieces.join('"'), MISTAKE_CODE_POINTS_MAX);
}

function cut(text: string, limit: number): string {
  return exceedsCodePoints(text, limit) ? `${firstCodePoints(text, limit)}…` : text;
}

/** The place that graphql-js names in its message about a variable: `… at "input.messages[3].turn"; …`. */
function fieldOf(message: string): { readonly field?: readonly (string | number)[] } {
  const place = /^Variable "\$\w+" got invalid value [\s\S]* at "(\w+(?:\.\w+|\[\d+\])*)"; /.exec(message)?.[1];
  if (place === undefined) return {};
  const steps = place.match(/\w+/g) ?? [];
  return { field: steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)) };
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\nCaused by: ${textOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
