import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError, unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import { dropBody } from "./body-limits.ts";
import { addCorsHeaders, answerPreflight, type OriginCheck } from "./cors.ts";
import { type GraphiqlPage, wantsPage } from "./graphiql.ts";
import type { GraphqlDoor } from "./graphql-door.ts";
import { PLAIN_JSON } from "./negotiate.ts";
import type { ServerParts } from "./parts.ts";
import { HttpRefusal, writeJson, writeRefusal } from "./refusal.ts";

/** Where GraphQL is served, by HTTP and WebSocket alike. */
export const GRAPHQL_PATH = "/graphql";

const WELCOME = "Agent session gateway. GraphQL is served at /graphql; open it in a browser to write queries.\n";

interface RouteParts extends Pick<ServerParts, "toGraphQLError" | "newUuid" | "ready"> {
  readonly door: GraphqlDoor;
  readonly page: GraphiqlPage;
  readonly allowsOrigin: OriginCheck;
  readonly draining: () => boolean;
  readonly log: Log;
}

/** Answers one request; never throws. `askForBody` sends the 100 Continue that a client may wait for. */
export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  askForBody: () => void,
) => Promise<void>;

/** Routes by exact path: no prefix, no trailing slash, nothing decoded. */
export function createRequestHandler(parts: RouteParts): RequestHandler {
  const refuse = (request: IncomingMessage, response: ServerResponse, error: GatewayError) => {
    const status = error instanceof HttpRefusal ? { status: error.status } : {};
    writeRefusal(response, [parts.toGraphQLError(error, parts.newUuid())], status);
    dropBody(request);
  };
  const graphql = (request: IncomingMessage, response: ServerResponse, search: string, askForBody: () => void) => {
    addCorsHeaders(request, response, parts.allowsOrigin);
    if (request.method === "OPTIONS") return answerPreflight(response);
    if (wantsPage(request, search)) return parts.page(response);
    if (parts.draining()) return refuse(request, response, unavailable("The gateway is shutting down; try again."));
    if (request.method === "GET" || request.method === "POST") {
      return parts.door({ request, response, search, askForBody });
    }
    response.setHeader("Allow", "GET, POST, OPTIONS");
    return refuse(request, response, new HttpRefusal(405, "GraphQL takes GET and POST."));
  };
  const fixed = (request: IncomingMessage, response: ServerResponse, answer: () => void) => {
    if (request.method === "GET" || request.method === "HEAD") {
      response.setHeader("Cache-Control", "no-store");
      return answer();
    }
    response.setHeader("Allow", "GET, HEAD");
    refuse(request, response, new HttpRefusal(405, "This path takes GET."));
  };
  const route = async (request: IncomingMessage, response: ServerResponse, askForBody: () => void) => {
    const [path, search] = splitTarget(request.url ?? "");
    response.setHeader("X-Content-Type-Options", "nosniff");
    switch (path) {
      case GRAPHQL_PATH:
        return graphql(request, response, search, askForBody);
      case "/health":
        return fixed(request, response, () => writeJson(response, 200, PLAIN_JSON, { status: "ok" }));
      case "/ready": {
        const ready = parts.ready() && !parts.draining();
        const body = { status: ready ? "ready" : "unavailable" };
        return fixed(request, response, () => writeJson(response, ready ? 200 : 503, PLAIN_JSON, body));
      }
      case "/":
        return fixed(request, response, () => {
          response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(WELCOME);
        });
      default:
        return refuse(request, response, new GatewayError("NOT_FOUND", "There is nothing at this path."));
    }
  };
  return async (request, response, askForBody) => {
    try {
      await route(request, response, askForBody);
    } catch (error) {
      parts.log.error("A request could not be answered", { error });
      if (response.headersSent) response.destroy();
      else
        refuse(request, response, new GatewayError("INTERNAL_SERVER_ERROR", "The gateway failed.", { cause: error }));
    }
  };
}

/** The path as it was sent, and the query string after it. */
export function splitTarget(target: string): readonly [path: string, search: string] {
  const mark = target.indexOf("?");
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
}
