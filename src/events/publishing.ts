import type { SessionStore } from "../store/contract.ts";
import type { RunEvent, SessionId, TenantId } from "../store/model.ts";
import type { Bus, BusEvent } from "./bus.ts";
import type { Drafts } from "./drafts.ts";

export interface PublishingParts {
  readonly bus: Bus;
  readonly tenantId: TenantId;
  /** Follows the deltas that pass by; without it no run has a draft. */
  readonly drafts?: Drafts;
}

/**
 * The same store; each write wakes the streams that it concerns once it is on disk and before its promise resolves.
 * Every method is listed, so that a new one can't be forgotten here.
 */
export function publishing(store: SessionStore, parts: PublishingParts): SessionStore {
  return { ...readsOf(store), ...sessionWrites(store, voiceOf(parts)), ...runWrites(store, voiceOf(parts)) };
}

interface Voice {
  readonly parts: PublishingParts;
  log(sessionId: SessionId, lastSequence: number): void;
  session(sessionId: SessionId): void;
  run(sessionId: SessionId, events: readonly RunEvent[]): void;
}

function voiceOf(parts: PublishingParts): Voice {
  const { bus, tenantId } = parts;
  const publish = (event: BusEvent) => {
    parts.drafts?.observe(event);
    bus.publish(event);
  };
  return {
    parts,
    log: (sessionId, lastSequence) => publish({ kind: "log", tenantId, sessionId, lastSequence }),
    session: (sessionId) => publish({ kind: "session", tenantId, sessionId }),
    run: (sessionId, events) => publish({ kind: "run", tenantId, sessionId, events }),
  };
}

type Writes =
  | "createSession"
  | "updateSession"
  | "deleteSession"
  | "deleteUserSessions"
  | "appendMessages"
  | "createSnapshot"
  | "rewindSession";
type RunWrites = "startRun" | "recordRunEvents" | "finishRun" | "requestRunCancel";

function sessionWrites(store: SessionStore, voice: Voice): Pick<SessionStore, Writes> {
  return {
    async createSession(input) {
      const result = await store.createSession(input);
      if (result.created) voice.session(result.session.id);
      return result;
    },
    async updateSession(input) {
      const session = await store.updateSession(input);
      voice.session(session.id);
      return session;
    },
    async deleteSession(sessionId) {
      const deleted = await store.deleteSession(sessionId);
      if (deleted !== null) voice.session(deleted);
      return deleted;
    },
    async deleteUserSessions(userId) {
      const deleted = await store.deleteUserSessions(userId);
      for (const sessionId of deleted) voice.session(sessionId);
      return deleted;
    },
    async appendMessages(input) {
      const result = await store.appendMessages(input);
      // A repeat that added nothing changed nothing.
      if (result.duplicates === result.messages.length) return result;
      for (const message of result.messages) voice.parts.drafts?.settle(voice.parts.tenantId, message);
      voice.log(result.session.id, result.session.lastSequence);
      voice.session(result.session.id);
      return result;
    },
    async createSnapshot(input) {
      const snapshot = await store.createSnapshot(input);
      voice.session(snapshot.sessionId);
      return snapshot;
    },
    async rewindSession(input, select) {
      const result = await store.rewindSession(input, select);
      voice.session(result.session.id);
      return result;
    },
  };
}

/** What the gateway itself records (start, end) is stored: a wake-up without events is enough to have it read. */
function runWrites(store: SessionStore, voice: Voice): Pick<SessionStore, RunWrites> {
  return {
    async startRun(input) {
      const run = await store.startRun(input);
      voice.run(run.sessionId, []);
      voice.session(run.sessionId);
      return run;
    },
    async recordRunEvents(input) {
      const result = await store.recordRunEvents(input);
      voice.run(result.run.sessionId, result.recorded);
      return result;
    },
    async finishRun(input) {
      const ending = await store.finishRun(input);
      if (!ending.ended) return ending;
      voice.parts.drafts?.forget(voice.parts.tenantId, ending.run.id);
      voice.run(ending.run.sessionId, []);
      voice.session(ending.run.sessionId);
      return ending;
    },
    async requestRunCancel(runId) {
      const run = await store.requestRunCancel(runId);
      voice.session(run.sessionId);
      return run;
    },
  };
}

function readsOf(store: SessionStore): Omit<SessionStore, Writes | RunWrites> {
  return {
    getSessions: (ids) => store.getSessions(ids),
    listSessions: (request) => store.listSessions(request),
    listMessages: (request) => store.listMessages(request),
    lastMessage: (sessionId, roles, select) => store.lastMessage(sessionId, roles, select),
    listRunMessages: (runId, page, select) => store.listRunMessages(runId, page, select),
    readContext: (request) => store.readContext(request),
    latestSnapshot: (sessionId) => store.latestSnapshot(sessionId),
    listSnapshots: (sessionId, page) => store.listSnapshots(sessionId, page),
    getRuns: (ids) => store.getRuns(ids),
    listRuns: (request) => store.listRuns(request),
    activeRun: (sessionId) => store.activeRun(sessionId),
    latestRun: (sessionId) => store.latestRun(sessionId),
    listRunEvents: (runId, page) => store.listRunEvents(runId, page),
    listUsage: (request) => store.listUsage(request),
    tenantUsage: () => store.tenantUsage(),
    mark: (sessionId) => store.mark(sessionId),
    messagesAfter: (tail, select) => store.messagesAfter(tail, select),
    runEventsAfter: (tail) => store.runEventsAfter(tail),
    lastChangeNumber: () => store.lastChangeNumber(),
    changesAfter: (changeNumber, limit) => store.changesAfter(changeNumber, limit),
    leasesExpired: (after, through) => store.leasesExpired(after, through),
    dump: () => store.dump(),
    load: (records) => store.load(records),
  };
}
