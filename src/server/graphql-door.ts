import type { IncomingMessage, ServerResponse } from "node:http";
import type { ExecutionResult } from "graphql";
import { type BodyLimits, ClientGone, dropBody } from "./body-limits.ts";
import { credentialsOfHeaders } from "./credentials.ts";
import type { EventStreams } from "./event-stream.ts";
import { type Accepted, negotiate, PLAIN_JSON } from "./negotiate.ts";
import { paramsOfBody, paramsOfSearch } from "./params.ts";
import type { ServerParts } from "./parts.ts";
import type { Asker, OperationParams, Pipeline, PreparedOperation, RefusedOperation } from "./pipeline.ts";
import { HttpRefusal, statusOf, writeJson, writeRefusal } from "./refusal.ts";

/** One HTTP request for GraphQL, its path and method known. */
export interface GraphqlRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly search: string;
  /** Asks a client that waits for it to send the body. */
  readonly askForBody: () => void;
}

/** GraphQL over HTTP: POST with JSON, GET for queries and streams, answers as JSON or as server-sent events. */
export type GraphqlDoor = (exchange: GraphqlRequest) => Promise<void>;

interface DoorParts extends Pick<ServerParts, "authenticator" | "toGraphQLError" | "newUuid"> {
  readonly pipeline: Pipeline;
  readonly bodies: BodyLimits;
  readonly eventStreams: EventStreams;
}

/** Who asks is settled from the headers before a byte of the body is read. */
export function createGraphqlDoor(parts: DoorParts): GraphqlDoor {
  const readParams = async ({ request, search, askForBody }: GraphqlRequest) => {
    if (request.method === "GET") return { params: paramsOfSearch(search), release: () => {} };
    parts.bodies.check(request);
    askForBody();
    const { text, release } = await parts.bodies.read(request);
    try {
      return { params: paramsOfBody(text), release };
    } catch (error) {
      release();
      throw error;
    }
  };
  const answer = async (exchange: GraphqlRequest, params: OperationParams, asker: Asker, accepted: Accepted) => {
    const { request, response } = exchange;
    const operation = parts.pipeline.prepare(params, asker);
    if (operation.kind === "refused") return writeRefused(response, operation, accepted);
    checkMethod(request, response, operation, accepted);
    const result = await operation.run();
    if (Symbol.asyncIterator in result || operation.type === "subscription" || accepted.json === null) {
      return { stream: result };
    }
    writeResult(response, result, accepted);
    return null;
  };
  return async (exchange) => {
    const { request, response } = exchange;
    const requestId = parts.newUuid();
    response.setHeader("X-Request-Id", requestId);
    const accepted = negotiate(request.headers.accept);
    try {
      const caller = await parts.authenticator.authenticate(credentialsOfHeaders(request.rawHeaders));
      if (accepted.json === null && !accepted.eventStream) {
        throw new HttpRefusal(406, "Answers come as application/json, application/graphql-response+json or SSE.");
      }
      const { params, release } = await readParams(exchange);
      try {
        const rest = await answer(exchange, params, { caller, requestId }, accepted);
        // A stream may live for days; its request's body is not held for so long.
        release();
        if (rest !== null) await parts.eventStreams.send(response, rest.stream);
      } finally {
        release();
      }
    } catch (error) {
      if (error instanceof ClientGone) return;
      const status = error instanceof HttpRefusal ? { status: error.status } : {};
      writeRefusal(response, [parts.toGraphQLError(error, requestId)], { ...status, type: accepted.json });
      dropBody(request);
    }
  };
}

function checkMethod(
  request: IncomingMessage,
  response: ServerResponse,
  operation: PreparedOperation,
  accepted: Accepted,
): void {
  if (request.method === "GET" && operation.type === "mutation") {
    response.setHeader("Allow", "POST");
    throw new HttpRefusal(405, "Mutations need POST.");
  }
  if (operation.type === "subscription" && !accepted.eventStream) {
    throw new HttpRefusal(406, "Subscriptions need Accept: text/event-stream, or the WebSocket at this path.");
  }
}

function writeRefused(
  response: ServerResponse,
  { errors, plain }: RefusedOperation,
  { json, eventStream }: Accepted,
): { readonly stream: ExecutionResult } | null {
  if (json === null && eventStream) return { stream: { errors } };
  // A client that knows plain JSON alone may take any other status for an answer that is not GraphQL's.
  writeRefusal(response, errors, { status: plain && json === PLAIN_JSON ? 200 : statusOf(errors), type: json });
  return null;
}

function writeResult(response: ServerResponse, result: ExecutionResult, { json }: Accepted): void {
  const { data, errors = [] } = result;
  if (data !== undefined || errors.length === 0) {
    writeJson(response, 200, json ?? PLAIN_JSON, result);
    return;
  }
  // Without data it was refused: by the rate limit, or by GraphQL for variables of a wrong type.
  const status = statusOf(errors);
  writeRefusal(response, errors, { status: status === 400 && json === PLAIN_JSON ? 200 : status, type: json });
}
