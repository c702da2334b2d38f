import type { ListRuns, RunFilter } from "../contract.ts";
import type { Run, RunStatus } from "../model.ts";
import type { Page } from "../page.ts";
import { all, type Condition, compares, oneOf } from "./condition.ts";
import { RUNS_OF_SESSIONS, runByKey } from "./run-rows.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import { findSession } from "./sessions.ts";
import { tableWalk, walkPage } from "./walk.ts";

/** What a run weighs in a page; an error's message is short. */
const RUN_WEIGHT = 1_024;

/** Newest first: within one session as they were started, across sessions by start and id. */
export function listRuns(scope: ReadScope, request: ListRuns): Page<Run> | null {
  const session = request.sessionId === undefined ? null : findSession(scope, request.sessionId);
  if (request.sessionId !== undefined && session === null) return null;
  const walk = tableWalk(scope, {
    table: session === null ? RUNS_IN_ORDER : RUNS_OF_SESSIONS,
    keys: session === null ? ["started_at", "run_id"] : ["ordinal"],
    order: "DESC",
    also: session === null ? "key" : "runs.key AS key",
    weight: String(RUN_WEIGHT),
    list:
      session === null
        ? all([...compares("user_id", "=", scope.reach.userId), ...filterConditions(scope, request.filter ?? {})])
        : { text: "runs.session_key = ?", values: [session.key] },
  });
  const fetch = (rows: readonly SqlRow[]) => rows.flatMap((row) => runByKey(scope, Number(row.key))?.run ?? []);
  const owner = [scope.tenantId, session?.key ?? "all"];
  return walkPage(scope, { ...walk, fetch }, request.page, { kind: "runs", owner });
}

/** Both tables have an id and a key; a view of the joined columns gives each a name of its own. */
const RUNS_IN_ORDER = `(SELECT runs.key AS key, runs.id AS run_id, runs.started_at AS started_at,
  runs.request_id AS request_id, runs.agent_name AS agent_name, runs.ended_as AS ended_as,
  runs.lease_expires_at AS lease_expires_at, sessions.user_id AS user_id FROM ${RUNS_OF_SESSIONS})`;

function filterConditions(scope: ReadScope, filter: RunFilter): readonly Condition[] {
  return [
    ...statusCondition(scope, filter.statuses),
    ...oneOf("agent_name", filter.agentNames),
    ...oneOf("user_id", filter.userIds),
    ...compares("request_id", "=", filter.requestId),
    ...compares("started_at", ">", filter.startedAfter),
    ...compares("started_at", "<", filter.startedBefore),
  ];
}

/** A status is a question of time: what has not ended is RUNNING until its lease runs out, and ABANDONED after. */
function statusCondition(scope: ReadScope, statuses: readonly RunStatus[] | null | undefined): readonly Condition[] {
  if (statuses === null || statuses === undefined) return [];
  const status =
    "CASE WHEN ended_as IS NOT NULL THEN ended_as WHEN lease_expires_at > ? THEN 'RUNNING' ELSE 'ABANDONED' END";
  const [condition] = oneOf(status, statuses);
  return condition === undefined ? [] : [{ text: condition.text, values: [scope.now, ...condition.values] }];
}
