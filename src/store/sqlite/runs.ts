import { assert } from "../../assert.ts";
import { type ConflictReason, conflict, notFound } from "../../errors.ts";
import { formatInstant } from "../../time.ts";
import { addUsage, checkAgentName, checkOptionalId, checkUuid } from "../check.ts";
import type { FinishRunInput, RunEnding, StartRunInput } from "../contract.ts";
import {
  type Generation,
  NO_USAGE,
  type RequestId,
  type Run,
  type RunError,
  type RunId,
  type TokenUsage,
} from "../model.ts";
import { checkLease, checkOutcome } from "../run-check.ts";
import { leaseFrom, RUN_VERDICTS, type RunCommand, secondsUntil } from "../run-state.ts";
import { findRun, newestRun, type RunRow, runByKey } from "./run-rows.ts";
import type { ReadScope, WriteScope } from "./scope.ts";
import { checkSessionAttributes } from "./session-attributes.ts";
import type { SessionRow } from "./session-rows.ts";
import {
  applyAttributes,
  findSession,
  growSession,
  insertSession,
  sessionForWriting,
  usageValues,
} from "./sessions.ts";
import { storeEvent } from "./stored-events.ts";
import { countUsage } from "./usage.ts";

/** Starts a run and takes the session's lease, or gives back the one that has this id (decision 16). */
export function startRun(scope: WriteScope, input: StartRunInput): Run {
  const id = input.id === null || input.id === undefined ? null : checkUuid<RunId>(input.id, ["id"]);
  const requestId = checkOptionalId<RequestId>(input.requestId, ["requestId"]);
  const leaseSeconds = checkLease(input.leaseSeconds);
  const named = input.agentName ?? null;
  const agentName = named === null ? null : checkAgentName(named, ["agentName"]);
  const found = sessionForWriting(scope, input.sessionId, true);
  const known = id === null ? null : knownRun(scope, id, found, requestId);
  if (known !== null) return restartRun(scope, known);
  const attributes = checkSessionAttributes(scope, found, input.sessionId, input.session, ["session"]);
  if (found !== null) refuseHeldLease(scope, found.key);
  const session = found ?? insertSession(scope, input.sessionId, attributes);
  if (found !== null) applyAttributes(scope, found, attributes);
  const name = agentName ?? attributes.agentName ?? session.session.agentName;
  return insertRun(scope, session, {
    id: id ?? (scope.newUuid() as RunId),
    requestId: requestId ?? (scope.newUuid() as RequestId),
    agentName: name,
    leaseSeconds,
  });
}

/** The run that stands under the id: CONFLICT in another session or for another request. Erased leftovers make way. */
function knownRun(scope: WriteScope, id: RunId, session: SessionRow | null, requestId: RequestId | null) {
  const stored = scope.sql("SELECT key, session_key FROM runs WHERE id = ?").get(id);
  if (stored === undefined) return null;
  const row = runByKey(scope, Number(stored.key));
  if (row === null) {
    // Renamed, not removed: events that await erasure hang on its key, which must not be given again.
    scope.sql("UPDATE runs SET id = 'erased-' || key WHERE id = ?").run(id);
    return null;
  }
  if (findRun(scope, id) === null) throw conflict("ID_TAKEN", "This run id is taken.");
  const otherRequest = requestId !== null && requestId !== row.run.requestId;
  if (row.sessionKey !== session?.key || otherRequest) {
    throw conflict("ATTRIBUTES_DIFFER", "This run id stands for another session or request.");
  }
  return row;
}

function restartRun(scope: WriteScope, row: RunRow): Run {
  if (verdictOf(row, "start") === "unchanged") return row.run;
  const revived = row.run.status === "ABANDONED";
  const renewed = renewRun(scope, row);
  if (revived) growSession(scope, row.sessionKey, { touches: false });
  return renewed;
}

function refuseHeldLease(scope: WriteScope, sessionKey: Generation): void {
  const holder = newestRun(scope, sessionKey);
  if (holder?.run.status !== "RUNNING") return;
  const { id, leaseExpiresAt } = holder.run;
  throw conflict("LEASE_HELD", "Another run of this session is alive.", {
    runId: id,
    leaseExpiresAt: formatInstant(leaseExpiresAt),
    retryAfter: secondsUntil(leaseExpiresAt, scope.now),
  });
}

interface NewRun {
  readonly id: RunId;
  readonly requestId: RequestId;
  readonly agentName: string | null;
  readonly leaseSeconds: number;
}

function insertRun(scope: WriteScope, session: SessionRow, { id, requestId, agentName, leaseSeconds }: NewRun): Run {
  const grown = growSession(scope, session.key, { runs: 1, touches: true });
  const { lastKey } = scope
    .sql(`INSERT INTO runs (id, session_key, ordinal, request_id, agent_name, phase, lease_seconds, lease_expires_at,
      started_at, updated_at) VALUES (?, ?, ?, ?, ?, 'CREATED', ?, ?, ?, ?)`)
    .run(
      ...[id, session.key, grown.runCount, requestId, agentName, leaseSeconds],
      ...[leaseFrom(scope.now, leaseSeconds), scope.now, scope.now],
    );
  recordOwnEvent(scope, present(runByKey(scope, lastKey)), "RUN_STARTED");
  const { userId } = session.session;
  const bucket = { agentName, userId, provider: null, model: null, messageCount: 0, runCount: 1, tokens: NO_USAGE };
  countUsage(scope, bucket);
  return present(runByKey(scope, lastKey)).run;
}

