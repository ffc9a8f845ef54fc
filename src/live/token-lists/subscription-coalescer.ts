import { toJson } from '../../domain/to-json.ts';
import type { PubsubSession, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';

interface CoalescedSubscription {
  readonly handlers: Set<SubscriptionHandler>;
  unsubscribe: () => void;
  isAcknowledged: boolean;
}

/**
 * The subscriptions of one connection, each made once however many want it. A node counts equal ones as one: to end
 * one would end the other, and its silence would be taken for "unchanged".
 */
export class SubscriptionCoalescer {
  readonly #pubsub: PubsubSession;
  readonly #byKey = new Map<string, CoalescedSubscription>();

  constructor(pubsub: PubsubSession) {
    this.#pubsub = pubsub;
  }

  /** As `Line.subscribe`. It is acknowledged at once where that has come already. */
  subscribe(...[method, params, handler]: Parameters<PubsubSession['subscribe']>): () => void {
    const key = subscriptionKey(method, params);
    const shared = this.#byKey.get(key) ?? this.#open(key, method, params);
    shared.handlers.add(handler);
    if (shared.isAcknowledged) handler.onAcknowledged();
    return () => {
      if (shared.handlers.delete(handler) && shared.isAcknowledged) this.#unsubscribeUnused(key, shared);
    };
  }

  has(method: Parameters<PubsubSession['subscribe']>[0], params: readonly unknown[]): boolean {
    return this.#byKey.has(subscriptionKey(method, params));
  }

  #open(
    key: string,
    method: Parameters<PubsubSession['subscribe']>[0],
    params: readonly unknown[],
  ): CoalescedSubscription {
    const shared: CoalescedSubscription = { handlers: new Set(), unsubscribe: () => {}, isAcknowledged: false };
    shared.unsubscribe = this.#pubsub.subscribe(method, params, {
      onAcknowledged: () => {
        shared.isAcknowledged = true;
        this.#unsubscribeUnused(key, shared); // not before: an equal one might be asked for meanwhile
        for (const handler of [...shared.handlers]) handler.onAcknowledged();
      },
      onNotification: (slot, value) => {
        for (const handler of [...shared.handlers]) handler.onNotification(slot, value);
      },
      onRejected: () => {
        this.#byKey.delete(key);
        for (const handler of [...shared.handlers]) handler.onRejected();
      },
    });
    this.#byKey.set(key, shared);
    return shared;
  }

  #unsubscribeUnused(key: string, { handlers, unsubscribe }: CoalescedSubscription): void {
    if (handlers.size > 0 || !this.#byKey.delete(key)) return;
    unsubscribe();
  }
}

const subscriptionKey = (method: string, params: readonly unknown[]): string => toJson([method, params]);
