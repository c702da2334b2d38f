import { checkCount } from "../check.ts";
import type { ListMessages, Tail } from "../contract.ts";
import {
  MESSAGE_ROLES,
  type MessageRole,
  type RawMessage,
  type RawMessageSelection,
  type SessionId,
} from "../model.ts";
import { type Maybe, PAGE_ROWS_MAX, type Page, type PageRequest } from "../page.ts";
import { all, type Condition, compares } from "./condition.ts";
import { messageColumns, rawMessage, roleCode } from "./message-rows.ts";
import { findRun } from "./run-rows.ts";
import type { ReadScope, SqlRow } from "./scope.ts";
import type { SessionRow } from "./session-rows.ts";
import { findSession, sessionByKey } from "./sessions.ts";
import { type TableList, tableWalk, type Walk, walkAfter, walkPage } from "./walk.ts";

export function listMessages(scope: ReadScope, request: ListMessages): Page<RawMessage> | null {
  const row = findSession(scope, request.sessionId);
  if (row === null) return null;
  const after = checkCount(request.afterSequence ?? 0, ["afterSequence"]);
  const through = checkCount(request.throughSequence ?? Number.MAX_SAFE_INTEGER, ["throughSequence"]);
  const range = all([
    { text: "session_key = ?", values: [row.key] },
    { text: "sequence > ?", values: [after] },
    { text: "sequence <= ?", values: [through] },
    ...compares("request_id", "=", request.requestId),
  ]);
  const walk = messageWalk(scope, row.session.id, range, request.roles, request.select);
  const whole = seesAll(scope, request.roles) && (request.requestId ?? null) === null;
  const cursors = { kind: "messages", owner: [scope.tenantId, row.key] } as const;
  return walkPage(scope, whole ? dense(walk, row, after, through) : walk, request.page, cursors);
}

/** Sequences have no gaps, so an unfiltered offset or count is arithmetic. */
function dense(walk: Walk<RawMessage>, row: SessionRow, after: number, through: number): Walk<RawMessage> {
  return {
    ...walk,
    skip: (offset) => ({ text: "sequence > ?", values: [after + offset] }),
    count: () => Math.max(0, Math.min(through, row.session.lastSequence) - after),
  };
}

export function listRunMessages(
  scope: ReadScope,
  runId: string,
  page: PageRequest,
  select: RawMessageSelection,
): Page<RawMessage> | null {
  const run = findRun(scope, runId);
  if (run === null) return null;
  const range = all([
    { text: "run_id = ?", values: [run.run.id] },
    { text: "session_key = ?", values: [run.sessionKey] },
  ]);
  const walk = messageWalk(scope, run.run.sessionId, range, null, select);
  return walkPage(scope, walk, page, { kind: "messages", owner: [scope.tenantId, "run", run.key] });
}

export function lastMessage(
  scope: ReadScope,
  sessionId: string,
  roles: Maybe<readonly MessageRole[]>,
  select: RawMessageSelection,
): RawMessage | null {
  const row = findSession(scope, sessionId);
  if (row === null) return null;
  const range: Condition = { text: "session_key = ?", values: [row.key] };
  const walk = messageWalk(scope, row.session.id, range, roles, select);
  const [newest] = walk.scan(all([]), "DESC", 1, 0);
  if (newest === undefined) return null;
  scope.budget.spend(Number(newest.weight));
  return walk.fetch([newest])[0] ?? null;
}

export function messagesAfter(scope: ReadScope, tail: Tail, select: RawMessageSelection): readonly RawMessage[] | null {
  const row = sessionByKey(scope, tail.generation);
  if (row === null || row.session.id !== tail.sessionId) return null;
  const range: Condition = { text: "session_key = ?", values: [row.key] };
  const walk = messageWalk(scope, row.session.id, range, null, select);
  return walkAfter(scope, walk, [tail.after], Math.min(tail.limit, PAGE_ROWS_MAX));
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

function visibleRoles(scope: ReadScope, roles: Maybe<readonly MessageRole[]>): readonly MessageRole[] {
  const asked = new Set<MessageRole>(roles ?? MESSAGE_ROLES);
  return MESSAGE_ROLES.filter((role) => asked.has(role) && scope.reach.visibleRoles.has(role));
}

function seesAll(scope: ReadScope, roles: Maybe<readonly MessageRole[]>): boolean {
  return visibleRoles(scope, roles).length === MESSAGE_ROLES.length;
}

/** SQL of what a row weighs: its payload where that is wanted, else the columns that are. */
export function weightSql(select: RawMessageSelection): string {
  const parts = [
    select.payload ? "byte_size" : select.text ? "octet_length(text_json)" : "0",
    ...(select.metadata ? ["octet_length(metadata)"] : []),
    ...(select.tags ? ["octet_length(tags)"] : []),
  ];
  return `256 + ${parts.join(" + ")}`;
}

/** A log's rows in range. Some roles only: each role is walked by its own index and the walks are merged. */
function messageWalk(
  scope: ReadScope,
  sessionId: SessionId,
  range: Condition,
  roles: Maybe<readonly MessageRole[]>,
  select: RawMessageSelection,
): Walk<RawMessage> {
  const list: TableList = {
    table: "raw_messages",
    keys: ["sequence"],
    order: "ASC",
    also: "key",
    weight: weightSql(select),
    list: range,
  };
  const fetch = (rows: readonly SqlRow[]) => messagesOf(scope, sessionId, rows, select);
  if (seesAll(scope, roles)) return { ...tableWalk(scope, list), fetch };
  const walks = visibleRoles(scope, roles).map((role) =>
    tableWalk(scope, { ...list, list: all([range, { text: "role = ?", values: [roleCode(role)] }]) }),
  );
  return { ...mergedWalk(walks), fetch };
}

function mergedWalk(walks: readonly Omit<Walk<never>, "fetch">[]): Omit<Walk<never>, "fetch"> {
  return {
    keys: ["sequence"],
    order: "ASC",
    scan(window, order, limit, offset) {
      const sign = order === "ASC" ? 1 : -1;
      return walks
        .flatMap((walk) => walk.scan(window, order, limit + offset, 0))
        .sort((left, right) => sign * (Number(left.sequence) - Number(right.sequence)))
        .slice(offset, offset + limit);
    },
    count: () => walks.reduce((total, walk) => total + walk.count(), 0),
  };
}

function messagesOf(
  scope: ReadScope,
  sessionId: SessionId,
  rows: readonly SqlRow[],
  select: RawMessageSelection,
): readonly RawMessage[] {
  const read = scope.sql(`SELECT ${messageColumns(select)} FROM raw_messages WHERE key = ?`);
  return rows.flatMap((row) => {
    const found = read.get(row.key ?? null);
    return found === undefined ? [] : [rawMessage(found, sessionId, select)];
  });
}
