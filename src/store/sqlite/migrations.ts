import { unavailable } from "../../errors.ts";
import { MIGRATION_1 } from "./migration-1.ts";
import type { Connection } from "./open.ts";

/** In order; a file's `user_version` says how many it has. A landed migration is never edited. */
const MIGRATIONS: readonly string[] = [MIGRATION_1];

/** Brings a file to the newest shape, each step in a transaction with its version. A newer file is refused. */
export function migrate(connection: Connection, migrations: readonly string[] = MIGRATIONS): void {
  const version = Number(connection.pragma("user_version"));
  if (version > migrations.length) {
    throw unavailable("This tenant's store was written by a newer version of the gateway.");
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    connection.exec(`BEGIN IMMEDIATE; ${migration} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
