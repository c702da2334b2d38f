import type { ContextProjection, HiddenRange } from "../context-view.ts";
import type { ContextPin } from "../contract.ts";

/** What a session's first edits come to. */
export interface EditedContext {
  /** The snapshot in effect; null where there is none, or a rewind to 0 has retired it. */
  readonly snapshot: { readonly key: number; readonly version: number } | null;
  /** The context begins after this sequence; 0 without a snapshot. */
  readonly boundary: number;
  /** What rewinds took out, ascending by where each begins; they may overlap. */
  readonly hidden: readonly HiddenRange[];
}

/** A context as places in the log, at one pin. */
export interface PinnedContext {
  readonly edited: EditedContext;
  readonly projection: ContextProjection;
  /** Messages in it, synthesized ones too. */
  readonly messageCount: number;
}

/** The latest contexts read from one file, so that a walk over pages reads the skeleton of the log once. */
export interface ProjectionCache {
  /** The context at a pin; `make` where it is not kept. It never goes stale: what a pin names does not change. */
  at(pin: ContextPin, make: () => PinnedContext): PinnedContext;
}

const CONTEXTS_MAX = 8;
/** Messages of all kept contexts together; the one read last is kept whatever its size. */
const MESSAGES_MAX = 200_000;

/** An empty cache; it goes with the handle that holds it. */
export function createProjectionCache(): ProjectionCache {
  const kept = new Map<string, PinnedContext>();
  const trim = (): void => {
    let messages = 0;
    for (const context of kept.values()) messages += context.messageCount;
    for (const [key, context] of kept) {
      if (kept.size === 1 || (kept.size <= CONTEXTS_MAX && messages <= MESSAGES_MAX)) return;
      kept.delete(key);
      messages -= context.messageCount;
    }
  };
  return {
    at(pin, make) {
      const key = `${pin.generation}:${pin.lastSequence}:${pin.edits}`;
      const context = kept.get(key) ?? make();
      kept.delete(key);
      kept.set(key, context);
      trim();
      return context;
    },
  };
}
