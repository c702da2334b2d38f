import Database from "better-sqlite3";
import { unavailable } from "../../errors.ts";
import type { Sql, SqlRow, SqlValue, Statement } from "./scope.ts";

/** Marks a file as a tenant's of this product ("SGW1"). */
export const APPLICATION_ID = 0x53475731;
/** A write-ahead log that grew beyond this is cut back at the next checkpoint. */
const JOURNAL_BYTES_MAX = 4 * 1024 * 1024;

/** One open file. Every statement runs to its end inside one call, so nothing is ever left half-iterated. */
export interface Connection {
  readonly sql: Sql;
  exec(text: string): void;
  pragma(text: string): SqlValue;
  inTransaction(): boolean;
  close(): void;
}

/**
 * Opens (or makes, where `create` says so) a file with every setting stated and read back: the driver's build
 * falls back
 * to synchronous=NORMAL in WAL mode after the first write, so it is set on every open. UNAVAILABLE where it can't.
 */
export function openConnection(path: string, options: { readonly create: boolean }): Connection {
  try {
    const database = new Database(path, { fileMustExist: !options.create });
    return settle(database, options.create);
  } catch (error) {
    throw unavailable("This tenant's store can't be opened now.", error);
  }
}

const SETTINGS: readonly (readonly [name: string, value: string, reads: SqlValue])[] = [
  ["busy_timeout", "0", 0],
  ["journal_mode", "WAL", "wal"],
  ["synchronous", "FULL", 2],
  ["foreign_keys", "ON", 1],
  ["temp_store", "MEMORY", 2],
  ["secure_delete", "ON", 1],
  ["cache_size", "-2000", -2000],
  ["journal_size_limit", String(JOURNAL_BYTES_MAX), JOURNAL_BYTES_MAX],
];

function settle(database: Database.Database, create: boolean): Connection {
  try {
    if (create) {
      database.pragma("page_size = 4096");
      database.pragma("auto_vacuum = INCREMENTAL");
    }
    for (const [name, value, reads] of SETTINGS) {
      database.pragma(`${name} = ${value}`);
      const found = database.pragma(name, { simple: true });
      if (found !== reads) throw new Error(`pragma ${name} reads ${String(found)}, not ${String(reads)}`);
    }
    return connectionOf(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function connectionOf(database: Database.Database): Connection {
  const statements = new Map<string, Statement>();
  return {
    sql(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const made = statementOf(database.prepare<SqlValue[], SqlRow>(text));
      statements.set(text, made);
      return made;
    },
    exec: (text) => {
      database.exec(text);
    },
    pragma: (text) => database.pragma(text, { simple: true }) as SqlValue,
    inTransaction: () => database.inTransaction,
    close: () => {
      database.close();
    },
  };
}

function statementOf(statement: Database.Statement<SqlValue[], SqlRow>): Statement {
  return {
    get: (...values) => statement.get(...values),
    all: (...values) => statement.all(...values),
    run: (...values) => {
      const { changes, lastInsertRowid } = statement.run(...values);
      return { changes, lastKey: Number(lastInsertRowid) };
    },
  };
}
