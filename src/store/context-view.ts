import type { ContextRepair, MessageRole } from "./model.ts";

/** What pairing needs to know of a stored message; bodies are not among it. */
export interface SkeletonEntry {
  readonly sequence: number;
  readonly role: MessageRole;
  readonly includeInContext: boolean;
  /** An assistant message with nothing in it: no calls, no replay blocks, no text. */
  readonly empty: boolean;
  /** An assistant's calls, in call order. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** The call that a tool message answers; null for other roles. */
  readonly resultFor: string | null;
}

/** Sequences that a rewind took out of the context: above `after`, up to and with `through`. */
export interface HiddenRange {
  readonly after: number;
  readonly through: number;
}

export type ContextMember =
  | { readonly kind: "stored"; readonly sequence: number }
  /** Stands for a result that was never recorded. */
  | { readonly kind: "synthesized"; readonly toolCallId: string; readonly name: string };

/** A message, and with an assistant's calls the result of each, in call order. No page splits one. */
export interface ContextUnit {
  readonly headSequence: number;
  readonly members: readonly ContextMember[];
}

/** What a model would be given, as places in the log. */
export interface ContextProjection {
  readonly units: readonly ContextUnit[];
  /** By sequence, then call order. */
  readonly repairs: readonly ContextRepair[];
}

interface OpenUnit {
  readonly entry: SkeletonEntry;
  readonly position: number;
  /** Sequence of each call's result, by index of the call. */
  readonly results: Map<number, number>;
}

/**
 * Makes a log provider-safe (decisions 12 and 13). First the filter: messages that are not included, rewound ones and
 * empty assistant messages are gone without a word. Then pairing: a result belongs to the nearest earlier call of its
 * id; a second one, or one without a call, is left out; a missing one is synthesized. The log itself is not touched.
 * `entries` ascend by sequence and begin after the snapshot's boundary.
 */
export function projectContext(
  entries: readonly SkeletonEntry[],
  hidden: readonly HiddenRange[] = [],
): ContextProjection {
  const units: OpenUnit[] = [];
  const repairs: ContextRepair[] = [];
  const nearestCall = new Map<string, { readonly unit: OpenUnit; readonly index: number }>();
  for (const entry of entries) {
    if (isLeftOut(entry, hidden)) continue;
    if (entry.role === "TOOL") {
      const repair = placeResult(entry, nearestCall, units.length);
      if (repair !== null) repairs.push(repair);
      continue;
    }
    const unit: OpenUnit = { entry, position: units.length, results: new Map() };
    units.push(unit);
    for (const [index, call] of entry.calls.entries()) nearestCall.set(call.id, { unit, index });
  }
  const missing = units.flatMap((unit) => missingResults(unit));
  return { units: units.map(closeUnit), repairs: sortRepairs([...repairs, ...missing]) };
}

function isLeftOut(entry: SkeletonEntry, hidden: readonly HiddenRange[]): boolean {
  if (!entry.includeInContext) return true;
  if (entry.role === "ASSISTANT" && entry.empty) return true;
  return hidden.some((range) => entry.sequence > range.after && entry.sequence <= range.through);
}

function placeResult(
  entry: SkeletonEntry,
  nearestCall: ReadonlyMap<string, { readonly unit: OpenUnit; readonly index: number }>,
  unitCount: number,
): ContextRepair | null {
  const toolCallId = entry.resultFor ?? "";
  const call = nearestCall.get(toolCallId);
  if (call === undefined) return { kind: "ORPHAN_RESULT", sequence: entry.sequence, toolCallId };
  if (call.unit.results.has(call.index)) return { kind: "DUPLICATE_RESULT", sequence: entry.sequence, toolCallId };
  call.unit.results.set(call.index, entry.sequence);
  // Providers check adjacency, not existence: a message of any other kind in between makes the result late.
  const adjacent = call.unit.position === unitCount - 1;
  return adjacent ? null : { kind: "LATE_RESULT", sequence: entry.sequence, toolCallId };
}

function missingResults({ entry, results }: OpenUnit): readonly ContextRepair[] {
  return entry.calls
    .filter((_, index) => !results.has(index))
    .map((call) => ({ kind: "MISSING_RESULT", sequence: entry.sequence, toolCallId: call.id }));
}

function closeUnit({ entry, results }: OpenUnit): ContextUnit {
  const answers = entry.calls.map((call, index): ContextMember => {
    const sequence = results.get(index);
    return sequence === undefined
      ? { kind: "synthesized", toolCallId: call.id, name: call.name }
      : { kind: "stored", sequence };
  });
  return { headSequence: entry.sequence, members: [{ kind: "stored", sequence: entry.sequence }, ...answers] };
}

/** Stable, so that the missing results of one message stay in call order. */
function sortRepairs(repairs: readonly ContextRepair[]): readonly ContextRepair[] {
  return [...repairs].sort((left, right) => left.sequence - right.sequence);
}

/** Which units a page may hold: heads above `after` and below `before`, taken from one end, at least `rows` members. */
export interface UnitPageRequest {
  readonly direction: "forward" | "backward";
  readonly rows: number;
  readonly after: number | null;
  readonly before: number | null;
}

/**
 * Whole units until `rows` messages are reached: a page may exceed them to finish a batch, and never splits one.
 * Pages joined are the whole, in either direction.
 */
export function pageUnits(
  units: readonly ContextUnit[],
  request: UnitPageRequest,
): { readonly units: readonly ContextUnit[]; readonly hasNextPage: boolean; readonly hasPreviousPage: boolean } {
  const { after, before, direction, rows } = request;
  const start = after === null ? 0 : headsBelow(units, after + 1);
  const end = before === null ? units.length : headsBelow(units, before);
  let from = direction === "forward" ? start : end;
  let to = from;
  let taken = 0;
  while (taken < rows && (direction === "forward" ? to < end : from > start)) {
    const unit = direction === "forward" ? units[to++] : units[--from];
    taken += unit?.members.length ?? 0;
  }
  return { units: units.slice(from, to), hasNextPage: to < units.length, hasPreviousPage: from > 0 };
}

/** How many units begin below a sequence; heads ascend, so that a long context is not walked for each page. */
function headsBelow(units: readonly ContextUnit[], sequence: number): number {
  let low = 0;
  let high = units.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((units[middle]?.headSequence ?? 0) < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
