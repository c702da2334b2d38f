import type { SessionStore } from "../../store/contract.ts";
import { EVERYTHING, type SessionId, type UsageBucket, type UserId } from "../../store/model.ts";
import { formatInstant } from "../../time.ts";
import type { FetchClient } from "./fetch-client.ts";
import { appendInputOf, sessionFilterOf } from "./inputs.ts";
import { answered, instantOf, pageOf, pageVariables, rawMessageOf, sessionOf } from "./records.ts";
import * as documents from "./session-documents.ts";

type SessionOperations = Pick<
  SessionStore,
  | "getSessions"
  | "listSessions"
  | "createSession"
  | "updateSession"
  | "deleteSession"
  | "appendMessages"
  | "listMessages"
  | "lastMessage"
  | "listRunMessages"
  | "listUsage"
  | "tenantUsage"
>;

/** Sessions, raw logs and counters, through the API. */
export function sessionOperations(client: FetchClient): SessionOperations {
  return { ...sessionCalls(client), ...messageCalls(client), ...counterCalls(client) };
}

function sessionCalls(
  client: FetchClient,
): Pick<SessionStore, "getSessions" | "listSessions" | "createSession" | "updateSession" | "deleteSession"> {
  return {
    getSessions: (ids) =>
      Promise.all(
        ids.map(async (id) => {
          const { session } = await client.ask(documents.GetSession, { id });
          return session === null ? null : sessionOf(session);
        }),
      ),
    async listSessions({ filter, orderBy, page }) {
      const { sessions } = await client.ask(documents.ListSessions, {
        filter: sessionFilterOf(filter),
        ...(orderBy === null || orderBy === undefined ? {} : { orderBy }),
        ...pageVariables(page),
        offset: page.offset ?? null,
        count: page.count === true,
      });
      return pageOf(sessions, sessionOf, page);
    },
    async createSession(input) {
      const { createSession } = await client.ask(documents.CreateSession, { input });
      const { created, session } = answered(createSession);
      return { created, session: sessionOf(session) };
    },
    async updateSession(input) {
      const { updateSession } = await client.ask(documents.UpdateSession, { input });
      return sessionOf(answered(updateSession).session);
    },
    async deleteSession(sessionId) {
      const { deleteSession } = await client.ask(documents.DeleteSession, { input: { sessionId } });
      return answered(deleteSession).deletedSessionId === null ? null : (sessionId as SessionId);
    },
  };
}

function messageCalls(
  client: FetchClient,
): Pick<SessionStore, "appendMessages" | "listMessages" | "lastMessage" | "listRunMessages"> {
  return {
    async appendMessages(input) {
      const variables = { input: appendInputOf(input), ...EVERYTHING };
      const { appendMessages } = await client.ask(documents.AppendMessages, variables);
      const { session, messages, duplicates } = answered(appendMessages);
      return { session: sessionOf(session), messages: messages.map(rawMessageOf), duplicates };
    },
    async listMessages({ page, select, roles, ...range }) {
      const { session } = await client.ask(documents.ListMessages, {
        ...{ ...range, ...select, ...pageVariables(page) },
        roles,
        offset: page.offset ?? null,
        count: page.count === true,
      });
      return session === null ? null : pageOf(session.rawMessages, rawMessageOf, page);
    },
    async lastMessage(sessionId, roles, select) {
      const { session } = await client.ask(documents.LastMessage, { sessionId, roles, ...select });
      const last = session?.lastMessage ?? null;
      return last === null ? null : rawMessageOf(last);
    },
    async listRunMessages(runId, page, select) {
      const count = page.count === true;
      const { run } = await client.ask(documents.ListRunMessages, { runId, ...pageVariables(page), ...select, count });
      return run === null ? null : pageOf(run.messages, rawMessageOf, page);
    },
  };
}

function counterCalls(client: FetchClient): Pick<SessionStore, "listUsage" | "tenantUsage"> {
  return {
    async listUsage({ from, to, interval, groupBy, page }) {
      const { usage } = await client.ask(documents.ListUsage, {
        from: formatInstant(from),
        to: formatInstant(to),
        interval,
        groupBy,
        first: page.first ?? null,
        after: page.after ?? null,
        count: page.count === true,
      });
      const bucketOf = (wire: (typeof usage.edges)[number]["node"]): UsageBucket => ({
        ...wire,
        userId: wire.userId as UserId | null,
        startsAt: instantOf(wire.startsAt),
      });
      return pageOf(usage, bucketOf, page);
    },
    async tenantUsage() {
      const { tenant } = await client.ask(documents.GetTenantUsage, {});
      return answered(tenant.usage);
    },
  };
}
