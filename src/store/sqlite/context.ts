import { badInput, unavailable } from "../../errors.ts";
import { checkCount, utf8Size } from "../check.ts";
import { type ContextUnit, pageUnits, projectContext, type SkeletonEntry } from "../context-view.ts";
import type { ContextPin, ContextView, ReadContext } from "../contract.ts";
import type { CursorPosition } from "../cursor.ts";
import { composePayload, encodeMessage } from "../message-codec.ts";
import type { ContextMessage, ContextRepair, ContextSnapshot, Generation } from "../model.ts";
import { PAGE_BYTES_MAX, type Page, type PageRequest } from "../page.ts";
import { type PagePlan, planPage, rowsThatFit, sealPage } from "../paging.ts";
import { editedContext, pinOf, requireEveryRole, visibleRanges } from "./context-edits.ts";
import { contextMessage, PAYLOAD_COLUMNS, skeletonEntry } from "./message-rows.ts";
import type { PinnedContext } from "./projection-cache.ts";
import type { ReadScope } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";
import { findSession } from "./sessions.ts";
import { SNAPSHOT_COLUMNS, snapshotOf } from "./snapshot-rows.ts";

export function readContext(scope: ReadScope, request: ReadContext): ContextView | null {
  const through = request.throughSequence ?? null;
  if (through !== null) checkCount(through, ["throughSequence"]);
  requireEveryRole(scope);
  const row = findSession(scope, request.sessionId);
  if (row === null || (request.pin !== undefined && request.pin.generation !== row.key)) return null;
  const pin = request.pin ?? pinOf(scope, row, through);
  const { edited, projection } = contextAt(scope, pin);
  const snapshot = edited.snapshot === null ? null : snapshotInEffect(scope, row, edited.snapshot.key);
  const found = request.page === undefined ? null : readPage(scope, row, pin, request.page);
  scope.budget.spend(weightOfSnapshot(snapshot) + weightOfRepairs(projection.repairs) + (found?.bytes ?? 0));
  return {
    session: row.session,
    pin,
    snapshot,
    snapshotVersion: edited.snapshot?.version ?? 0,
    lastSequence: pin.lastSequence,
    repairs: projection.repairs,
    messages: found === null ? null : fillPage(scope, row, found),
  };
}

function snapshotInEffect(scope: ReadScope, row: SessionRow, key: number): ContextSnapshot {
  const found = scope.sql(`SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE key = ?`).get(key);
  if (found === undefined) throw damaged();
  return snapshotOf(found, row.session.id);
}

function weightOfSnapshot(snapshot: ContextSnapshot | null): number {
  return snapshot === null ? 0 : 256 + utf8Size(snapshot.summary);
}

function weightOfRepairs(repairs: readonly ContextRepair[]): number {
  return repairs.reduce((total, repair) => total + 64 + repair.toolCallId.length, 0);
}

function damaged(cause?: unknown) {
  return unavailable("A message of this context can't be read from the disk.", cause);
}

/** Decides pairing from columns alone; no body is read. */
function contextAt(scope: ReadScope, pin: ContextPin): PinnedContext {
  return scope.projections.at(pin, () => {
    const edited = editedContext(scope, pin.generation, pin.edits);
    const ranges = visibleRanges(edited.hidden, edited.boundary, pin.lastSequence);
    const projection = projectContext(ranges.flatMap((range) => skeletonOf(scope, pin.generation, range)));
    const messageCount = projection.units.reduce((total, unit) => total + unit.members.length, 0);
    return { edited, projection, messageCount };
  });
}

/** What the filter of decision 12 leaves of a range. */
function skeletonOf(
  scope: ReadScope,
  key: Generation,
  range: { readonly after: number; readonly through: number },
): readonly SkeletonEntry[] {
  const rows = scope
    .sql(`SELECT sequence, role, tool_call_id_json, calls_json FROM raw_messages
      WHERE session_key = ? AND sequence > ? AND sequence <= ? AND include_in_context = 1 AND context_empty = 0
      ORDER BY sequence`)
    .all(key, range.after, range.through);
  try {
    return rows.map(skeletonEntry);
  } catch (cause) {
    throw damaged(cause);
  }
}

/** A message of a page before its body is read. */
interface PlacedMessage {
  /** Null for a synthesized result, whose payload is there already. */
  readonly sequence: number | null;
  readonly payload: string | null;
  readonly position: CursorPosition;
}
interface PlacedPage {
  readonly messages: readonly PlacedMessage[];
  readonly bytes: number;
  readonly request: PageRequest;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly totalCount: number | null;
}

function cursorsOf(scope: ReadScope, row: SessionRow) {
  return { kind: "context", owner: [scope.tenantId, row.key] } as const;
}

