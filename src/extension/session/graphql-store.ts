import { GatewayError } from "../../errors.ts";
import type { SessionStore } from "../../store/contract.ts";
import type { FetchClient } from "./fetch-client.ts";
import { runOperations } from "./graphql-runs.ts";
import { sessionOperations } from "./graphql-sessions.ts";

/**
 * A SessionStore over the gateway's API. Generations and change numbers are no part of the API and read 0; a view's
 * pin can't be handed back (the cursors of its pages carry it). What the API does not offer is refused with FORBIDDEN:
 * tails (streams read them inside the gateway; clients subscribe), dump and load (an operator's, by command), and
 * deleteUserSessions, of which the API tells the number of sessions only.
 */
export function createGraphqlStore(client: FetchClient): SessionStore {
  const sessions = sessionOperations(client);
  return {
    ...sessions,
    ...runOperations(client),
    deleteUserSessions: refused("deleteUserSessions"),
    messagesAfter: refused("messagesAfter"),
    runEventsAfter: refused("runEventsAfter"),
    lastChangeNumber: refused("lastChangeNumber"),
    changesAfter: refused("changesAfter"),
    leasesExpired: refused("leasesExpired"),
    load: refused("load"),
    async mark(sessionId) {
      const [session] = await sessions.getSessions([sessionId]);
      if (session === null || session === undefined) return null;
      throw notOffered("mark");
    },
    dump: () => ({ [Symbol.asyncIterator]: () => ({ next: refused("dump") }) }),
  };
}

function refused(operation: string): () => Promise<never> {
  return async () => {
    throw notOffered(operation);
  };
}

function notOffered(operation: string): GatewayError {
  return new GatewayError("FORBIDDEN", `The gateway's API does not offer ${operation}; only its own store does.`);
}
