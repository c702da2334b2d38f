import type { SqlRow, WriteScope } from "./scope.ts";

/**
 * Whether the row is a rest of a deleted session that waits for its erasure; then it is erased at once, since its id is
 * free (decision 24).
 */
export function freeLeftover(scope: WriteScope, table: "snapshots" | "rewinds", row: SqlRow, id: string): boolean {
  const alive = scope.sql("SELECT 1 FROM sessions WHERE key = ?").get(row.session_key ?? null) !== undefined;
  if (!alive) scope.sql(`DELETE FROM ${table} WHERE id = ?`).run(id);
  return !alive;
}
