import { unavailable } from "../../errors.ts";
import type { ListUsage } from "../contract.ts";
import type { TokenUsage, UsageBucket, UserId } from "../model.ts";
import type { Page } from "../page.ts";
import type { ReadScope, WriteScope } from "./scope.ts";

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
export function countUsage(_scope: WriteScope, _addition: UsageAddition): void {
  throw unavailable("not built yet");
}
export function listUsage(_scope: ReadScope, _request: ListUsage): Page<UsageBucket> {
  throw unavailable("not built yet");
}
