import { unavailable } from "../../errors.ts";
import type { Instant } from "../../time.ts";
import type {
  FinishRunInput,
  ListRuns,
  RecordRunEventsInput,
  RecordRunEventsResult,
  RunEnding,
  StartRunInput,
} from "../contract.ts";
import type { Generation, Run, RunId, SessionId, TokenUsage } from "../model.ts";
import type { Page } from "../page.ts";
import type { ReadScope, WriteScope } from "./scope.ts";

/** A run as a write finds it: not ended and not fenced. */
export interface LiveRun {
  readonly key: number;
  readonly id: RunId;
}
/** The run that an append or snapshot names: NOT_FOUND, CONFLICT RUN_ENDED or RUN_FENCED unless it may write to this session. */
export function runForWriting(_scope: ReadScope, _session: Generation, _runId: string): LiveRun {
  throw unavailable("not built yet");
}
/** A sign of life: renews the lease and adds tokens to the run's totals. */
export function renewRun(_scope: WriteScope, _run: LiveRun, _usage: TokenUsage): void {
  throw unavailable("not built yet");
}
export function startRun(_scope: WriteScope, _input: StartRunInput): Run {
  throw unavailable("not built yet");
}
export function recordRunEvents(_scope: WriteScope, _input: RecordRunEventsInput): RecordRunEventsResult {
  throw unavailable("not built yet");
}
export function finishRun(_scope: WriteScope, _input: FinishRunInput): RunEnding {
  throw unavailable("not built yet");
}
export function requestRunCancel(_scope: WriteScope, _runId: string): Run {
  throw unavailable("not built yet");
}
export function getRuns(_scope: ReadScope, _ids: readonly string[]): readonly (Run | null)[] {
  throw unavailable("not built yet");
}
export function listRuns(_scope: ReadScope, _request: ListRuns): Page<Run> | null {
  throw unavailable("not built yet");
}
export function activeRun(_scope: ReadScope, _sessionId: string): Run | null {
  throw unavailable("not built yet");
}
export function latestRun(_scope: ReadScope, _sessionId: string): Run | null {
  throw unavailable("not built yet");
}
export function leasesExpired(_scope: ReadScope, _after: Instant, _through: Instant): readonly SessionId[] {
  throw unavailable("not built yet");
}
