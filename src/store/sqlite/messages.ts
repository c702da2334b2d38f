import { checkCount } from "../check.ts";
import type { ListMessages, Tail } from "../contract.ts";
import type { CursorScope } from "../cursor.ts";
import { MESSAGE_ROLES, type MessageRole, type RawMessage, type RawMessageSelection } from "../model.ts";
import { type Maybe, PAGE_BYTES_MAX, PAGE_ROWS_MAX, type Page } from "../page.ts";
import { type PagePlan, planPage, rowsThatFit, sealPage } from "../paging.ts";
import { all, type Condition, oneOf } from "./condition.ts";
import { messageColumns, rawMessage, roleCode } from "./message-rows.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";
import { findSession, sessionByKey } from "./sessions.ts";

export function listMessages(scope: ReadScope, request: ListMessages): Page<RawMessage> | null {
  const row = findSession(scope, request.sessionId);
  if (row === null) return null;
  const cursors: CursorScope = { kind: "messages", owner: [scope.tenantId, row.key] };
  const plan = planPage(request.page, cursors);
  const range = rangeOf(scope, row, request);
  const found = readPage(scope, row, range, plan, request.select);
  const totalCount = request.page.count === true ? countRows(scope, range) : null;
  return sealPage({ ...found, totalCount }, request.page, cursors, (message) => [message.sequence]);
}

/** The rows that the list consists of, whatever page of it is asked for. */
function rangeOf(scope: ReadScope, row: SessionRow, request: ListMessages): Condition {
  const after = checkCount(request.afterSequence ?? 0, ["afterSequence"]);
  const through = checkCount(request.throughSequence ?? Number.MAX_SAFE_INTEGER, ["throughSequence"]);
  const conditions: Condition[] = [
    { text: "session_key = ?", values: [row.key] },
    { text: "sequence > ?", values: [after] },
    { text: "sequence <= ?", values: [through] },
    ...roleCondition(scope, request.roles),
  ];
  if (request.requestId !== null && request.requestId !== undefined) {
    conditions.push({ text: "request_id = ?", values: [request.requestId] });
  }
  return all(conditions);
}

function roleCondition(scope: ReadScope, roles: Maybe<readonly MessageRole[]>): readonly Condition[] {
  const asked = new Set<MessageRole>(roles ?? MESSAGE_ROLES);
  const visible = MESSAGE_ROLES.filter((role) => asked.has(role) && scope.reach.visibleRoles.has(role));
  if (visible.length === MESSAGE_ROLES.length) return [];
  return oneOf("role", visible.map(roleCode));
}

function countRows(scope: ReadScope, range: Condition): number {
  const row = scope.sql(`SELECT count(*) AS total FROM raw_messages WHERE ${range.text}`).get(...range.values);
  return Number(row?.total);
}

/** Weighs the rows of a page first and reads the bodies of those that fit. */
function readPage(
  scope: ReadScope,
  session: SessionRow,
  range: Condition,
  plan: PagePlan,
  select: RawMessageSelection,
): { readonly nodes: readonly RawMessage[]; readonly hasNextPage: boolean; readonly hasPreviousPage: boolean } {
  const bounded = all([range, ...bounds(plan)]);
  const order = plan.direction === "forward" ? "ASC" : "DESC";
  const weighed = scope
    .sql(`SELECT sequence, byte_size FROM raw_messages WHERE ${bounded.text}
      ORDER BY sequence ${order} LIMIT ? OFFSET ?`)
    .all(...bounded.values, plan.rows + 1, plan.offset);
  const weights = weighed.slice(0, plan.rows).map((row) => weightOf(row, select));
  const rows = plan.rows === 0 ? 0 : rowsThatFit(weights, PAGE_BYTES_MAX);
  const sequences = weighed.slice(0, rows).map((row) => Number(row.sequence));
  if (plan.direction === "backward") sequences.reverse();
  scope.budget.spend(weights.slice(0, rows).reduce((total, weight) => total + weight, 0));
  const more = weighed.length > rows;
  const beyond = exists(scope, range, plan, sequences, weighed);
  return {
    nodes: messagesBySequence(scope, session, sequences, select),
    hasNextPage: plan.direction === "forward" ? more : beyond,
    hasPreviousPage: plan.direction === "forward" ? beyond : more,
  };
}

function weightOf(row: SqlRow, select: RawMessageSelection): number {
  return select.payload || select.text ? Number(row.byte_size) : 256;
}

function bounds(plan: PagePlan): readonly Condition[] {
  const after = plan.after?.[0] ?? null;
  const before = plan.before?.[0] ?? null;
  return [
    ...(after === null ? [] : [{ text: "sequence > ?", values: [after] }]),
    ...(before === null ? [] : [{ text: "sequence < ?", values: [before] }]),
  ];
}

/** Whether rows of the list lie beyond the end that the page is anchored at. */
function exists(
  scope: ReadScope,
  range: Condition,
  plan: PagePlan,
  sequences: readonly number[],
  weighed: readonly SqlRow[],
): boolean {
  const forward = plan.direction === "forward";
  const edge = forward ? (sequences[0] ?? weighed[0]?.sequence) : sequences.at(-1);
  const anchor = forward ? plan.after?.[0] : plan.before?.[0];
  if (edge === undefined && anchor === undefined) return forward && plan.offset > 0 && countRows(scope, range) > 0;
  const beyond =
    edge !== undefined
      ? { text: forward ? "sequence < ?" : "sequence > ?", values: [edge] }
      : { text: forward ? "sequence <= ?" : "sequence >= ?", values: [anchor ?? null] };
  const condition = all([range, beyond]);
  return scope.sql(`SELECT 1 FROM raw_messages WHERE ${condition.text} LIMIT 1`).get(...condition.values) !== undefined;
}

/** The messages on these sequences, in that order; those that are not there are left out. */
export function messagesBySequence(
  scope: ReadScope,
  session: SessionRow,
  sequences: readonly number[],
  select: RawMessageSelection,
): readonly RawMessage[] {
  const read = scope.sql(`SELECT ${messageColumns(select)} FROM raw_messages WHERE session_key = ? AND sequence = ?`);
  return sequences.flatMap((sequence) => {
    const row = read.get(session.key, sequence);
    return row === undefined ? [] : [rawMessage(row, session.session.id, select)];
  });
}

export function lastMessage(
  scope: ReadScope,
  sessionId: string,
  roles: Maybe<readonly MessageRole[]>,
  select: RawMessageSelection,
): RawMessage | null {
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const condition = all([{ text: "session_key = ?", values: [row.key] }, ...roleCondition(scope, roles)]);
  const found = scope
    .sql(`SELECT ${messageColumns(select)} FROM raw_messages WHERE ${condition.text} ORDER BY sequence DESC LIMIT 1`)
    .get(...condition.values);
  return found === undefined ? null : rawMessage(found, row.session.id, select);
}

export function messagesAfter(scope: ReadScope, tail: Tail, select: RawMessageSelection): readonly RawMessage[] | null {
  const row = sessionByKey(scope, tail.generation);
  if (row === null || row.session.id !== tail.sessionId) return null;
  const range = all([{ text: "session_key = ?", values: [row.key] }, ...roleCondition(scope, null)]);
  const rows = Math.min(tail.limit, PAGE_ROWS_MAX);
  const plan: PagePlan = { direction: "forward", rows, after: [tail.after], before: null, offset: 0 };
  return readPage(scope, row, range, plan, select).nodes;
}
