import type { MessageId, RawMessage, RunEvent, RunId, TenantId } from "../store/model.ts";
import type { BusEvent } from "./bus.ts";
import type { RunDraft } from "./contract.ts";

const RUNS_MAX = 256;
const TEXT_UNITS_MAX = 1024 * 1024;
/** UTF-16 units over all drafts of the process. */
const ALL_UNITS_MAX = 16 * 1024 * 1024;

/** What runs are generating right now, as far as this process has seen it. Bounded; the longest silent go first. */
export interface Drafts {
  observe(event: BusEvent): void;
  /** The message stands in the log now: it is no draft any more. */
  settle(tenantId: TenantId, message: RawMessage): void;
  /** The run has ended. */
  forget(tenantId: TenantId, runId: RunId): void;
  draft(tenantId: TenantId, runId: string): RunDraft | null;
}

interface Draft {
  readonly messageId: MessageId | null;
  readonly turn: number;
  readonly text: string;
  readonly reasoning: string;
}

/** An empty collection of drafts, one for the whole process. */
export function createDrafts(): Drafts {
  const drafts = new Map<string, Draft>();
  let units = 0;

  function replace(key: string, draft: Draft | null): void {
    const old = drafts.get(key);
    // The end of a map is its youngest entry.
    drafts.delete(key);
    units -= old === undefined ? 0 : sizeOf(old);
    if (draft === null) return;
    drafts.set(key, draft);
    units += sizeOf(draft);
    for (const [oldest, entry] of drafts) {
      if (oldest === key || (drafts.size <= RUNS_MAX && units <= ALL_UNITS_MAX)) return;
      drafts.delete(oldest);
      units -= sizeOf(entry);
    }
  }

  function follow(tenantId: TenantId, event: RunEvent): void {
    const key = keyOf(tenantId, event.runId);
    if (SETTLES.has(event.type)) replace(key, null);
    else if (event.type === "TEXT_DELTA" || event.type === "REASONING_DELTA") {
      replace(key, extended(drafts.get(key), event));
    }
  }

  return {
    observe(event) {
      if (event.kind !== "run") return;
      for (const runEvent of event.events) follow(event.tenantId, runEvent);
    },
    settle(tenantId, message) {
      if (message.runId === null) return;
      const key = keyOf(tenantId, message.runId);
      if (drafts.get(key)?.messageId === message.id) replace(key, null);
    },
    forget: (tenantId, runId) => replace(keyOf(tenantId, runId), null),
    draft: (tenantId, runId) => drafts.get(keyOf(tenantId, runId.toLowerCase())) ?? null,
  };
}

const SETTLES: ReadonlySet<RunEvent["type"]> = new Set([
  "MODEL_STARTED",
  "MODEL_COMPLETED",
  "TURN_COMPLETED",
  "RUN_COMPLETED",
  "RUN_FAILED",
  "RUN_CANCELLED",
]);

/** Tenant ids hold no colon. */
function keyOf(tenantId: TenantId, runId: string): string {
  return `${tenantId}:${runId}`;
}

function sizeOf(draft: Draft): number {
  return draft.text.length + draft.reasoning.length;
}

/** A delta of another message, or of another turn, begins a new draft. */
function extended(old: Draft | undefined, event: RunEvent): Draft {
  const goesOn =
    old !== undefined &&
    old.turn === event.turn &&
    (old.messageId === null || event.messageId === null || old.messageId === event.messageId);
  const base: Draft = goesOn ? old : { messageId: null, turn: event.turn, text: "", reasoning: "" };
  const add = (text: string) => (text + (event.delta ?? "")).slice(0, TEXT_UNITS_MAX);
  return {
    messageId: event.messageId ?? base.messageId,
    turn: event.turn,
    text: event.type === "TEXT_DELTA" ? add(base.text) : base.text,
    reasoning: event.type === "REASONING_DELTA" ? add(base.reasoning) : base.reasoning,
  };
}
