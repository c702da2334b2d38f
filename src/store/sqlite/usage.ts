import { startOf } from "../../time.ts";
import { addUsage } from "../check.ts";
import { NO_USAGE, type TokenUsage, type UserId } from "../model.ts";
import type { WriteScope } from "./scope.ts";
import { usageOf } from "./session-rows.ts";
import { usageValues } from "./sessions.ts";

/** What one write adds to the counters of the hour that `scope.now` is in. */
export interface UsageAddition {
  readonly agentName: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly userId: UserId | null;
  readonly messageCount: number;
  readonly runCount: number;
  readonly tokens: TokenUsage;
}

const BUCKET = "hour = ? AND agent_name = ? AND provider_json = ? AND model_json = ? AND user_id = ?";

/** Adds to the bucket in the transaction of the write itself, so that counters never need a count. */
export function countUsage(scope: WriteScope, addition: UsageAddition): void {
  const bucket = [
    startOf("HOUR", scope.now),
    addition.agentName ?? "",
    JSON.stringify(addition.provider),
    JSON.stringify(addition.model),
    addition.userId ?? "",
  ] as const;
  scope
    .sql(
      "INSERT OR IGNORE INTO usage_hours (hour, agent_name, provider_json, model_json, user_id) VALUES (?, ?, ?, ?, ?)",
    )
    .run(...bucket);
  const stored = scope.sql(`SELECT * FROM usage_hours WHERE ${BUCKET}`).get(...bucket);
  const tokens = addUsage(stored === undefined ? NO_USAGE : usageOf(stored), addition.tokens);
  scope
    .sql(`UPDATE usage_hours SET message_count = message_count + ?, run_count = run_count + ?, input_tokens = ?,
      output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, reasoning_tokens = ? WHERE ${BUCKET}`)
    .run(addition.messageCount, addition.runCount, ...usageValues(tokens), ...bucket);
}
