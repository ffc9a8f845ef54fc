import { toJson } from '../../shared/domain/to-json.ts';
import type { SlotEvent } from '../bank/chain.ts';
import { invalidParams, methodNotFound, subscriptionRefused } from '../encode/json-rpc-error.ts';
import { readPositional } from '../rpc/json-rpc-params.ts';
import type { NodeContext } from '../rpc/method-handler.ts';
import { type PubsubEvent, pubsubEventsOf } from './notification-order.ts';
import { parseTopic, type SubscriptionTopic, TOPIC_KINDS } from './subscription-topics.ts';
import { type Trigger, triggersOf } from './triggers.ts';

/** Receiver of notifications. */
export interface Subscriber {
  send(text: string): void;
}

interface SharedSubscription {
  readonly id: number;
  readonly key: string;
  readonly method: string;
  readonly topic: SubscriptionTopic;
  readonly subscribers: Set<Subscriber>;
}

/** Most subscriptions of all connections: twice what one gateway keeps live. A node's default is 1,000,000. */
const MAX_SUBSCRIPTIONS = 200_000;
const METHOD_PATTERN = new RegExp(`^(${TOPIC_KINDS.join('|')})(Subscribe|Unsubscribe)$`);

/** As on a node, equal subscriptions share one id, over all connections, and each notification is serialized once. */
export class SubscriptionRegistry {
  readonly #node: NodeContext;
  readonly #onDefect: (thrown: unknown) => void;
  readonly #byId = new Map<number, SharedSubscription>();
  readonly #byKey = new Map<string, SharedSubscription>();
  readonly #byTrigger = new Map<Trigger, Set<SharedSubscription>>();
  readonly #bySubscriber = new Map<Subscriber, Set<SharedSubscription>>();
  #nextId = 1;

  constructor(node: NodeContext, onDefect: (thrown: unknown) => void) {
    this.#node = node;
    this.#onDefect = onDefect;
  }

  /** Answers `<kind>Subscribe` and `<kind>Unsubscribe`, the only methods of pubsub. */
  call(subscriber: Subscriber, name: string, params: unknown): unknown {
    const [, kind, action] = METHOD_PATTERN.exec(name) ?? [];
    if (kind === undefined) throw methodNotFound();
    return action === 'Subscribe' ? this.#subscribe(subscriber, kind, params) : this.#unsubscribe(subscriber, params);
  }

  /** Returns true for a call that would give a connection one subscription more. */
  isSubscribe(name: string): boolean {
    return METHOD_PATTERN.exec(name)?.[2] === 'Subscribe';
  }

  countOf(subscriber: Subscriber): number {
    return this.#bySubscriber.get(subscriber)?.size ?? 0;
  }

  removeSubscriber(subscriber: Subscriber): void {
    for (const subscription of [...(this.#bySubscriber.get(subscriber) ?? [])])
      this.#removeFrom(subscription, subscriber);
  }

  /** Notifies subscribers. A subscription whose notification can't be made is dropped: the chain goes on. */
  publish(event: SlotEvent): void {
    for (const pubsubEvent of pubsubEventsOf(event)) {
      for (const [subscription, addresses] of this.#triggeredBy(pubsubEvent)) {
        try {
          this.#notify(subscription, pubsubEvent, addresses);
        } catch (thrown) {
          this.#deleteSubscription(subscription);
          this.#onDefect(thrown);
        }
      }
    }
  }

  #notify(subscription: SharedSubscription, event: PubsubEvent, addresses: readonly string[]): void {
    const { id, method, topic, subscribers } = subscription;
    const results = topic.resultsOf(event, addresses);
    for (const result of results) {
      const text = toJson({ jsonrpc: '2.0', method, params: { result, subscription: id } });
      for (const subscriber of subscribers) subscriber.send(text);
    }
    if (topic.endsAfterFirst === true && results.length > 0) this.#deleteSubscription(subscription);
  }

  /** Returns the subscriptions that an event triggers, oldest first, and the accounts that did. */
  #triggeredBy(event: PubsubEvent): [SharedSubscription, readonly string[]][] {
    const triggered = new Map<SharedSubscription, string[]>();
    for (const [trigger, address] of triggersOf(event, this.#node.chain)) {
      for (const subscription of this.#byTrigger.get(trigger) ?? []) {
        const addresses = triggered.get(subscription) ?? [];
        if (address !== undefined) addresses.push(address);
        triggered.set(subscription, addresses);
      }
    }
    return [...triggered].sort(([a], [b]) => a.id - b.id);
  }

  #subscribe(subscriber: Subscriber, kind: string, params: unknown): number {
    const topic = parseTopic(this.#node, kind, params);
    const key = toJson([kind, params]);
    let subscription = this.#byKey.get(key);
    if (subscription === undefined) {
      if (this.#byId.size >= MAX_SUBSCRIPTIONS) throw subscriptionRefused();
      subscription = { id: this.#nextId++, key, method: `${kind}Notification`, topic, subscribers: new Set() };
      this.#byId.set(subscription.id, subscription);
      this.#byKey.set(key, subscription);
      for (const trigger of topic.triggers) {
        const triggered = this.#byTrigger.get(trigger) ?? new Set();
        this.#byTrigger.set(trigger, triggered.add(subscription));
      }
    }
    subscription.subscribers.add(subscriber);
    this.#bySubscriber.set(subscriber, (this.#bySubscriber.get(subscriber) ?? new Set()).add(subscription));
    return subscription.id;
  }

  #unsubscribe(subscriber: Subscriber, params: unknown): true {
    const [id] = readPositional(params, 1, 0);
    const subscription = typeof id === 'number' ? this.#byId.get(id) : undefined;
    if (!subscription?.subscribers.has(subscriber)) throw invalidParams('Invalid subscription id.');
    this.#removeFrom(subscription, subscriber);
    return true;
  }

  #removeFrom(subscription: SharedSubscription, subscriber: Subscriber): void {
    if (!subscription.subscribers.delete(subscriber)) return;
    this.#forget(subscription, subscriber);
    if (subscription.subscribers.size === 0) this.#deleteSubscription(subscription);
  }

  #forget(subscription: SharedSubscription, subscriber: Subscriber): void {
    const subscriptions = this.#bySubscriber.get(subscriber);
    if (subscriptions?.delete(subscription) && subscriptions.size === 0) this.#bySubscriber.delete(subscriber);
  }

  #deleteSubscription(subscription: SharedSubscription): void {
    const { id, key, topic, subscribers } = subscription;
    for (const subscriber of subscribers) this.#forget(subscription, subscriber);
    this.#byId.delete(id);
    this.#byKey.delete(key);
    for (const trigger of topic.triggers) {
      const triggered = this.#byTrigger.get(trigger);
      if (triggered?.delete(subscription) && triggered.size === 0) this.#byTrigger.delete(trigger);
    }
  }
}
