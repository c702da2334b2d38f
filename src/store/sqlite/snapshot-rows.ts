import { unavailable } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import { instant } from "../../time.ts";
import type { ContextSnapshot, SessionId, SnapshotId } from "../model.ts";
import type { SqlRow } from "./scope.ts";
import { usageOf } from "./session-rows.ts";

/** The columns that `snapshotOf` reads. */
export const SNAPSHOT_COLUMNS = `id, version, compacted_through_sequence, summary_json, attributes, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, created_at`;

/** SQL of what a snapshot weighs in a page. */
export const SNAPSHOT_WEIGHT = "256 + octet_length(summary_json) + octet_length(attributes)";

/** UNAVAILABLE where the row is damaged: a context with half a summary would be a lie. */
export function snapshotOf(row: SqlRow, sessionId: SessionId): ContextSnapshot {
  return {
    id: row.id as SnapshotId,
    sessionId,
    version: Number(row.version),
    summary: parsed<string>(row.summary_json),
    attributes: parsed<JsonObject>(row.attributes),
    compactedThroughSequence: Number(row.compacted_through_sequence),
    usage: row.input_tokens === null ? null : usageOf(row),
    createdAt: instant(Number(row.created_at)),
  };
}

function parsed<T>(json: unknown): T {
  try {
    return JSON.parse(String(json)) as T;
  } catch (cause) {
    throw unavailable("A snapshot of this session can't be read from the disk.", cause);
  }
}
