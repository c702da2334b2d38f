import type { GraphQLError, GraphQLSchema } from "graphql";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Authenticator, Caller } from "../tenancy/contract.ts";
import type { Clock } from "../time.ts";
import type { UuidFactory } from "../uuid.ts";

/** The options that the server reads. */
export type ServerConfig = Pick<
  Config,
  | "host"
  | "port"
  | "corsOrigins"
  | "bodyBytesMax"
  | "bodiesInFlightBytesMax"
  | "connectionsMax"
  | "headersTimeoutSeconds"
  | "bodyTimeoutSeconds"
  | "keepAliveSeconds"
  | "streamCommentSeconds"
  | "initTimeoutSeconds"
  | "subscriptionsPerTenantMax"
  | "operationsPerConnectionMax"
  | "documentBytesMax"
  | "tokensMax"
  | "depthMax"
  | "aliasesMax"
  | "directivesMax"
  | "rowsMax"
  | "graceSeconds"
>;

/** What the server is made of; it knows no store and no schema of its own. */
export interface ServerParts {
  readonly schema: GraphQLSchema;
  readonly authenticator: Authenticator;
  /** One per operation. `ended` is the watch of a stream's credential, null for a query or mutation. */
  readonly contextFor: (caller: Caller, requestId: string, ended: AbortSignal | null) => object;
  readonly toGraphQLError: (error: unknown, requestId: string) => GraphQLError;
  /** Throws RATE_LIMITED; called once an operation with its number of root fields. */
  readonly spend: (caller: Caller, rootFields: number) => void;
  /** Called after each answer, and after each event of a stream. */
  readonly afterResponse: () => void;
  readonly ready: () => boolean;
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly newUuid: UuidFactory;
}
