import { type Instant, instant } from "../../time.ts";
import { normalizeUuid } from "../../uuid.ts";
import type { AgentPhase, Generation, RequestId, Run, RunId, RunOutcome, SessionId, UserId } from "../model.ts";
import { type RunStanding, standingOf, statusOf } from "../run-state.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import { usageOf } from "./session-rows.ts";

/** A tool call that was started and has not settled: its id and its name. */
export type OpenTool = readonly [id: string, name: string];

/** A run and what only the store knows of it. */
export interface RunRow {
  readonly key: number;
  readonly sessionKey: Generation;
  readonly userId: UserId | null;
  readonly ordinal: number;
  readonly standing: RunStanding;
  readonly leaseSeconds: number;
  readonly storedEventCount: number;
  readonly openTools: readonly OpenTool[];
  readonly run: Run;
}

/** Runs whose sessions are there: rows that await erasure have none. */
export const RUNS_OF_SESSIONS = "runs JOIN sessions ON sessions.key = runs.session_key";

/** The columns that `runRow` reads, of RUNS_OF_SESSIONS. */
export const RUN_COLUMNS = `runs.*, sessions.id AS session_id, sessions.user_id AS user_id,
  sessions.run_count AS runs_of_session`;

export function runRow(row: SqlRow, now: Instant): RunRow {
  const endedAs = row.ended_as as RunOutcome | null;
  const leaseExpiresAt = instant(Number(row.lease_expires_at));
  const ordinal = Number(row.ordinal);
  const openTools = toolsOf(row.active_tool_json);
  return {
    key: Number(row.key),
    sessionKey: row.session_key as Generation,
    userId: row.user_id as UserId | null,
    ordinal,
    standing: standingOf({ endedAs, ordinal, runsOfSession: Number(row.runs_of_session) }),
    leaseSeconds: Number(row.lease_seconds),
    storedEventCount: Number(row.stored_event_count),
    openTools,
    run: {
      id: row.id as RunId,
      sessionId: row.session_id as SessionId,
      requestId: row.request_id as RequestId,
      agentName: row.agent_name as string | null,
      status: statusOf(endedAs, leaseExpiresAt, now),
      phase: row.phase as AgentPhase,
      turn: Number(row.turn),
      activeTool: openTools.at(-1)?.[1] ?? null,
      error: errorOf(row),
      usage: usageOf(row),
      lastEventIndex: Number(row.last_event_index),
      cancelRequestedAt: timeOrNull(row.cancel_requested_at),
      startedAt: instant(Number(row.started_at)),
      updatedAt: instant(Number(row.updated_at)),
      leaseExpiresAt,
      completedAt: timeOrNull(row.completed_at),
    },
  };
}

function toolsOf(json: SqlRow[string] | undefined): readonly OpenTool[] {
  return typeof json === "string" ? (JSON.parse(json) as readonly OpenTool[]) : [];
}

function errorOf(row: SqlRow): Run["error"] {
  if (typeof row.error_name_json !== "string") return null;
  return {
    name: JSON.parse(row.error_name_json) as string,
    message: JSON.parse(String(row.error_message_json)) as string,
  };
}

function timeOrNull(value: SqlRow[string] | undefined): Instant | null {
  return typeof value === "number" ? instant(value) : null;
}

/** The run of that id, in any case, in reach; null for one missing, out of reach, or of a deleted session. */
export function findRun(scope: ReadScope, id: string): RunRow | null {
  const uuid = normalizeUuid(id);
  if (uuid === null) return null;
  const row = scope.sql(`SELECT ${RUN_COLUMNS} FROM ${RUNS_OF_SESSIONS} WHERE runs.id = ?`).get(uuid);
  return row === undefined ? null : withinReach(scope, runRow(row, scope.now));
}

/** The session's newest run. */
export function newestRun(scope: ReadScope, sessionKey: Generation): RunRow | null {
  const row = scope
    .sql(`SELECT ${RUN_COLUMNS} FROM ${RUNS_OF_SESSIONS} WHERE runs.session_key = ? ORDER BY runs.ordinal DESC LIMIT 1`)
    .get(sessionKey);
  return row === undefined ? null : runRow(row, scope.now);
}

export function runByKey(scope: ReadScope, key: number): RunRow | null {
  const row = scope.sql(`SELECT ${RUN_COLUMNS} FROM ${RUNS_OF_SESSIONS} WHERE runs.key = ?`).get(key);
  return row === undefined ? null : runRow(row, scope.now);
}

function withinReach(scope: ReadScope, row: RunRow): RunRow | null {
  return scope.reach.userId === null || scope.reach.userId === row.userId ? row : null;
}
