import type { UuidFactory } from "../../uuid.ts";
import type { SessionStore, TenantStore } from "../contract.ts";
import type { SessionId, TenantLimits } from "../model.ts";
import { createReadBudget } from "../read-budget.ts";
import { appendMessages } from "./append.ts";
import { changesAfter, lastChangeNumber, leasesExpired } from "./changes.ts";
import { readContext } from "./context.ts";
import { dumpRecords, loadRecords } from "./dump.ts";
import type { TenantHandle } from "./handle.ts";
import { lastMessage, listMessages, listRunMessages, messagesAfter } from "./messages.ts";
import { rewindSession } from "./rewinds.ts";
import { recordRunEvents } from "./run-events.ts";
import { listRuns } from "./run-list.ts";
import { activeRun, finishRun, getRuns, latestRun, requestRunCancel, startRun } from "./runs.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { listSessions } from "./session-list.ts";
import { createSession, getSessions, mark, updateSession } from "./sessions.ts";
import { createSnapshot, latestSnapshot, listSnapshots } from "./snapshots.ts";
import { listRunEvents, runEventsAfter } from "./stored-events.ts";
import { deleteSession, deleteSomeOfUser } from "./tombstones.ts";
import { listUsage, tenantUsage } from "./usage-list.ts";

/** What a tenant's store is made of. `use` borrows the open file for one synchronous call. */
export interface StoreParts {
  readonly use: <T>(work: (handle: TenantHandle) => T) => T;
  /** The tenant's limits as they are now. */
  readonly limits: () => TenantLimits;
  readonly newUuid: UuidFactory;
}

type Read = <T>(work: (scope: ReadScope) => T) => Promise<T>;
type Write = <T>(work: (scope: WriteScope) => T) => Promise<T>;

/** One tenant's data; `within` gives it as one caller reaches it, and nothing widens that again. */
export function createSqliteStore(parts: StoreParts): TenantStore {
  const wakeEraser = () => parts.use((handle) => handle.eraser.wake());
  return {
    within(reach, budget = createReadBudget()) {
      const read: Read = async (work) => parts.use((handle) => handle.read(reach, budget, work));
      const write: Write = async (work) => parts.use((handle) => handle.write(reach, budget, parts.limits(), work));
      return {
        ...logOperations(read, write),
        ...contextOperations(read, write),
        ...deletions(write, wakeEraser),
        ...runOperations(read, write),
        ...tails(read),
        dump: () => dumpRecords(read),
        load: (records) => loadRecords(write, records),
      };
    },
  };
}

function logOperations(read: Read, write: Write) {
  return {
    getSessions: (ids) => read((scope) => getSessions(scope, ids)),
    listSessions: (request) => read((scope) => listSessions(scope, request)),
    createSession: (input) => write((scope) => createSession(scope, input)),
    updateSession: (input) => write((scope) => updateSession(scope, input)),
    appendMessages: (input) => write((scope) => appendMessages(scope, input)),
    listMessages: (request) => read((scope) => listMessages(scope, request)),
    lastMessage: (sessionId, roles, select) => read((scope) => lastMessage(scope, sessionId, roles, select)),
    listRunMessages: (runId, page, select) => read((scope) => listRunMessages(scope, runId, page, select)),
    listUsage: (request) => read((scope) => listUsage(scope, request)),
    tenantUsage: () => read(tenantUsage),
  } satisfies Partial<SessionStore>;
}

function contextOperations(read: Read, write: Write) {
  return {
    readContext: (request) => read((scope) => readContext(scope, request)),
    createSnapshot: (input) => write((scope) => createSnapshot(scope, input)),
    latestSnapshot: (sessionId) => read((scope) => latestSnapshot(scope, sessionId)),
    listSnapshots: (sessionId, page) => read((scope) => listSnapshots(scope, sessionId, page)),
    rewindSession: (input, select) => write((scope) => rewindSession(scope, input, select)),
  } satisfies Partial<SessionStore>;
}

function deletions(write: Write, wakeEraser: () => void) {
  return {
    async deleteSession(sessionId) {
      const deleted = await write((scope) => deleteSession(scope, sessionId));
      if (deleted !== null) wakeEraser();
      return deleted;
    },
    async deleteUserSessions(userId) {
      const all: SessionId[] = [];
      for (let more = true; more; ) {
        const some = await write((scope) => deleteSomeOfUser(scope, userId));
        all.push(...some.deleted);
        more = some.more;
      }
      if (all.length > 0) wakeEraser();
      return all;
    },
  } satisfies Partial<SessionStore>;
}

function runOperations(read: Read, write: Write) {
  return {
    startRun: (input) => write((scope) => startRun(scope, input)),
    recordRunEvents: (input) => write((scope) => recordRunEvents(scope, input)),
    finishRun: (input) => write((scope) => finishRun(scope, input)),
    requestRunCancel: (runId) => write((scope) => requestRunCancel(scope, runId)),
    getRuns: (ids) => read((scope) => getRuns(scope, ids)),
    listRuns: (request) => read((scope) => listRuns(scope, request)),
    activeRun: (sessionId) => read((scope) => activeRun(scope, sessionId)),
    latestRun: (sessionId) => read((scope) => latestRun(scope, sessionId)),
    listRunEvents: (runId, page) => read((scope) => listRunEvents(scope, runId, page)),
  } satisfies Partial<SessionStore>;
}

function tails(read: Read) {
  return {
    mark: (sessionId) => read((scope) => mark(scope, sessionId)),
    messagesAfter: (tail, select) => read((scope) => messagesAfter(scope, tail, select)),
    runEventsAfter: (tail) => read((scope) => runEventsAfter(scope, tail)),
    lastChangeNumber: () => read(lastChangeNumber),
    changesAfter: (changeNumber, limit) => read((scope) => changesAfter(scope, changeNumber, limit)),
    leasesExpired: (after, through) => read((scope) => leasesExpired(scope, after, through)),
  } satisfies Partial<SessionStore>;
}
