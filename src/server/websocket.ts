import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { ExecutionArgs, GraphQLError } from "graphql";
import { type Context, handleProtocols, makeServer, type ServerOptions } from "graphql-ws";
import { type WebSocket, WebSocketServer } from "ws";
import { GatewayError, rateLimited, unavailable } from "../errors.ts";
import type { Caller } from "../tenancy/contract.ts";
import type { OriginCheck } from "./cors.ts";
import { credentialsOfPayload } from "./credentials.ts";
import { GRAPHQL_PATH, splitTarget } from "./http.ts";
import { paramsOfRecord } from "./params.ts";
import type { ServerParts } from "./parts.ts";
import type { Asker, Pipeline, PreparedOperation } from "./pipeline.ts";

/** What a socket may send before anybody knows who it is. */
const UNKNOWN_BYTES_MAX = 16 * 1024;
const PING_MILLISECONDS = 12_000;
const BUSY_RETRY_SECONDS = 1;

/** Close codes of graphql-transport-ws, and the registered ones that its clients take as "come back later". */
const CLOSE = {
  goingAway: 1001,
  tooLarge: 1009,
  tryAgainLater: 1013,
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  internal: 4500,
} as const;

/** The WebSocket door: the same operations, credentials and limits as over HTTP. */
export interface WebSocketDoor {
  /** Takes over a socket that asked for an upgrade, or answers it with a refusal and closes it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Takes no new operations; closes each socket with 1001 once its queries and mutations are answered. */
  drain(): void;
  /** Ends what is left, at once. */
  terminate(): void;
  readonly open: number;
}

interface Connection {
  readonly socket: WebSocket;
  readonly admitted: () => void;
  caller: Caller | null;
  release: () => void;
  /** Queries and mutations that run just now. */
  running: number;
}
interface Extra {
  readonly connection: Connection;
}
interface DoorState {
  readonly connections: Set<Connection>;
  draining: boolean;
}

