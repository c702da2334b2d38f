import { badInput, forbidden, GatewayError, unavailable } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../json.ts";
import { DUMP_KINDS, type DumpKind, type DumpRecord } from "../contract.ts";
import { composePayload, parsePayload } from "../message-codec.ts";
import { roleOf } from "./message-rows.ts";
import type { ReadScope, Sql, SqlRow, SqlValue, WriteScope } from "./scope.ts";

/** One table of a dump. `rowKey`: rows that never change once written are read in pages by this key. */
interface DumpTable {
  readonly table: string;
  readonly rowKey: string | null;
  readonly order: string;
}
const TABLES: Readonly<Record<DumpKind, DumpTable>> = {
  header: { table: "tenant", rowKey: null, order: "1" },
  session: { table: "sessions", rowKey: null, order: "key" },
  message: { table: "raw_messages", rowKey: "key", order: "key" },
  snapshot: { table: "snapshots", rowKey: "key", order: "key" },
  rewind: { table: "rewinds", rowKey: "key", order: "key" },
  run: { table: "runs", rowKey: null, order: "key" },
  runEvent: { table: "run_events", rowKey: "position", order: "position" },
  usage: { table: "usage_hours", rowKey: null, order: "hour, agent_name, provider_json, model_json, user_id" },
  tombstone: { table: "tombstones", rowKey: null, order: "change_number" },
};
/** What a tenant's row says of the file that it stands in, not of the data. */
const FILE_COLUMNS: ReadonlySet<string> = new Set(["id", "generation", "newest_time"]);
const ROWS_PER_READ = 200;
const RECORDS_PER_WRITE = 500;
/** Rows of a deleted session wait for their erasure and are no part of a dump. */
const ALIVE = "session_key IN (SELECT key FROM sessions)";

type Read = <T>(work: (scope: ReadScope) => T) => Promise<T>;
type Write = <T>(work: (scope: WriteScope) => T) => Promise<T>;

/** Everything that changes is read in one view; then what never changes, up to where it ended in that view. */
export async function* dumpRecords(read: Read): AsyncGenerator<DumpRecord, void, undefined> {
  const view = await read((scope) => {
    refuseNarrowed(scope);
    return viewOf(scope);
  });
  for (const kind of DUMP_KINDS) {
    const { rowKey } = TABLES[kind];
    if (rowKey === null) {
      for (const record of view.rows.get(kind) ?? []) yield { kind, record };
      continue;
    }
    let dumped = 0;
    for (let after = 0; ; ) {
      const rows = await read((scope) => immutableRows(scope.sql, kind, after, view.last.get(kind) ?? 0));
      for (const row of rows) yield { kind, record: jsonSafe(row) };
      dumped += rows.length;
      if (rows.length < ROWS_PER_READ) break;
      after = Number(rows.at(-1)?.[rowKey]);
    }
    if (dumped !== view.counts.get(kind)) {
      throw unavailable("A session was deleted while the store was dumped. Dump it again.");
    }
  }
}

function refuseNarrowed({ reach }: ReadScope): void {
  if (reach.userId !== null || reach.visibleRoles.size < 5) throw forbidden("A dump needs a reach that hides nothing.");
}

interface View {
  readonly rows: ReadonlyMap<DumpKind, readonly JsonObject[]>;
  readonly last: ReadonlyMap<DumpKind, number>;
  readonly counts: ReadonlyMap<DumpKind, number>;
}

function viewOf({ sql }: ReadScope): View {
  const rows = new Map<DumpKind, readonly JsonObject[]>();
  const last = new Map<DumpKind, number>();
  const counts = new Map<DumpKind, number>();
  for (const kind of DUMP_KINDS) {
    const { table, rowKey, order } = TABLES[kind];
    if (rowKey === null) {
      const alive = kind === "run" ? `WHERE ${ALIVE}` : "";
      const found = sql(`SELECT * FROM ${table} ${alive} ORDER BY ${order}`).all();
      rows.set(kind, found.map(kind === "header" ? headerOf : jsonSafe));
      continue;
    }
    const end = sql(`SELECT max(${rowKey}) AS last, count(*) AS rows FROM ${table} WHERE ${ALIVE}`).get();
    last.set(kind, Number(end?.last ?? 0));
    counts.set(kind, Number(end?.rows ?? 0));
  }
  return { rows, last, counts };
}

function immutableRows(sql: Sql, kind: DumpKind, after: number, last: number): readonly SqlRow[] {
  const { table, rowKey } = TABLES[kind];
  return sql(`SELECT * FROM ${table} WHERE ${rowKey} > ? AND ${rowKey} <= ? AND ${ALIVE}
    ORDER BY ${rowKey} LIMIT ${ROWS_PER_READ}`).all(after, last);
}

function headerOf(row: SqlRow): JsonObject {
  const data = Object.entries(row).filter(([column]) => !FILE_COLUMNS.has(column));
  return jsonSafe(Object.fromEntries(data));
}

function jsonSafe(row: SqlRow): JsonObject {
  const entries = Object.entries(row).map(([column, value]): readonly [string, JsonValue] => [
    column,
    value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
  ]);
  return Object.fromEntries(entries);
}

