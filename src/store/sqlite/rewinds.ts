import { badInput, conflict, notFound } from "../../errors.ts";
import { checkCount, checkUuid } from "../check.ts";
import type { RewindResult, RewindSessionInput } from "../contract.ts";
import type { RawMessage, RawMessageSelection } from "../model.ts";
import { rowsThatFit } from "../paging.ts";
import { editedContext, requireEveryRole, visibleRanges } from "./context-edits.ts";
import { freeLeftover } from "./leftovers.ts";
import { messagesBySequence, weightSql } from "./messages.ts";
import type { EditedContext } from "./projection-cache.ts";
import type { ReadScope, SqlRow, WriteScope } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";
import { findSession, growSession } from "./sessions.ts";

/** Messages that the answer to a rewind lists. */
const REMOVED_MAX = 1_000;

/** A repeat under a known id gets the original answer, whatever it expects of the log by now. */
export function rewindSession(scope: WriteScope, input: RewindSessionInput, select: RawMessageSelection): RewindResult {
  const id = input.id === null || input.id === undefined ? null : checkUuid(input.id, ["id"]);
  const through = checkCount(input.throughSequence, ["throughSequence"]);
  const expected = checkCount(input.expectedLastSequence, ["expectedLastSequence"]);
  requireEveryRole(scope);
  const row = findSession(scope, input.sessionId);
  if (row === null) throw notFound("session");
  const known = id === null ? null : knownRewind(scope, row, id, through);
  if (known !== null) {
    const before = editedContext(scope, row.key, Number(known.edit) - 1);
    return {
      session: row.session,
      removed: removedBy(scope, row, before, through, Number(known.last_sequence), select),
    };
  }
  const { lastSequence } = row.session;
  if (expected !== lastSequence) {
    throw conflict("STALE_SEQUENCE", "The log has grown since it was read.", { lastSequence });
  }
  const before = editedContext(scope, row.key, row.editCount);
  checkPlace(through, before, lastSequence);
  scope
    .sql(`INSERT INTO rewinds (id, session_key, edit, through_sequence, last_sequence, created_at)
      VALUES (?, ?, ?, ?, ?, ?)`)
    .run(id ?? scope.newUuid(), row.key, row.editCount + 1, through, lastSequence, scope.now);
  const grown = growSession(scope, row.key, { edits: 1, touches: true });
  return { session: grown.session, removed: removedBy(scope, row, before, through, lastSequence, select) };
}

function knownRewind(scope: WriteScope, session: SessionRow, id: string, through: number): SqlRow | null {
  const row = scope.sql("SELECT session_key, edit, through_sequence, last_sequence FROM rewinds WHERE id = ?").get(id);
  if (row === undefined || freeLeftover(scope, "rewinds", row, id)) return null;
  if (row.session_key !== session.key) throw conflict("ID_TAKEN", "This rewind id stands in another session.");
  if (row.through_sequence !== through) throw conflict("CONTENT_DIFFERS", "This rewind id holds another rewind.");
  return row;
}

function checkPlace(through: number, { boundary }: EditedContext, lastSequence: number): void {
  if (through > lastSequence) {
    throw badInput(["throughSequence"], `The log ends at ${lastSequence}; a rewind goes back, not on.`);
  }
  if (through > 0 && through < boundary) {
    throw badInput(
      ["throughSequence"],
      `The snapshot stands for everything through ${boundary}; rewind to that or a later sequence, or to 0.`,
    );
  }
}

/** What left the context by this rewind, oldest first, while it fits into an answer. */
function removedBy(
  scope: ReadScope,
  row: SessionRow,
  before: EditedContext,
  through: number,
  lastSequence: number,
  select: RawMessageSelection,
): readonly RawMessage[] {
  const scan = scope.sql(`SELECT sequence, ${weightSql(select)} AS weight FROM raw_messages
    WHERE session_key = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`);
  const found: SqlRow[] = [];
  for (const range of visibleRanges(before.hidden, Math.max(through, before.boundary), lastSequence)) {
    if (found.length >= REMOVED_MAX) break;
    found.push(...scan.all(row.key, range.after, range.through, REMOVED_MAX - found.length));
  }
  const taken = found.slice(0, rowsThatFit(found.map((entry) => Number(entry.weight))));
  scope.budget.spend(taken.reduce((total, entry) => total + Number(entry.weight), 0));
  const sequences = taken.map((entry) => Number(entry.sequence));
  return messagesBySequence(scope, row, sequences, select);
}
