import { toJson } from '../../../shared/domain/to-json.ts';
import type { PubsubSession, PubsubSubscription, SubscriptionHandler } from '../../upstream/pubsub/pubsub-session.ts';

type Method = Parameters<PubsubSession['subscribe']>[0];

interface CoalescedSubscription {
  readonly handlers: Set<SubscriptionHandler>;
  subscription: PubsubSubscription | undefined;
  isAcknowledged: boolean;
}

/** A node treats equal subscriptions as one: ending one would end the other, and silence would pass for "unchanged". */
export class SubscriptionCoalescer {
  readonly #pubsub: PubsubSession;
  readonly #byKey = new Map<string, CoalescedSubscription>();

  constructor(pubsub: PubsubSession) {
    this.#pubsub = pubsub;
  }

  /** Subscribes as `PubsubSession.subscribe` does. Calls `onAcknowledged` in this turn if the node did so before. */
  subscribe(...[method, params, handler]: Parameters<PubsubSession['subscribe']>): () => void {
    const key = subscriptionKey(method, params);
    const shared = this.#byKey.get(key) ?? this.#open(key, method, params);
    shared.handlers.add(handler);
    if (shared.isAcknowledged) handler.onAcknowledged();
    return () => {
      if (shared.handlers.delete(handler) && shared.isAcknowledged) this.#unsubscribeUnused(key, shared);
    };
  }

  has(method: Method, params: readonly unknown[]): boolean {
    return this.#byKey.has(subscriptionKey(method, params));
  }

  #open(key: string, method: Method, params: readonly unknown[]): CoalescedSubscription {
    const shared: CoalescedSubscription = { handlers: new Set(), subscription: undefined, isAcknowledged: false };
    const forEachHandler = (call: (handler: SubscriptionHandler) => void): void => [...shared.handlers].forEach(call);
    shared.subscription = this.#pubsub.subscribe(method, params, {
      onAcknowledged: () => {
        shared.isAcknowledged = true;
        this.#unsubscribeUnused(key, shared); // not earlier: an equal one might be added until then
        forEachHandler((handler) => handler.onAcknowledged());
      },
      onNotification: (slot, value) => forEachHandler((handler) => handler.onNotification(slot, value)),
      onRejected: () => {
        this.#byKey.delete(key);
        forEachHandler((handler) => handler.onRejected());
      },
      onRefused: () => {
        this.#byKey.delete(key);
        forEachHandler((handler) => handler.onRefused());
      },
    });
    this.#byKey.set(key, shared);
    return shared;
  }

  #unsubscribeUnused(key: string, { handlers, subscription }: CoalescedSubscription): void {
    if (handlers.size > 0 || !this.#byKey.delete(key)) return;
    subscription?.stop();
  }
}

const subscriptionKey = (method: string, params: readonly unknown[]): string => toJson([method, params]);