/** Loads into an empty store, or leaves it empty. Nobody else may write to it meanwhile. */
export async function loadRecords(write: Write, records: AsyncIterable<DumpRecord>): Promise<void> {
  await write((scope) => {
    refuseNarrowed(scope);
    refuseFilled(scope.sql);
  });
  try {
    let batch: DumpRecord[] = [];
    let first = 0;
    for await (const record of records) {
      batch.push(record);
      if (batch.length < RECORDS_PER_WRITE) continue;
      const full = batch;
      const index = first;
      await write((scope) => insertRecords(scope.sql, full, index));
      first += batch.length;
      batch = [];
    }
    await write((scope) => {
      insertRecords(scope.sql, batch, first);
      checkWhole(scope.sql);
      liftClock(scope.sql);
    });
  } catch (error) {
    await write((scope) => clear(scope.sql));
    throw error;
  }
}

function refuseFilled(sql: Sql): void {
  for (const kind of DUMP_KINDS) {
    if (kind !== "header" && sql(`SELECT 1 FROM ${TABLES[kind].table} LIMIT 1`).get() !== undefined) {
      throw badInput(["records"], "Records can be loaded into an empty store alone.");
    }
  }
}

function insertRecords(sql: Sql, records: readonly DumpRecord[], firstIndex: number): void {
  for (const [offset, { kind, record }] of records.entries()) {
    const path = ["records", firstIndex + offset] as const;
    try {
      insertRecord(sql, kind, record);
    } catch (error) {
      if (error instanceof GatewayError) throw badInput(path, error.message);
      throw new GatewayError("BAD_USER_INPUT", `This is no ${kind} that fits the store.`, { path, cause: error });
    }
  }
}

function insertRecord(sql: Sql, kind: DumpKind, record: JsonObject): void {
  const { table } = TABLES[kind] ?? { table: null };
  if (table === null) throw badInput([], "This kind of record is unknown.");
  const columns = sql(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map((row) => String(row.name))
    .filter((name) => kind !== "header" || !FILE_COLUMNS.has(name));
  const same = columns.length === Object.keys(record).length && columns.every((name) => name in record);
  if (!same) throw badInput([], `A ${kind} has exactly the columns ${columns.join(", ")}.`);
  const values = columns.map((name) => sqlValue(kind, name, record[name] ?? null));
  if (kind === "header") {
    sql(`UPDATE tenant SET ${columns.map((name) => `${name} = ?`).join(", ")}`).run(...values);
    return;
  }
  if (kind === "message") checkReadable(record);
  const places = columns.map(() => "?").join(", ");
  sql(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(...values);
}

function sqlValue(kind: DumpKind, column: string, value: JsonValue): SqlValue {
  if (value !== null && typeof value !== "string" && typeof value !== "number") {
    throw badInput([], `The column ${column} holds text, a number or null.`);
  }
  return kind === "tombstone" && column === "id_hash" ? Buffer.from(String(value), "hex") : value;
}

function checkReadable(record: JsonObject): void {
  const payload = composePayload({
    role: roleOf(Number(record.role)),
    includeInContext: record.include_in_context === 1,
    textJson: String(record.text_json),
    partsJson: typeof record.parts_json === "string" ? record.parts_json : null,
    attributesJson: String(record.attributes),
    tailJson: String(record.tail_json),
  });
  if (parsePayload(payload) === null) throw badInput([], "This message can't be read.");
}

/** What the counters promise must be there: dense sequences, and the totals of the tenant. */
function checkWhole(sql: Sql): void {
  const broken = sql(`SELECT 1 FROM sessions WHERE message_count <> last_sequence OR message_count <>
    (SELECT count(*) FROM raw_messages WHERE session_key = sessions.key) OR last_sequence <>
    (SELECT coalesce(max(sequence), 0) FROM raw_messages WHERE session_key = sessions.key) LIMIT 1`).get();
  const totals = sql(`SELECT 1 FROM tenant WHERE session_count = (SELECT count(*) FROM sessions)
    AND message_count = (SELECT count(*) FROM raw_messages)`).get();
  if (broken !== undefined || totals === undefined) {
    throw badInput(["records"], "The records are not whole: sessions, messages and their counts do not agree.");
  }
}

/** The file's clock begins, at its next open, no earlier than what it holds. */
function liftClock(sql: Sql): void {
  sql(`UPDATE tenant SET newest_time = max(newest_time, (SELECT coalesce(max(updated_at), 0) FROM sessions),
    (SELECT coalesce(max(updated_at), 0) FROM runs), (SELECT coalesce(max(deleted_at), 0) FROM tombstones))`).run();
}

function clear(sql: Sql): void {
  for (const kind of DUMP_KINDS) {
    if (kind !== "header") sql(`DELETE FROM ${TABLES[kind].table}`).run();
  }
  sql(`UPDATE tenant SET change_number = 0, session_count = 0, message_count = 0, input_tokens = 0, output_tokens = 0,
    cache_read_tokens = 0, cache_write_tokens = 0, reasoning_tokens = 0`).run();
}
