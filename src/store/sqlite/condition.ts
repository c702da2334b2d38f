import type { SqlValue } from "./scope.ts";

/** A condition of SQL and the values that it binds. The texts are few and fixed; what a client sends is bound. */
export interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Holds where each of them holds; always where there is none. */
export function all(conditions: readonly Condition[]): Condition {
  return {
    text: conditions.length === 0 ? "1" : conditions.map((condition) => condition.text).join(" AND "),
    values: conditions.flatMap((condition) => condition.values),
  };
}

/**
 * The column is one of the values; never where the list is empty, always where none was given. The list is bound as one
 * JSON text: a list of any length has the same statement, so that no client can fill the statement cache.
 */
export function oneOf(column: string, values: readonly SqlValue[] | null | undefined): readonly Condition[] {
  if (values === null || values === undefined) return [];
  return [{ text: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(values)] }];
}

/** The column compares so with the value, where one was given. */
export function compares(column: string, operator: string, value: SqlValue | undefined): readonly Condition[] {
  return value === null || value === undefined ? [] : [{ text: `${column} ${operator} ?`, values: [value] }];
}
