import { badInput, conflict, notFound } from "../../errors.ts";
import { type JsonObject, jsonEquals } from "../../json.ts";
import { type CheckedNotes, checkCount, checkNotes, checkTextSize, checkUsage, checkUuid } from "../check.ts";
import type { CreateSnapshotInput } from "../contract.ts";
import { type ContextSnapshot, NO_USAGE, type SnapshotId, type TokenUsage } from "../model.ts";
import type { Page, PageRequest } from "../page.ts";
import { editedContext, requireEveryRole } from "./context-edits.ts";
import { freeLeftover } from "./leftovers.ts";
import { renewRun, runForWriting } from "./runs.ts";
import type { ReadScope, SqlRow, WriteScope } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";
import { checkByteQuota, findSession, growSession, usageValues } from "./sessions.ts";
import { SNAPSHOT_COLUMNS, SNAPSHOT_WEIGHT, snapshotOf } from "./snapshot-rows.ts";
import { countUsage } from "./usage.ts";
import { tableWalk, walkPage } from "./walk.ts";

export const SUMMARY_BYTES_MAX = 1024 * 1024;

interface CheckedSnapshot {
  readonly id: SnapshotId | null;
  readonly summary: string;
  readonly usage: TokenUsage | null;
  readonly attributes: CheckedNotes;
  readonly through: number;
  readonly expectedVersion: number;
}

/** The order of checks is decision 1's: a retry gets its snapshot whatever has changed since. */
export function createSnapshot(scope: WriteScope, input: CreateSnapshotInput): ContextSnapshot {
  const checked = checkInput(input);
  requireEveryRole(scope);
  const row = findSession(scope, input.sessionId);
  if (row === null) throw notFound("session");
  const known = checked.id === null ? null : knownSnapshot(scope, row, checked.id, checked);
  if (known !== null) return known;
  const runId = input.runId ?? null;
  const run = runId === null ? null : runForWriting(scope, row.key, runId);
  checkPlace(scope, row, checked);
  checkByteQuota(scope, checked.summary.length + checked.attributes.json.length);
  const snapshot = insertSnapshot(scope, row, checked, run?.run.id ?? null);
  const usage = checked.usage ?? NO_USAGE;
  growSession(scope, row.key, { usage, edits: 1, snapshots: 1, touches: true });
  if (run !== null) renewRun(scope, run);
  if (checked.usage !== null) {
    const { agentName, userId } = row.session;
    countUsage(scope, { agentName, userId, provider: null, model: null, messageCount: 0, runCount: 0, tokens: usage });
  }
  return snapshot;
}

function checkInput(input: CreateSnapshotInput): CheckedSnapshot {
  if (input.summary === "") throw badInput(["summary"], "A summary can't be empty.");
  return {
    id: input.id === null || input.id === undefined ? null : checkUuid<SnapshotId>(input.id, ["id"]),
    summary: checkTextSize(input.summary, SUMMARY_BYTES_MAX, ["summary"]),
    usage: checkUsage(input.usage, ["usage"]),
    attributes: checkNotes(input.attributes, ["attributes"]),
    through: checkCount(input.compactedThroughSequence, ["compactedThroughSequence"]),
    expectedVersion: checkCount(input.expectedVersion, ["expectedVersion"]),
  };
}

function knownSnapshot(
  scope: WriteScope,
  session: SessionRow,
  id: SnapshotId,
  checked: CheckedSnapshot,
): ContextSnapshot | null {
  const row = scope.sql(`SELECT session_key, ${SNAPSHOT_COLUMNS} FROM snapshots WHERE id = ?`).get(id);
  if (row === undefined || freeLeftover(scope, "snapshots", row, id)) return null;
  if (row.session_key !== session.key) throw conflict("ID_TAKEN", "This snapshot id stands in another session.");
  const stored = snapshotOf(row, session.session.id);
  if (!sameContent(stored, checked)) throw conflict("CONTENT_DIFFERS", "This snapshot id holds another snapshot.");
  return stored;
}

