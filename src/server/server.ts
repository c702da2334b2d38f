import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createBodyLimits } from "./body-limits.ts";
import { createOriginCheck } from "./cors.ts";
import { createInFlight, drain } from "./drain.ts";
import { createEventStreams } from "./event-stream.ts";
import { createGraphiqlPage } from "./graphiql.ts";
import { createGraphqlDoor } from "./graphql-door.ts";
import { createRequestHandler } from "./http.ts";
import type { ServerConfig, ServerParts } from "./parts.ts";
import { createPipeline } from "./pipeline.ts";
import { createWebSocketDoor } from "./websocket.ts";

/** How often Node looks for requests that are too slow; its own default of 30 s would stretch every limit. */
const SLOW_SENDER_CHECK_MILLISECONDS_MAX = 2_000;

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

export interface GatewayServer {
  /** Rejects where the address can't be taken. */
  listen(): Promise<Address>;
  /** Orderly shutdown, over within the grace time; a second call joins the first. */
  close(): Promise<void>;
  /** What is open just now, for health and for tests. */
  counts(): { readonly eventStreams: number; readonly webSockets: number; readonly subscriptions: number };
}

/** One port for everything: GraphQL over HTTP, server-sent events and WebSocket, health and readiness. */
export function createGatewayServer(parts: ServerParts): GatewayServer {
  const { config } = parts;
  const allowsOrigin = createOriginCheck(config.corsOrigins);
  const pipeline = createPipeline(parts);
  const eventStreams = createEventStreams({ commentSeconds: config.streamCommentSeconds });
  const webSockets = createWebSocketDoor({ ...parts, pipeline, allowsOrigin });
  const inFlight = createInFlight();
  let closing: Promise<void> | null = null;
  const handle = createRequestHandler({
    ...parts,
    allowsOrigin,
    page: createGraphiqlPage(),
    door: createGraphqlDoor({ ...parts, pipeline, eventStreams, bodies: createBodyLimits(config) }),
    draining: () => closing !== null,
  });
  const server = createServer(nodeOptions(config));
  server.maxConnections = config.connectionsMax;
  const take = (request: IncomingMessage, response: ServerResponse, askForBody: () => void) => {
    inFlight.add(response);
    if (closing !== null) response.setHeader("Connection", "close");
    response.once("close", parts.afterResponse);
    void handle(request, response, askForBody);
  };
  server.on("request", (request, response) => take(request, response, () => {}));
  server.on("checkContinue", (request, response) => take(request, response, () => response.writeContinue()));
  server.on("upgrade", webSockets.upgrade);
  return {
    listen: () => listen(server, config),
    close() {
      closing ??= drain(server, { inFlight, eventStreams, webSockets, graceSeconds: config.graceSeconds });
      return closing;
    },
    counts: () => ({
      eventStreams: eventStreams.open,
      webSockets: webSockets.open,
      subscriptions: pipeline.subscriptions,
    }),
  };
}

function nodeOptions(config: ServerConfig) {
  const headersTimeout = config.headersTimeoutSeconds * 1000;
  const requestTimeout = config.bodyTimeoutSeconds * 1000;
  return {
    // A request's whole time to arrive covers its headers; Node refuses the reverse.
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout: config.keepAliveSeconds * 1000,
    connectionsCheckingInterval: Math.min(SLOW_SENDER_CHECK_MILLISECONDS_MAX, headersTimeout, requestTimeout) || 1000,
  };
}

function listen(server: Server, { host, port }: ServerConfig): Promise<Address> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      const taken = isAddressInfo(address) ? address.port : port;
      const shown = host.includes(":") ? `[${host}]` : host;
      resolve({ host, port: taken, url: `http://${shown}:${taken}` });
    });
  });
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return address !== null && typeof address === "object";
}
