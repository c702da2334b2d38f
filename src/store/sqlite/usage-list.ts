import { assert } from "../../assert.ts";
import { forbidden } from "../../errors.ts";
import { instant, startOf } from "../../time.ts";
import { addUsage, saturatingSum } from "../check.ts";
import type { ListUsage } from "../contract.ts";
import {
  NO_USAGE,
  type TenantUsage,
  type TokenUsage,
  type UsageBucket,
  type UsageDimension,
  type UserId,
} from "../model.ts";
import type { Page } from "../page.ts";
import { all, type Condition, compares } from "./condition.ts";
import type { ReadScope, SqlRow, SqlValue } from "./scope.ts";
import { usageOf } from "./session-rows.ts";
import { tableWalk, walkPage } from "./walk.ts";

const HOUR_MICROSECONDS = 3_600_000_000;
const BUCKET_WEIGHT = 512;

/** SQL of the start of the interval that an hour lies in. Hours are never before 1970: they are the server's own. */
const INTERVAL_STARTS = {
  HOUR: "hour",
  DAY: "hour - hour % 86400000000",
  MONTH: "unixepoch(hour / 1000000, 'unixepoch', 'start of month') * 1000000",
} as const;

/** Token columns; sums saturate, and a sum of doubles never overflows as a sum of integers would. */
const TOKENS = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"];

/** Non-empty buckets, by start and group. `from` and `to` widen to the hours that hold them. */
export function listUsage(scope: ReadScope, request: ListUsage): Page<UsageBucket> {
  const interval = request.interval ?? "DAY";
  const dimensions = new Set(request.groupBy ?? []);
  const hours = all([
    { text: "hour >= ?", values: [startOf("HOUR", request.from)] },
    { text: "hour < ?", values: [Math.ceil(request.to / HOUR_MICROSECONDS) * HOUR_MICROSECONDS] },
    ...compares("user_id", "=", scope.reach.userId),
  ]);
  const walk = tableWalk(scope, {
    table: `(${bucketsSql(INTERVAL_STARTS[interval], dimensions, hours)})`,
    bound: hours.values,
    keys: ["starts_at", "agent_name", "provider_json", "model_json", "user_id"],
    order: "ASC",
    also: ["message_count", "run_count", ...TOKENS].join(", "),
    weight: String(BUCKET_WEIGHT),
    list: all([]),
  });
  const fetch = (rows: readonly SqlRow[]) => rows.map(bucketOf);
  const owner = [scope.tenantId, interval, [...dimensions].sort().join()];
  return walkPage(scope, { ...walk, fetch }, request.page, { kind: "usage", owner });
}

/** What is not grouped by stands as no value, in the form that the column has for it. */
function bucketsSql(start: string, dimensions: ReadonlySet<UsageDimension>, hours: Condition): string {
  const column = (dimension: UsageDimension, name: string, none: string) =>
    `${dimensions.has(dimension) ? name : none} AS ${name}`;
  const groups = [
    `${start} AS starts_at`,
    column("AGENT", "agent_name", "''"),
    column("MODEL", "provider_json", "'null'"),
    column("MODEL", "model_json", "'null'"),
    column("USER", "user_id", "''"),
  ];
  const sums = ["message_count", "run_count", ...TOKENS].map((name) => `total(${name}) AS ${name}`);
  return `SELECT ${groups.join(", ")}, ${sums.join(", ")} FROM usage_hours WHERE ${hours.text} GROUP BY 1, 2, 3, 4, 5`;
}

function bucketOf(row: SqlRow): UsageBucket {
  return {
    startsAt: instant(Number(row.starts_at)),
    agentName: emptyToNull(row.agent_name),
    provider: JSON.parse(String(row.provider_json)) as string | null,
    model: JSON.parse(String(row.model_json)) as string | null,
    userId: emptyToNull(row.user_id) as UserId | null,
    messageCount: saturatingSum(Number(row.message_count), 0),
    runCount: saturatingSum(Number(row.run_count), 0),
    tokens: saturated(usageOf(row)),
  };
}

function emptyToNull(value: SqlValue | undefined): string | null {
  return value === "" || typeof value !== "string" ? null : value;
}

function saturated(usage: TokenUsage): TokenUsage {
  return addUsage(usage, NO_USAGE);
}

/** Totals of the whole tenant: an end user's credential may not know them. */
export function tenantUsage(scope: ReadScope): TenantUsage {
  if (scope.reach.userId !== null) throw forbidden("A credential of one end user can't see the tenant's totals.");
  const row = scope.sql("SELECT * FROM tenant").get();
  assert(row !== undefined, "a tenant's file has its row");
  return {
    sessionCount: Number(row.session_count),
    messageCount: Number(row.message_count),
    byteCount: scope.byteCount(),
    tokens: usageOf(row),
  };
}