function sameContent(stored: ContextSnapshot, checked: CheckedSnapshot): boolean {
  const countsOf = (usage: TokenUsage | null) => (usage === null ? null : usageValues(usage).join());
  const attributes: JsonObject = JSON.parse(checked.attributes.json);
  return (
    stored.summary === checked.summary &&
    stored.compactedThroughSequence === checked.through &&
    countsOf(stored.usage) === countsOf(checked.usage) &&
    jsonEquals(stored.attributes, attributes)
  );
}

/** CONFLICT for one made from an older context comes before a boundary that has become wrong by it. */
function checkPlace(scope: ReadScope, row: SessionRow, { through, expectedVersion }: CheckedSnapshot): void {
  const { snapshot, boundary } = editedContext(scope, row.key, row.editCount);
  const snapshotVersion = snapshot?.version ?? 0;
  if (expectedVersion !== snapshotVersion) {
    throw conflict("STALE_VERSION", "The context has another snapshot than the one expected.", { snapshotVersion });
  }
  const path = ["compactedThroughSequence"];
  const { lastSequence } = row.session;
  if (through < 1 || through > lastSequence) {
    throw badInput(path, `The raw log has no message ${through}; it ends at ${lastSequence}.`);
  }
  if (through <= boundary) {
    throw badInput(path, `The snapshot in effect stands for everything through ${boundary} already; go beyond that.`);
  }
}

function insertSnapshot(
  scope: WriteScope,
  row: SessionRow,
  checked: CheckedSnapshot,
  runId: string | null,
): ContextSnapshot {
  const { usage } = checked;
  const { lastKey } = scope
    .sql(`INSERT INTO snapshots (id, session_key, edit, version, expected_version, last_sequence,
      compacted_through_sequence, summary_json, attributes, run_id, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, reasoning_tokens, created_at) VALUES (${Array(16).fill("?").join(", ")})`)
    .run(
      ...[checked.id ?? scope.newUuid(), row.key, row.editCount + 1, row.snapshotCount + 1, checked.expectedVersion],
      ...[row.session.lastSequence, checked.through, JSON.stringify(checked.summary), checked.attributes.json, runId],
      ...(usage === null ? [null, null, null, null, null] : usageValues(usage)),
      scope.now,
    );
  const stored: SqlRow = scope.sql(`SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE key = ?`).get(lastKey) ?? {};
  return snapshotOf(stored, row.session.id);
}

export function latestSnapshot(scope: ReadScope, sessionId: string): ContextSnapshot | null {
  requireEveryRole(scope);
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const stored = scope
    .sql(`SELECT ${SNAPSHOT_COLUMNS}, ${SNAPSHOT_WEIGHT} AS weight FROM snapshots
      WHERE session_key = ? ORDER BY version DESC LIMIT 1`)
    .get(row.key);
  if (stored === undefined) return null;
  scope.budget.spend(Number(stored.weight));
  return snapshotOf(stored, row.session.id);
}

/** Newest version first. */
export function listSnapshots(scope: ReadScope, sessionId: string, page: PageRequest): Page<ContextSnapshot> | null {
  requireEveryRole(scope);
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const walk = tableWalk(scope, {
    table: "snapshots",
    keys: ["version"],
    order: "DESC",
    also: "key",
    weight: SNAPSHOT_WEIGHT,
    list: { text: "session_key = ?", values: [row.key] },
  });
  const read = scope.sql(`SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE key = ?`);
  const fetch = (rows: readonly SqlRow[]) =>
    rows.flatMap((found) => {
      const stored = read.get(found.key ?? null);
      return stored === undefined ? [] : [snapshotOf(stored, row.session.id)];
    });
  const counted = { ...walk, fetch, count: () => row.snapshotCount };
  return walkPage(scope, counted, page, { kind: "snapshots", owner: [scope.tenantId, row.key] });
}
