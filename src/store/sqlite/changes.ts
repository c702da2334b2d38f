import { type Instant, instant, plusSeconds } from "../../time.ts";
import type { SessionChangeEntry, Tombstone, TombstoneAttributes } from "../contract.ts";
import type { Session, SessionId } from "../model.ts";
import { PAGE_ROWS_MAX } from "../page.ts";
import { all, compares } from "./condition.ts";
import { RUNS_OF_SESSIONS } from "./run-rows.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import { SESSION_COLUMNS, sessionRow } from "./session-rows.ts";
import { ATTRIBUTES_SECONDS } from "./tombstones.ts";

export function lastChangeNumber(scope: ReadScope): number {
  return Number(scope.sql("SELECT change_number FROM tenant").get()?.change_number);
}

/** A session that changed often since is one entry: its latest state stands for all of it. */
export function changesAfter(scope: ReadScope, changeNumber: number, limit: number): readonly SessionChangeEntry[] {
  const rows = Math.min(limit, PAGE_ROWS_MAX);
  const entries = [...changedSessions(scope, changeNumber, rows), ...tombstonesAfter(scope, changeNumber, rows)];
  return entries.sort((left, right) => left.changeNumber - right.changeNumber).slice(0, rows);
}

function changedSessions(scope: ReadScope, changeNumber: number, limit: number): readonly SessionChangeEntry[] {
  const condition = all([
    { text: "change_number > ?", values: [changeNumber] },
    ...compares("user_id", "=", scope.reach.userId),
  ]);
  const rows = scope
    .sql(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE ${condition.text} ORDER BY change_number LIMIT ?`)
    .all(...condition.values, limit);
  return rows.map((row) => changeOf(sessionRow(row).session, changeNumber));
}

function changeOf(session: Session, changeNumber: number): SessionChangeEntry {
  const kind = session.createdChangeNumber > changeNumber ? "CREATED" : "UPDATED";
  return { changeNumber: session.changeNumber, sessionId: session.id, kind, session, tombstone: null };
}

function tombstonesAfter(scope: ReadScope, changeNumber: number, limit: number): readonly SessionChangeEntry[] {
  const condition = all([
    { text: "change_number > ?", values: [changeNumber] },
    { text: "session_id IS NOT NULL AND deleted_at >= ?", values: [plusSeconds(scope.now, -ATTRIBUTES_SECONDS)] },
    ...compares("json_extract(attributes, '$.userId')", "=", scope.reach.userId),
  ]);
  const rows = scope
    .sql(`SELECT * FROM tombstones WHERE ${condition.text} ORDER BY change_number LIMIT ?`)
    .all(...condition.values, limit);
  return rows.map((row) => {
    const tombstone = tombstoneOf(row);
    const { sessionId } = tombstone;
    return { changeNumber: Number(row.change_number), sessionId, kind: "DELETED", session: null, tombstone };
  });
}

function tombstoneOf(row: SqlRow): Tombstone {
  return {
    sessionId: row.session_id as SessionId,
    deletedAt: instant(Number(row.deleted_at)),
    attributes: typeof row.attributes === "string" ? (JSON.parse(row.attributes) as TombstoneAttributes) : null,
  };
}

export function leasesExpired(scope: ReadScope, after: Instant, through: Instant): readonly SessionId[] {
  const condition = all([
    {
      text: "runs.ended_as IS NULL AND runs.lease_expires_at > ? AND runs.lease_expires_at <= ?",
      values: [after, through],
    },
    { text: "runs.ordinal = sessions.run_count", values: [] },
    ...compares("sessions.user_id", "=", scope.reach.userId),
  ]);
  const rows = scope
    .sql(`SELECT sessions.id AS id FROM ${RUNS_OF_SESSIONS} WHERE ${condition.text} ORDER BY runs.lease_expires_at`)
    .all(...condition.values);
  return rows.map((row) => row.id as SessionId);
}
