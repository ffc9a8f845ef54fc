import { toJson } from '../../domain/to-json.ts';
import type { SlotEvent } from '../bank/chain.ts';
import { invalidParams, JsonRpcError, methodNotFound } from '../encode/json-rpc-error.ts';
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

const MAX_SUBSCRIPTIONS = 10_000;
const METHOD_PATTERN = new RegExp(`^(${TOPIC_KINDS.join('|')})(Subscribe|Unsubscribe)$`);

/**
 * Subscriptions and their subscribers. As on a node, equal subscriptions share one id, over all connections, and each
 * notification is serialized once.
 */
export class SubscriptionRegistry {
  readonly #node: NodeContext;
  readonly #byId = new Map<number, SharedSubscription>();
  readonly #byKey = new Map<string, SharedSubscription>();
  readonly #byTrigger = new Map<Trigger, Set<SharedSubscription>>();
  #nextId = 1;

  constructor(node: NodeContext) {
    this.#node = node;
  }

  /** Answers `<kind>Subscribe` and `<kind>Unsubscribe`, the only methods of pubsub. */
  call(subscriber: Subscriber, name: string, params: unknown): unknown {
    const [, kind, action] = METHOD_PATTERN.exec(name) ?? [];
    if (kind === undefined) throw methodNotFound();
    return action === 'Subscribe' ? this.#subscribe(subscriber, kind, params) : this.#unsubscribe(subscriber, params);
  }

  /** Removes a closed connection's subscriptions. */
  removeSubscriber(subscriber: Subscriber): void {
    for (const subscription of this.#byId.values()) this.#removeFrom(subscription, subscriber);
  }

  /** Sends the notifications of one slot. */
  publish(event: SlotEvent): void {
    for (const pubsubEvent of pubsubEventsOf(event)) {
      for (const [subscription, addresses] of this.#triggeredBy(pubsubEvent)) {
        const { id, method, topic, subscribers } = subscription;
        const results = topic.resultsOf(pubsubEvent, addresses);
        for (const result of results) {
          const text = toJson({ jsonrpc: '2.0', method, params: { result, subscription: id } });
          for (const subscriber of subscribers) subscriber.send(text);
        }
        if (topic.endsAfterFirst === true && results.length > 0) this.#deleteSubscription(subscription);
      }
    }
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
      if (this.#byId.size >= MAX_SUBSCRIPTIONS) {
        throw new JsonRpcError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');
      }
      subscription = { id: this.#nextId++, key, method: `${kind}Notification`, topic, subscribers: new Set() };
      this.#byId.set(subscription.id, subscription);
      this.#byKey.set(key, subscription);
      for (const trigger of topic.triggers) {
        const triggered = this.#byTrigger.get(trigger) ?? new Set();
        this.#byTrigger.set(trigger, triggered.add(subscription));
      }
    }
    subscription.subscribers.add(subscriber);
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
    if (subscription.subscribers.delete(subscriber) && subscription.subscribers.size === 0)
      this.#deleteSubscription(subscription);
  }

  #deleteSubscription(subscription: SharedSubscription): void {
    const { id, key, topic } = subscription;
    this.#byId.delete(id);
    this.#byKey.delete(key);
    for (const trigger of topic.triggers) {
      const triggered = this.#byTrigger.get(trigger);
      if (triggered?.delete(subscription) && triggered.size === 0) this.#byTrigger.delete(trigger);
    }
  }
}
