import type { UuidFactory } from "../../uuid.ts";
import type { Reach } from "../contract.ts";
import type { LogStore } from "../log-store.ts";
import type { TenantLimits } from "../model.ts";
import { createReadBudget, type ReadBudget } from "../read-budget.ts";
import { appendMessages } from "./append.ts";
import type { TenantHandle } from "./handle.ts";
import { lastMessage, listMessages, messagesAfter } from "./messages.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { listSessions } from "./session-list.ts";
import { createSession, getSessions, mark, updateSession } from "./sessions.ts";
import { deleteSession } from "./tombstones.ts";

/** What a tenant's store is made of. `use` borrows the open file for one synchronous call. */
export interface StoreParts {
  readonly use: <T>(work: (handle: TenantHandle) => T) => T;
  /** The tenant's limits as they are now. */
  readonly limits: () => TenantLimits;
  readonly newUuid: UuidFactory;
}

/** One tenant's data; `within` gives it as one caller reaches it, and nothing widens that again. */
export function createSqliteStore(parts: StoreParts): { within(reach: Reach, budget?: ReadBudget): LogStore } {
  return {
    within(reach, budget = createReadBudget()) {
      const read = async <T>(work: (scope: ReadScope) => T): Promise<T> =>
        parts.use((handle) => handle.read(reach, budget, work));
      const write = async <T>(work: (scope: WriteScope) => T): Promise<T> =>
        parts.use((handle) => handle.write(reach, budget, parts.limits(), work));
      return {
        getSessions: (ids) => read((scope) => getSessions(scope, ids)),
        listSessions: (request) => read((scope) => listSessions(scope, request)),
        createSession: (input) => write((scope) => createSession(scope, input)),
        updateSession: (input) => write((scope) => updateSession(scope, input)),
        deleteSession: (sessionId) => write((scope) => deleteSession(scope, sessionId)),
        appendMessages: (input) => write((scope) => appendMessages(scope, input)),
        listMessages: (request) => read((scope) => listMessages(scope, request)),
        lastMessage: (sessionId, roles, select) => read((scope) => lastMessage(scope, sessionId, roles, select)),
        mark: (sessionId) => read((scope) => mark(scope, sessionId)),
        messagesAfter: (tail, select) => read((scope) => messagesAfter(scope, tail, select)),
      };
    },
  };
}
