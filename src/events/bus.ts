import type { KeyId, RunEvent, SessionId, TenantId } from "../store/model.ts";

/**
 * A wake-up, never the truth: it may be lost or repeated. What a client gets is read from the store again, run deltas
 * alone excepted, which are stored nowhere.
 */
export type BusEvent =
  | { readonly kind: "log"; readonly tenantId: TenantId; readonly sessionId: SessionId; readonly lastSequence: number }
  | { readonly kind: "session"; readonly tenantId: TenantId; readonly sessionId: SessionId }
  | {
      readonly kind: "run";
      readonly tenantId: TenantId;
      readonly sessionId: SessionId;
      readonly events: readonly RunEvent[];
    }
  | { readonly kind: "access"; readonly tenantId: TenantId; readonly keyId: KeyId | null };

/** One session of one tenant, or everything of the tenant (`sessionId` null). A tenant's events reach no other. */
export interface Topic {
  readonly tenantId: TenantId;
  readonly sessionId: SessionId | null;
}

export interface Bus {
  /** Calls the listeners before it returns. Never throws into the operation that publishes. */
  publish(event: BusEvent): void;
  /** Returns what ends it; ending twice is harmless. A listener that throws is logged and loses that event alone. */
  subscribe(topic: Topic, listener: (event: BusEvent) => void): () => void;
  listenerCount(): number;
}
