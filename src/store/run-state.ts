import type { ConflictReason } from "../errors.ts";
import { type Instant, plusSeconds } from "../time.ts";
import type { RunOutcome, RunStatus } from "./model.ts";

/** Seconds that a run may ask to stay silent for. */
export const LEASE_SECONDS_MIN = 1;
export const LEASE_SECONDS_MAX = 3_600;
export const LEASE_SECONDS_DEFAULT = 60;

/** Where a run stands, whatever the time: live (silent or not), fenced by a later run of its session, or ended. */
export type RunStanding = "live" | "fenced" | "ended";
/** What somebody wants of it. `start`: startRun with its id again. */
export type RunCommand = "start" | "report" | "append" | "finish" | "cancel";
/** renew: carried out, and the lease begins anew. endQuietly: its end is recorded and nothing else is touched. */
export type RunVerdict = "renew" | "end" | "endQuietly" | "ask" | "unchanged" | ConflictReason;

/** Every command in every standing (decision 16). */
export const RUN_VERDICTS: Readonly<Record<RunStanding, Readonly<Record<RunCommand, RunVerdict>>>> = {
  live: { start: "renew", report: "renew", append: "renew", finish: "end", cancel: "ask" },
  fenced: {
    start: "RUN_FENCED",
    report: "RUN_FENCED",
    append: "RUN_FENCED",
    finish: "endQuietly",
    cancel: "unchanged",
  },
  ended: { start: "unchanged", report: "RUN_ENDED", append: "RUN_ENDED", finish: "unchanged", cancel: "unchanged" },
};

/** `ordinal` counts the session's runs from 1; a run is fenced for good once a later one has started. */
export function standingOf(run: {
  readonly endedAs: RunOutcome | null;
  readonly ordinal: number;
  readonly runsOfSession: number;
}): RunStanding {
  if (run.endedAs !== null) return "ended";
  return run.ordinal < run.runsOfSession ? "fenced" : "live";
}

/** The status at this moment: silence beyond the lease is ABANDONED, without anything being written. */
export function statusOf(endedAs: RunOutcome | null, leaseExpiresAt: Instant, now: Instant): RunStatus {
  if (endedAs !== null) return endedAs;
  return leaseExpiresAt > now ? "RUNNING" : "ABANDONED";
}

/** When a lease that is renewed now runs out. */
export function leaseFrom(now: Instant, leaseSeconds: number): Instant {
  return plusSeconds(now, leaseSeconds);
}

/** Whole seconds until then, at least 1: what a refused starter should wait. */
export function secondsUntil(leaseExpiresAt: Instant, now: Instant): number {
  return Math.max(1, Math.ceil((leaseExpiresAt - now) / 1_000_000));
}
