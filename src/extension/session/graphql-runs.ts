import type { SessionStore } from "../../store/contract.ts";
import type { FetchClient } from "./fetch-client.ts";
import { eventsInputOf, runFilterOf } from "./inputs.ts";
import {
  answered,
  contextViewOf,
  pageOf,
  pageVariables,
  rawMessageOf,
  runEventOf,
  runOf,
  sessionOf,
  snapshotOf,
} from "./records.ts";
import * as documents from "./run-documents.ts";

type ContextOperations = Pick<
  SessionStore,
  "readContext" | "createSnapshot" | "latestSnapshot" | "listSnapshots" | "rewindSession"
>;
type RunWrites = Pick<SessionStore, "startRun" | "recordRunEvents" | "finishRun" | "requestRunCancel">;
type RunReads = Pick<SessionStore, "getRuns" | "listRuns" | "activeRun" | "latestRun" | "listRunEvents">;

/** Contexts, snapshots and runs, through the API. */
export function runOperations(client: FetchClient): ContextOperations & RunWrites & RunReads {
  return { ...contextCalls(client), ...runWriteCalls(client), ...runReadCalls(client) };
}

function contextCalls(client: FetchClient): ContextOperations {
  return {
    async readContext({ sessionId, throughSequence, page }) {
      const { sessionContext } = await client.ask(documents.ReadContext, {
        sessionId,
        throughSequence: throughSequence ?? null,
        messages: page !== undefined,
        count: page?.count === true,
        ...pageVariables(page ?? {}),
      });
      return contextViewOf(sessionContext, sessionContext.messages, page ?? {});
    },
    async createSnapshot(input) {
      const { createSnapshot } = await client.ask(documents.CreateSnapshot, { input });
      return snapshotOf(answered(createSnapshot).snapshot);
    },
    async latestSnapshot(sessionId) {
      const { session } = await client.ask(documents.LatestSnapshot, { sessionId });
      const latest = session?.latestSnapshot ?? null;
      return latest === null ? null : snapshotOf(latest);
    },
    async listSnapshots(sessionId, page) {
      const variables = { sessionId, ...pageVariables(page), count: page.count === true };
      const { session } = await client.ask(documents.ListSnapshots, variables);
      return session === null ? null : pageOf(session.snapshots, snapshotOf, page);
    },
    async rewindSession(input, select) {
      const { rewindSession } = await client.ask(documents.RewindSession, { input, ...select });
      const { session, removed } = answered(rewindSession);
      return { session: sessionOf(session), removed: removed.map(rawMessageOf) };
    },
  };
}

function runWriteCalls(client: FetchClient): RunWrites {
  return {
    async startRun(input) {
      const { startRun } = await client.ask(documents.StartRun, { input });
      return runOf(answered(startRun).run);
    },
    async recordRunEvents(input) {
      const { recordRunEvents } = await client.ask(documents.RecordRunEvents, { input: eventsInputOf(input) });
      const { run, recorded } = answered(recordRunEvents);
      return { run: runOf(run), recorded: recorded.map(runEventOf) };
    },
    async finishRun(input) {
      const { finishRun } = await client.ask(documents.FinishRun, { input });
      const { run, ended } = answered(finishRun);
      return { run: runOf(run), ended };
    },
    async requestRunCancel(runId) {
      const { requestRunCancel } = await client.ask(documents.RequestRunCancel, { input: { runId } });
      return runOf(answered(requestRunCancel).run);
    },
  };
}

function runReadCalls(client: FetchClient): RunReads {
  return {
    getRuns: (ids) =>
      Promise.all(
        ids.map(async (id) => {
          const { run } = await client.ask(documents.GetRun, { id });
          return run === null ? null : runOf(run);
        }),
      ),
    async listRuns({ sessionId, filter, page }) {
      const paging = { ...pageVariables(page), count: page.count === true };
      if (sessionId === undefined) {
        const { runs } = await client.ask(documents.ListRuns, { filter: runFilterOf(filter), ...paging });
        return pageOf(runs, runOf, page);
      }
      const { session } = await client.ask(documents.ListSessionRuns, { sessionId, ...paging });
      return session === null ? null : pageOf(session.runs, runOf, page);
    },
    async activeRun(sessionId) {
      const { session } = await client.ask(documents.ActiveRun, { sessionId });
      const active = session?.activeRun ?? null;
      return active === null ? null : runOf(active);
    },
    async latestRun(sessionId) {
      const { session } = await client.ask(documents.LatestRun, { sessionId });
      const latest = session?.latestRun ?? null;
      return latest === null ? null : runOf(latest);
    },
    async listRunEvents(runId, page) {
      const variables = { runId, ...pageVariables(page), count: page.count === true };
      const { run } = await client.ask(documents.ListRunEvents, variables);
      return run === null ? null : pageOf(run.events, runEventOf, page);
    },
  };
}
