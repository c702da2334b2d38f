import { forbidden } from "../../errors.ts";
import type { HiddenRange } from "../context-view.ts";
import type { ContextPin } from "../contract.ts";
import { type Generation, MESSAGE_ROLES } from "../model.ts";
import type { EditedContext } from "./projection-cache.ts";
import type { ReadScope } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";

// Snapshots and rewinds are the edits of a context. They are numbered together and never changed, so the first so many
// of them, and the log up to a sequence, name one view for good.

/** A summary or a rewound message tells of every role: FORBIDDEN unless the caller sees all of them. */
export function requireEveryRole(scope: ReadScope): void {
  if (MESSAGE_ROLES.some((role) => !scope.reach.visibleRoles.has(role))) {
    throw forbidden("A context holds messages of every role; this key does not see all of them.");
  }
}

/** The context after the first `edits` edits. */
export function editedContext(scope: ReadScope, key: Generation, edits: number): EditedContext {
  const rewinds = scope
    .sql("SELECT edit, through_sequence, last_sequence FROM rewinds WHERE session_key = ? AND edit <= ? ORDER BY edit")
    .all(key, edits);
  const retired = rewinds.reduce((latest, row) => (row.through_sequence === 0 ? Number(row.edit) : latest), 0);
  const snapshot = scope
    .sql(`SELECT key, version, compacted_through_sequence FROM snapshots
      WHERE session_key = ? AND edit > ? AND edit <= ? ORDER BY version DESC LIMIT 1`)
    .get(key, retired, edits);
  return {
    snapshot: snapshot === undefined ? null : { key: Number(snapshot.key), version: Number(snapshot.version) },
    boundary: snapshot === undefined ? 0 : Number(snapshot.compacted_through_sequence),
    hidden: rewinds
      .map((row) => ({ after: Number(row.through_sequence), through: Number(row.last_sequence) }))
      .sort((left, right) => left.after - right.after),
  };
}

/** What is left of (after, through] once the hidden ranges, ascending by their start, are taken out of it. */
export function visibleRanges(hidden: readonly HiddenRange[], after: number, through: number): readonly HiddenRange[] {
  const visible: HiddenRange[] = [];
  let start = after;
  for (const range of hidden) {
    if (range.after > start) visible.push({ after: start, through: Math.min(range.after, through) });
    start = Math.max(start, range.through);
  }
  visible.push({ after: start, through });
  return visible.filter((range) => range.after < range.through);
}

/**
 * The view of now, or of when the log ended at `throughSequence`: what was stored before the message after it counts.
 */
export function pinOf(scope: ReadScope, row: SessionRow, throughSequence: number | null): ContextPin {
  const { lastSequence } = row.session;
  if (throughSequence === null || throughSequence >= lastSequence) {
    return { generation: row.key, lastSequence, edits: row.editCount };
  }
  const newest = ["snapshots", "rewinds"].map((table) =>
    scope
      .sql(`SELECT max(edit) AS edit FROM ${table} WHERE session_key = ? AND last_sequence <= ?`)
      .get(row.key, throughSequence),
  );
  const edits = Math.max(...newest.map((found) => Number(found?.edit ?? 0)));
  return { generation: row.key, lastSequence: throughSequence, edits };
}
