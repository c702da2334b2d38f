import type { SessionFilter, TombstoneAttributes } from "../store/contract.ts";
import type { Maybe } from "../store/page.ts";

/** Whether a list by this filter would hold the session; `running`: it has a live run. Equal to listSessions. */
export function matchesFilter(session: TombstoneAttributes, filter: SessionFilter, running: boolean): boolean {
  return (
    isOneOf(session.sessionType, filter.sessionTypes) &&
    isOneOf(session.agentName, filter.agentNames) &&
    isOneOf(session.userId, filter.userIds) &&
    (isLeftOut(filter.parentSessionId) || session.parentSessionId === filter.parentSessionId) &&
    (isLeftOut(filter.root) || (session.parentSessionId === null) === filter.root) &&
    (isLeftOut(filter.running) || running === filter.running) &&
    titleContains(session.title, filter.titleContains) &&
    isBetween(session.updatedAt, filter.updatedAfter, filter.updatedBefore) &&
    isBetween(session.createdAt, filter.createdAfter, filter.createdBefore)
  );
}

function isLeftOut<T>(value: Maybe<T>): value is null | undefined {
  return value === null || value === undefined;
}

function isOneOf<T>(value: T | null, list: Maybe<readonly T[]>): boolean {
  return isLeftOut(list) || (value !== null && list.includes(value));
}

function titleContains(title: string | null, text: Maybe<string>): boolean {
  if (isLeftOut(text) || text === "") return true;
  return title?.toLowerCase().includes(text.toLowerCase()) ?? false;
}

function isBetween(time: number, after: Maybe<number>, before: Maybe<number>): boolean {
  return (isLeftOut(after) || time > after) && (isLeftOut(before) || time < before);
}