/** Which messages a page holds: whole units while they fit into its rows and bytes. */
function readPage(scope: ReadScope, row: SessionRow, present: ContextPin, request: PageRequest): PlacedPage {
  const plan = planPage(request, cursorsOf(scope, row));
  const pin = pinInCursors(plan, row) ?? present;
  const { projection, messageCount } = contextAt(scope, pin);
  const forward = plan.direction === "forward";
  const found = pageUnits(projection.units, {
    direction: plan.direction,
    rows: plan.rows,
    after: headOf(plan.after),
    before: headOf(plan.before),
  });
  const placed = found.units.map((unit) => placeUnit(scope, pin, unit));
  const taken = forward ? placed : [...placed].reverse();
  const fitting = taken.slice(
    0,
    rowsThatFit(
      taken.map((unit) => unit.bytes),
      PAGE_BYTES_MAX,
    ),
  );
  const cut = fitting.length < taken.length;
  if (!forward) fitting.reverse();
  return {
    messages: fitting.flatMap((unit) => unit.messages),
    bytes: fitting.reduce((total, unit) => total + unit.bytes, 0),
    request,
    hasNextPage: found.hasNextPage || (cut && forward),
    hasPreviousPage: found.hasPreviousPage || (cut && !forward),
    totalCount: request.count === true ? messageCount : null,
  };
}

function headOf(position: CursorPosition | null): number | null {
  return position === null ? null : Number(position[2]);
}

/** The view that a walk began with: its later pages belong to it, whatever is written meanwhile. */
function pinInCursors(plan: PagePlan, row: SessionRow): ContextPin | null {
  const after = plan.after === null ? null : pinInCursor(plan.after, row, "after");
  const before = plan.before === null ? null : pinInCursor(plan.before, row, "before");
  if (after !== null && before !== null) {
    const same = after.lastSequence === before.lastSequence && after.edits === before.edits;
    if (!same) throw badInput(["before"], "This cursor belongs to another view of the context than the one in after.");
  }
  return after ?? before;
}

function pinInCursor(position: CursorPosition, row: SessionRow, argument: "after" | "before"): ContextPin {
  const [lastSequence, edits, head] = position;
  const within = (value: unknown, limit: number): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= limit;
  if (!within(lastSequence, row.session.lastSequence) || !within(edits, row.editCount) || typeof head !== "number") {
    throw badInput([argument], "This cursor is not one of this list; pass a cursor as the list gave it.");
  }
  return { generation: row.key, lastSequence, edits };
}

function placeUnit(scope: ReadScope, pin: ContextPin, unit: ContextUnit) {
  const sizes = scope.sql("SELECT byte_size FROM raw_messages WHERE session_key = ? AND sequence = ?");
  let bytes = 0;
  const messages = unit.members.map((member, index): PlacedMessage => {
    const position = [pin.lastSequence, pin.edits, unit.headSequence, index];
    if (member.kind === "stored") {
      bytes += 256 + Number(sizes.get(pin.generation, member.sequence)?.byte_size ?? 0);
      return { sequence: member.sequence, payload: null, position };
    }
    const payload = synthesizedPayload(member.toolCallId, member.name);
    bytes += 256 + utf8Size(payload);
    return { sequence: null, payload, position };
  });
  return { messages, bytes };
}

/** Stands for a result that was never recorded (decision 13): the model must see that the call may have happened. */
function synthesizedPayload(toolCallId: string, name: string): string {
  const text = "No result was recorded for this call. It may have run.";
  return composePayload(
    encodeMessage({
      role: "TOOL",
      text,
      parts: [{ kind: "text", text }],
      attributes: { synthesized: true },
      includeInContext: true,
      toolCallId,
      name,
      success: false,
    }),
  );
}

/** Reads the bodies of a page's messages. */
function fillPage(scope: ReadScope, row: SessionRow, page: PlacedPage): Page<ContextMessage> {
  const read = scope.sql(`SELECT ${PAYLOAD_COLUMNS} FROM raw_messages WHERE session_key = ? AND sequence = ?`);
  const nodes = page.messages.map(({ sequence, payload }): ContextMessage => {
    if (payload !== null || sequence === null) return { sequence: null, id: null, payload: payload ?? "" };
    const stored = read.get(row.key, sequence);
    const message = stored === undefined ? null : contextMessage(stored);
    if (message === null) throw damaged();
    return message;
  });
  const { hasNextPage, hasPreviousPage, totalCount } = page;
  const positions = new Map(nodes.map((node, index) => [node, page.messages[index]?.position ?? []]));
  const found = { nodes, hasNextPage, hasPreviousPage, totalCount };
  return sealPage(found, page.request, cursorsOf(scope, row), (node) => positions.get(node) ?? []);
}