function present(row: RunRow | null): RunRow {
  assert(row !== null, "a run that was just written is there");
  return row;
}

/** An event that the gateway records itself, stored however many there are. */
function recordOwnEvent(scope: WriteScope, row: RunRow, type: "RUN_STARTED" | `RUN_${FinishRunInput["status"]}`): void {
  const index = row.run.lastEventIndex + 1;
  const { phase, turn } = row.run;
  const plain = { toolCall: null, messageId: null, delta: null, name: null, payloadJson: null };
  storeEvent(scope, row, index, { type, phase, turn, ...plain, occurredAt: scope.now });
  scope
    .sql("UPDATE runs SET last_event_index = ?, stored_event_count = stored_event_count + 1 WHERE key = ?")
    .run(index, row.key);
}

export function finishRun(scope: WriteScope, input: FinishRunInput): RunEnding {
  const error = checkOutcome(input);
  const row = findRun(scope, input.runId);
  if (row === null) throw notFound("run");
  const verdict = verdictOf(row, "finish");
  if (verdict === "unchanged") return { run: row.run, ended: false };
  endRun(scope, row, input.status, error);
  if (verdict === "end") growSession(scope, row.sessionKey, { touches: true });
  return { run: present(runByKey(scope, row.key)).run, ended: true };
}

function endRun(scope: WriteScope, row: RunRow, status: FinishRunInput["status"], error: RunError | null): void {
  scope
    .sql(`UPDATE runs SET ended_as = ?, phase = ?, active_tool_json = NULL, error_name_json = ?, error_message_json = ?,
      updated_at = ?, completed_at = ? WHERE key = ?`)
    .run(
      ...[status, status],
      ...[error === null ? null : JSON.stringify(error.name), error === null ? null : JSON.stringify(error.message)],
      ...[scope.now, scope.now, row.key],
    );
  recordOwnEvent(scope, present(runByKey(scope, row.key)), `RUN_${status}`);
}

export function requestRunCancel(scope: WriteScope, runId: string): Run {
  const row = findRun(scope, runId);
  if (row === null) throw notFound("run");
  if (verdictOf(row, "cancel") !== "ask" || row.run.cancelRequestedAt !== null) return row.run;
  scope.sql("UPDATE runs SET cancel_requested_at = ? WHERE key = ?").run(scope.now, row.key);
  growSession(scope, row.sessionKey, { touches: false });
  return present(runByKey(scope, row.key)).run;
}

/** What the command comes to; CONFLICT where the run has ended or lost its lease. */
export function verdictOf(row: RunRow, command: RunCommand): "renew" | "end" | "endQuietly" | "ask" | "unchanged" {
  const verdict = RUN_VERDICTS[row.standing][command];
  switch (verdict) {
    case "renew":
    case "end":
    case "endQuietly":
    case "ask":
    case "unchanged":
      return verdict;
    case "RUN_ENDED":
      throw refused(verdict, "This run has ended.");
    default:
      throw refused(verdict, "A later run has taken this session over.");
  }
}

function refused(reason: ConflictReason, message: string) {
  return conflict(reason, message);
}

/** The live run that a write names, in this very session; NOT_FOUND, or CONFLICT where it may no longer write. */
export function runForWriting(scope: ReadScope, sessionKey: Generation | null, runId: string): RunRow {
  const row = findRun(scope, runId);
  if (row === null || row.sessionKey !== sessionKey) throw notFound("run");
  verdictOf(row, "append");
  return row;
}

/** A sign of life: the lease begins anew, and what the write spent is added to the run's totals. */
export function renewRun(scope: WriteScope, row: RunRow, usage: TokenUsage = NO_USAGE): Run {
  scope
    .sql(`UPDATE runs SET lease_expires_at = ?, updated_at = ?, input_tokens = ?, output_tokens = ?,
      cache_read_tokens = ?, cache_write_tokens = ?, reasoning_tokens = ? WHERE key = ?`)
    .run(
      ...[leaseFrom(scope.now, row.leaseSeconds), scope.now],
      ...[...usageValues(addUsage(row.run.usage, usage)), row.key],
    );
  return present(runByKey(scope, row.key)).run;
}

export function getRuns(scope: ReadScope, ids: readonly string[]): readonly (Run | null)[] {
  return ids.map((id) => findRun(scope, id)?.run ?? null);
}

export function activeRun(scope: ReadScope, sessionId: string): Run | null {
  const run = latestRun(scope, sessionId);
  return run?.status === "RUNNING" ? run : null;
}

export function latestRun(scope: ReadScope, sessionId: string): Run | null {
  const session = findSession(scope, sessionId);
  return session === null ? null : (newestRun(scope, session.key)?.run ?? null);
}
