import { toJson } from '../../domain/to-json.ts';
import type { SlotEvent } from '../bank/chain.ts';
import { invalidParams, methodNotFound, NodeError } from '../encode/node-error.ts';
import type { Node } from '../rpc/method.ts';
import { positional } from '../rpc/params.ts';
import { moments } from './moments.ts';
import { TOPIC_KINDS, type Topic, topicOf } from './topics.ts';

/** Where notifications go. */
export interface Subscriber {
  send(text: string): void;
}

interface Subscription {
  readonly id: number;
  readonly key: string;
  readonly method: string;
  readonly topic: Topic;
  readonly subscribers: Set<Subscriber>;
}

const MAX_SUBSCRIPTIONS = 10_000;
const METHOD = new RegExp(`^(${TOPIC_KINDS.join('|')})(Subscribe|Unsubscribe)$`);

/**
 * Who listens to what. As on a node, equal subscriptions are one and share their id, also over connections, and each
 * notification is written once.
 */
export class Subscriptions {
  readonly #node: Node;
  readonly #byId = new Map<number, Subscription>();
  readonly #byKey = new Map<string, Subscription>();
  #nextId = 1;

  constructor(node: Node) {
    this.#node = node;
  }

  /** Answers `<kind>Subscribe` and `<kind>Unsubscribe`, which are all that a node understands here. */
  call(subscriber: Subscriber, name: string, params: unknown): unknown {
    const [, kind, action] = METHOD.exec(name) ?? [];
    if (kind === undefined) throw methodNotFound();
    return action === 'Subscribe' ? this.#subscribe(subscriber, kind, params) : this.#unsubscribe(subscriber, params);
  }

  /** Forgets a subscriber that is gone. */
  drop(subscriber: Subscriber): void {
    for (const subscription of this.#byId.values()) this.#leave(subscription, subscriber);
  }

  /** Tells everyone what one slot brought. */
  publish(event: SlotEvent): void {
    for (const moment of moments(event)) {
      for (const subscription of this.#byId.values()) {
        const { id, method, topic, subscribers } = subscription;
        const results = topic.results(moment);
        for (const result of results) {
          const text = toJson({ jsonrpc: '2.0', method, params: { result, subscription: id } });
          for (const subscriber of subscribers) subscriber.send(text);
        }
        if (topic.once === true && results.length > 0) this.#remove(subscription);
      }
    }
  }

  #subscribe(subscriber: Subscriber, kind: string, params: unknown): number {
    const topic = topicOf(this.#node, kind, params);
    const key = toJson([kind, params]);
    let subscription = this.#byKey.get(key);
    if (subscription === undefined) {
      if (this.#byId.size >= MAX_SUBSCRIPTIONS) {
        throw new NodeError(-32603, 'Internal Error: Subscription refused. Node subscription limit reached');
      }
      subscription = { id: this.#nextId++, key, method: `${kind}Notification`, topic, subscribers: new Set() };
      this.#byId.set(subscription.id, subscription);
      this.#byKey.set(key, subscription);
    }
    subscription.subscribers.add(subscriber);
    return subscription.id;
  }

  #unsubscribe(subscriber: Subscriber, params: unknown): true {
    const [id] = positional(params, 1, 0);
    const subscription = typeof id === 'number' ? this.#byId.get(id) : undefined;
    if (!subscription?.subscribers.has(subscriber)) throw invalidParams('Invalid subscription id.');
    this.#leave(subscription, subscriber);
    return true;
  }

  #leave(subscription: Subscription, subscriber: Subscriber): void {
    if (subscription.subscribers.delete(subscriber) && subscription.subscribers.size === 0) this.#remove(subscription);
  }

  #remove({ id, key }: Subscription): void {
    this.#byId.delete(id);
    this.#byKey.delete(key);
  }
}
