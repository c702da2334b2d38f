import type { Log } from "../log.ts";
import type { SessionId, TenantId } from "../store/model.ts";
import type { Bus, BusEvent, Topic } from "./bus.ts";

interface Subscription {
  readonly listener: (event: BusEvent) => void;
}
/** Nested maps instead of joined keys: no id, however odd, can spell another topic's key. */
interface TenantTopics {
  readonly wide: Set<Subscription>;
  readonly bySession: Map<SessionId, Set<Subscription>>;
}

/** The bus of one process. What concerns a session reaches its listeners and the tenant's; all else the tenant's. */
export function createMemoryBus({ log }: { readonly log: Log }): Bus {
  const tenants = new Map<TenantId, TenantTopics>();
  let count = 0;

  function subscriptionsOf(topic: Topic): Set<Subscription> {
    const topics = tenants.get(topic.tenantId) ?? { wide: new Set(), bySession: new Map() };
    tenants.set(topic.tenantId, topics);
    if (topic.sessionId === null) return topics.wide;
    const subscriptions = topics.bySession.get(topic.sessionId) ?? new Set();
    topics.bySession.set(topic.sessionId, subscriptions);
    return subscriptions;
  }

  function forgetIfSilent(topic: Topic): void {
    const topics = tenants.get(topic.tenantId);
    if (topics === undefined) return;
    if (topic.sessionId !== null && topics.bySession.get(topic.sessionId)?.size === 0) {
      topics.bySession.delete(topic.sessionId);
    }
    if (topics.wide.size === 0 && topics.bySession.size === 0) tenants.delete(topic.tenantId);
  }

  function deliver(subscriptions: ReadonlySet<Subscription> | undefined, event: BusEvent): void {
    // A copy: whoever subscribes while it is called waits for the next event. Whoever left is not called any more.
    for (const subscription of [...(subscriptions ?? [])]) {
      if (!subscriptions?.has(subscription)) continue;
      try {
        subscription.listener(event);
      } catch (error) {
        log.error("A listener of the bus failed", { kind: event.kind, tenantId: event.tenantId, error: String(error) });
      }
    }
  }

  return {
    publish(event) {
      const topics = tenants.get(event.tenantId);
      if (topics === undefined) return;
      if (event.kind !== "access") deliver(topics.bySession.get(event.sessionId), event);
      deliver(topics.wide, event);
    },
    subscribe(topic, listener) {
      const subscription: Subscription = { listener };
      const subscriptions = subscriptionsOf(topic);
      subscriptions.add(subscription);
      count++;
      return () => {
        if (!subscriptions.delete(subscription)) return;
        count--;
        forgetIfSilent(topic);
      };
    },
    listenerCount: () => count,
  };
}
