import type { JsonObject } from "../../json.ts";
import { instant } from "../../time.ts";
import type { Generation, Session, SessionId, TokenUsage, UserId } from "../model.ts";
import type { SqlRow } from "./scope.ts";

/** A session and what only the store knows of it. */
export interface SessionRow {
  readonly key: Generation;
  readonly session: Session;
  /** Snapshots and rewinds stored so far. */
  readonly editCount: number;
  readonly snapshotCount: number;
  readonly runCount: number;
}

/** The columns that `sessionRow` reads. */
export const SESSION_COLUMNS = `key, id, parent_session_id, session_type, title, agent_name, user_id, metadata,
  message_count, last_sequence, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
  created_at, updated_at, change_number, created_change_number, edit_count, snapshot_count, run_count`;

export function sessionRow(row: SqlRow): SessionRow {
  const key = row.key as Generation;
  return {
    key,
    editCount: Number(row.edit_count),
    snapshotCount: Number(row.snapshot_count),
    runCount: Number(row.run_count),
    session: {
      id: row.id as SessionId,
      generation: key,
      parentSessionId: row.parent_session_id as SessionId | null,
      sessionType: Number(row.session_type),
      title: row.title as string | null,
      agentName: row.agent_name as string | null,
      userId: row.user_id as UserId | null,
      metadata: JSON.parse(String(row.metadata)) as JsonObject,
      messageCount: Number(row.message_count),
      lastSequence: Number(row.last_sequence),
      usage: usageOf(row),
      createdAt: instant(Number(row.created_at)),
      updatedAt: instant(Number(row.updated_at)),
      changeNumber: Number(row.change_number),
      createdChangeNumber: Number(row.created_change_number),
    },
  };
}

/** The five token columns, which several tables have by the same names. */
export function usageOf(row: SqlRow): TokenUsage {
  return {
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cacheReadTokens: Number(row.cache_read_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
  };
}