/** Speaks graphql-transport-ws on sockets that the HTTP server hands over. */
export function createWebSocketDoor(
  parts: ServerParts & { readonly pipeline: Pipeline; readonly allowsOrigin: OriginCheck },
): WebSocketDoor {
  const state: DoorState = { connections: new Set(), draining: false };
  const sockets = new WebSocketServer({
    ...{ noServer: true, clientTracking: false, maxPayload: parts.config.bodyBytesMax, handleProtocols },
  });
  const protocol = makeServer<Record<string, unknown>, Extra>(protocolOptions(parts, state));
  return {
    get open() {
      return state.connections.size;
    },
    upgrade(request, socket, head) {
      const problem = upgradeProblem(request, parts.allowsOrigin, state);
      if (problem !== null) {
        socket.on("error", () => {});
        socket.end(`HTTP/1.1 ${problem}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        const connection = createConnection(accepted, socket, head);
        state.connections.add(connection);
        accepted.once("close", () => state.connections.delete(connection));
        serve(accepted, connection, protocol, parts);
      });
    },
    drain() {
      state.draining = true;
      for (const connection of state.connections) closeWhenIdle(connection);
    },
    terminate() {
      for (const { socket } of state.connections) socket.terminate();
    },
  };
}

function closeWhenIdle({ socket, running }: Connection): void {
  if (running === 0) socket.close(CLOSE.goingAway, "The gateway is shutting down");
}

function upgradeProblem(request: IncomingMessage, allows: OriginCheck, { draining }: DoorState): string | null {
  const [path] = splitTarget(request.url ?? "");
  if (path !== GRAPHQL_PATH) return "404 Not Found";
  if (draining) return "503 Service Unavailable";
  const { origin, host } = request.headers;
  return origin === undefined || allows(origin, host) ? null : "403 Forbidden";
}

/** Counts what comes in until the caller is known: a stranger gets no 32 MiB of our memory. */
function createConnection(socket: WebSocket, transport: Duplex, head: Buffer): Connection {
  let received = head.byteLength;
  const onData = (chunk: Buffer) => {
    received += chunk.byteLength;
    if (received > UNKNOWN_BYTES_MAX) socket.close(CLOSE.tooLarge, "Too much before connection_init");
    // One that sends on after it was told why is cut off.
    if (received > 8 * UNKNOWN_BYTES_MAX) socket.terminate();
  };
  // Before ws itself sees the chunk, whose message it would hand on at once.
  transport.prependListener("data", onData);
  const admitted = () => transport.off("data", onData);
  return { socket, admitted, caller: null, release: () => {}, running: 0 };
}

function serve(
  socket: WebSocket,
  connection: Connection,
  protocol: ReturnType<typeof makeServer<Record<string, unknown>, Extra>>,
  { log }: ServerParts,
): void {
  let alive = true;
  const ping = setInterval(() => {
    if (!alive) return socket.terminate();
    alive = false;
    socket.ping();
  }, PING_MILLISECONDS);
  socket.on("pong", () => {
    alive = true;
  });
  // Broken frames and frames over the limit: ws closes with the code that fits, we only must not fall over.
  socket.on("error", (error) => log.debug("A WebSocket failed", { error }));
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: (data) => send(socket, data),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (take) => {
        socket.on("message", (data) => {
          alive = true;
          take(String(data)).catch((error: unknown) => {
            log.error("A WebSocket message could not be handled", { error });
            socket.close(CLOSE.internal, "The gateway failed");
          });
        });
      },
    },
    { connection },
  );
  socket.once("close", (code, reason) => {
    clearInterval(ping);
    connection.release();
    closed(code, String(reason)).catch((error: unknown) => log.error("A WebSocket did not end well", { error }));
  });
}

/** Resolves when the socket took it, so that a slow reader holds its streams back instead of filling memory. */
function send(socket: WebSocket, data: string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) resolve();
    else socket.send(data, () => resolve());
  });
}

function protocolOptions(
  parts: ServerParts & { readonly pipeline: Pipeline },
  state: DoorState,
): ServerOptions<Record<string, unknown>, Extra> {
  const prepared = new WeakMap<ExecutionArgs, { readonly operation: PreparedOperation; readonly owner: Connection }>();
  const run = async (args: ExecutionArgs) => {
    const entry = prepared.get(args);
    if (entry === undefined) throw new Error("an operation runs that was not prepared");
    const { operation, owner } = entry;
    if (operation.type === "subscription") return operation.run();
    owner.running++;
    try {
      return await operation.run();
    } finally {
      owner.running--;
    }
  };
  return {
    connectionInitWaitTimeout: parts.config.initTimeoutSeconds * 1000,
    onConnect: (context) => admit(context, parts),
    onSubscribe: (context, _id, payload) => {
      const { connection } = context.extra;
      const requestId = parts.newUuid();
      const refuse = (error: unknown): readonly GraphQLError[] => [parts.toGraphQLError(error, requestId)];
      try {
        checkRoom(context, state, parts);
        const asker: Asker = { caller: callerOf(connection), requestId };
        const operation = parts.pipeline.prepare(paramsOfRecord({ ...payload }), asker);
        if (operation.kind === "refused") return operation.errors;
        prepared.set(operation.args, { operation, owner: connection });
        return operation.args;
      } catch (error) {
        return refuse(error);
      }
    },
    execute: run,
    subscribe: run,
    onComplete: ({ extra }) => {
      parts.afterResponse();
      // The answer itself and its `complete` are sent first; closing waits for both.
      if (state.draining) setImmediate(() => closeWhenIdle(extra.connection));
    },
  };
}

function callerOf({ caller }: Connection): Caller {
  if (caller === null) throw new Error("an operation came before its caller was known");
  return caller;
}

function checkRoom(
  context: Context<Record<string, unknown>, Extra>,
  { draining }: DoorState,
  { config }: ServerParts,
): void {
  if (draining) throw unavailable("The gateway is shutting down; try again.");
  if (Object.keys(context.subscriptions).length <= config.operationsPerConnectionMax) return;
  throw rateLimited(
    `A connection runs at most ${config.operationsPerConnectionMax} operations at once.`,
    BUSY_RETRY_SECONDS,
  );
}

/** Checks the credential of connection_init; the socket lives as long as that does. */
async function admit(context: Context<Record<string, unknown>, Extra>, parts: ServerParts): Promise<boolean> {
  const { connection } = context.extra;
  const { socket } = connection;
  try {
    const caller = await parts.authenticator.authenticate(credentialsOfPayload(context.connectionParams));
    if (socket.readyState !== socket.OPEN) return false;
    const watch = parts.authenticator.watch(caller);
    const onEnded = () => socket.close(CLOSE.forbidden, "Forbidden");
    watch.ended.addEventListener("abort", onEnded, { once: true });
    connection.release = () => {
      watch.ended.removeEventListener("abort", onEnded);
      watch.release();
    };
    connection.caller = caller;
    connection.admitted();
    if (!watch.ended.aborted) return true;
    onEnded();
    return false;
  } catch (error) {
    socket.close(...closingOf(error));
    if (!(error instanceof GatewayError)) parts.log.error("A WebSocket could not be admitted", { error });
    return false;
  }
}

function closingOf(error: unknown): readonly [code: number, reason: string] {
  switch (error instanceof GatewayError ? error.code : "INTERNAL_SERVER_ERROR") {
    case "UNAUTHENTICATED":
      return [CLOSE.unauthorized, "Unauthorized"];
    case "FORBIDDEN":
      return [CLOSE.forbidden, "Forbidden"];
    case "BAD_USER_INPUT":
    case "NOT_FOUND":
      return [CLOSE.badRequest, "Bad request"];
    case "UNAVAILABLE":
    case "RATE_LIMITED":
      return [CLOSE.tryAgainLater, "Try again later"];
    default:
      return [CLOSE.internal, "The gateway failed"];
  }
}
