import { formatPushFrame } from '../../../client/verify/index.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { EventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { type AccountTopic, TOPIC_NAMES } from '../../routes/stream-topics.ts';
import { errorFrame } from './error-frame.ts';
import type { EventSubscriptions } from './event-subscriptions.ts';
import type { StreamConnection, SubscriptionCaller } from './stream-connection.ts';
import type { MessageId } from './stream-message.ts';
import { TopicFeed, type TopicFeedOptions, type TopicUpdate } from './topic-feed.ts';

interface TopicSubscription {
  readonly connection: StreamConnection;
  readonly id: MessageId;
  /** True if its message named several addresses: an error frame about it then names the address. */
  readonly isBatch: boolean;
  /** The update that was sent last; undefined before the first one. */
  lastSent: TopicUpdate | undefined;
  seq: number;
  hasUnsentUpdate: boolean;
}

interface TopicSubscribers {
  readonly topic: AccountTopic;
  readonly feed: TopicFeed;
  readonly subscriptions: Map<StreamConnection, TopicSubscription>;
  /** Ends the grace period without closing the topic: somebody has subscribed again. */
  endGracePeriod: () => void;
}

export interface AccountTopicsOptions extends Omit<TopicFeedOptions, 'topic' | 'caller' | 'onUpdate' | 'onEnd'> {
  readonly clock: Clock;
  readonly events: EventSubscriptions;
}

/** The time that a topic without subscribers stays open, so that a client that reconnects needs no read. */
const GRACE_PERIOD_MS = 10_000;

/** The account topics of the stream: the subscriptions of each connection, and the update that each was sent last. */
export class AccountTopics {
  readonly #options: AccountTopicsOptions;
  readonly #topics = new Map<string, TopicSubscribers>();
  readonly #topicsByConnection = new Map<StreamConnection, Set<TopicSubscribers>>();
  readonly #subscriptionCounts = new Map<string, number>(TOPIC_NAMES.map((name) => [name, 0]));

  constructor(options: AccountTopicsOptions) {
    this.#options = options;
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  get subscriptionCounts(): ReadonlyMap<string, number> {
    return this.#subscriptionCounts;
  }

  subscriptionsOf(connection: StreamConnection): number {
    return (this.#topicsByConnection.get(connection)?.size ?? 0) + this.#options.events.countOf(connection);
  }

  findFault(connection: StreamConnection, topic: AccountTopic): GatewayError | undefined {
    const { maxSubscriptions } = connection.caller;
    if (
      this.#topics.get(topic.request.key)?.subscriptions.has(connection) ||
      this.#options.events.has(connection, topic)
    )
      return new GatewayError('invalid_request', 'this connection is already subscribed to the topic');
    if (this.subscriptionsOf(connection) >= maxSubscriptions)
      return new GatewayError('rate_limited', `a connection may have ${maxSubscriptions} subscriptions`);
    return undefined;
  }

  /** Sends the current value once it is read, then each change; with `since` events instead. Resolves with the read; rejects with what to send. */
  async subscribe(
    connection: StreamConnection,
    topic: AccountTopic,
    id: MessageId,
    isBatch = false,
    since?: EventId | null,
  ): Promise<void> {
    const fault = this.findFault(connection, topic);
    if (fault !== undefined) throw fault;
    if (since !== undefined) {
      this.#options.events.subscribe(connection, topic, { id, isBatch, since });
      return;
    }
    const connectionTopics = this.#topicsByConnection.get(connection) ?? new Set<TopicSubscribers>();
    const subscribers = this.#openTopic(topic, connection.caller);
    const subscription = { connection, id, isBatch, lastSent: undefined, seq: 0, hasUnsentUpdate: false };
    subscribers.subscriptions.set(connection, subscription);
    this.#countSubscription(topic, 1);
    this.#topicsByConnection.set(connection, connectionTopics.add(subscribers));
    try {
      this.#replyFirst(subscribers, subscription, await subscribers.feed.readCurrent(connection.caller));
    } catch (thrown) {
      if (subscribers.subscriptions.get(connection) === subscription) this.#removeSubscription(connection, subscribers);
      throw thrown;
    }
  }

  unsubscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): void {
    const subscribers = this.#topics.get(topic.request.key);
    if (this.#options.events.has(connection, topic)) {
      this.#endEvents(connection, topic, id);
      return;
    }
    if (subscribers === undefined || !subscribers.subscriptions.has(connection)) {
      throw new GatewayError('invalid_request', 'this connection is not subscribed to the topic');
    }
    this.#endSubscription(connection, subscribers, id);
  }

  unsubscribeId(connection: StreamConnection, id: string | number): void {
    const ending = [...(this.#topicsByConnection.get(connection) ?? [])].filter(
      ({ subscriptions }) => subscriptions.get(connection)?.id === id,
    );
    const ofEvents = this.#options.events.topicsOf(connection, id);
    if (ending.length === 0 && ofEvents.length === 0)
      throw new GatewayError('invalid_request', 'this connection has no subscription with the id');
    for (const subscribers of ending) this.#endSubscription(connection, subscribers, id);
    for (const topic of ofEvents) this.#endEvents(connection, topic, id);
  }

  /** Sends the newest update of each topic of which a slow connection has missed some. */
  sendUnsent(connection: StreamConnection): void {
    this.#options.events.resume(connection);
    for (const { topic, subscriptions, feed } of this.#topicsByConnection.get(connection) ?? []) {
      const subscription = subscriptions.get(connection);
      if (subscription?.hasUnsentUpdate === true && feed.latest !== undefined)
        sendUpdate(topic, subscription, feed.latest);
    }
  }

  removeConnection(connection: StreamConnection): void {
    this.#options.events.removeConnection(connection);
    for (const subscribers of [...(this.#topicsByConnection.get(connection) ?? [])])
      this.#removeSubscription(connection, subscribers);
  }

  close(): void {
    for (const { feed, endGracePeriod } of this.#topics.values()) {
      endGracePeriod();
      feed.close();
    }
    this.#topics.clear();
  }

  /** Replies with the value that is the newest when the client has room for it. */
  #replyFirst({ topic, feed, subscriptions }: TopicSubscribers, subscription: TopicSubscription, first: TopicUpdate) {
    const { connection } = subscription;
    const newest = (): TopicUpdate => feed.latest ?? first;
    connection.reply(
      () => {
        if (subscriptions.get(connection) !== subscription) return undefined; // unsubscribed or closed since
        return formatPushFrame('subscribed', memberText(subscription, topic, true), newest().body);
      },
      () => {
        subscription.lastSent = newest();
      },
    );
  }

  #endSubscription(connection: StreamConnection, subscribers: TopicSubscribers, id: MessageId): void {
    this.#removeSubscription(connection, subscribers);
    replyUnsubscribed(connection, subscribers.topic, id);
  }

  #endEvents(connection: StreamConnection, topic: AccountTopic, id: MessageId): void {
    this.#options.events.unsubscribe(connection, topic);
    replyUnsubscribed(connection, topic, id);
  }

  /** Returns a topic, whose place counts for this caller, too, from now on. */
  #openTopic(topic: AccountTopic, caller: SubscriptionCaller): TopicSubscribers {
    const subscribers = this.#topics.get(topic.request.key);
    if (subscribers === undefined) return this.#createTopic(topic, caller);
    subscribers.feed.addCaller(caller);
    subscribers.endGracePeriod();
    return subscribers;
  }

  #createTopic(topic: AccountTopic, caller: SubscriptionCaller): TopicSubscribers {
    const subscriptions = new Map<StreamConnection, TopicSubscription>();
    const onUpdate = (update: TopicUpdate): void => {
      for (const subscription of subscriptions.values()) pushIfNewer(topic, subscription, update);
    };
    const onEnd = (reason: GatewayError): void => this.#endTopic(subscribers, reason);
    const feed = new TopicFeed({ ...this.#options, topic, caller, onUpdate, onEnd });
    const subscribers: TopicSubscribers = { topic, feed, subscriptions, endGracePeriod: () => {} };
    this.#topics.set(topic.request.key, subscribers);
    return subscribers;
  }

  #endTopic(subscribers: TopicSubscribers, reason: GatewayError): void {
    const { address } = subscribers.topic;
    for (const { connection, id, isBatch } of [...subscribers.subscriptions.values()]) {
      this.#removeSubscription(connection, subscribers);
      connection.reply(() => errorFrame(id, reason, isBatch ? { address } : {}));
    }
    subscribers.endGracePeriod();
    this.#closeTopic(subscribers);
  }

  #closeTopic({ topic, feed }: TopicSubscribers): void {
    this.#topics.delete(topic.request.key);
    feed.close();
  }

  #countSubscription({ name }: AccountTopic, change: 1 | -1): void {
    this.#subscriptionCounts.set(name, (this.#subscriptionCounts.get(name) ?? 0) + change);
  }

  #removeSubscription(connection: StreamConnection, subscribers: TopicSubscribers): void {
    if (subscribers.subscriptions.delete(connection)) this.#countSubscription(subscribers.topic, -1);
    const connectionTopics = this.#topicsByConnection.get(connection);
    connectionTopics?.delete(subscribers);
    if (connectionTopics?.size === 0) this.#topicsByConnection.delete(connection);
    const { feed } = subscribers;
    if (subscribers.subscriptions.size > 0) feed.removeCaller(connection.caller);
    else this.#beginGracePeriod(subscribers, connection.caller);
  }

  /** Leaves a topic open for a while. Until then its place still counts for the last caller that left. */
  #beginGracePeriod(subscribers: TopicSubscribers, lastCaller: SubscriptionCaller): void {
    const cancel = this.#options.clock.after(GRACE_PERIOD_MS, () => this.#closeTopic(subscribers));
    subscribers.endGracePeriod = () => {
      cancel();
      subscribers.endGracePeriod = () => {};
      subscribers.feed.removeCaller(lastCaller);
    };
  }
}

function replyUnsubscribed(connection: StreamConnection, { name, address }: AccountTopic, id: MessageId): void {
  connection.reply(() => `{"type":"unsubscribed","id":${JSON.stringify(id)},"topic":"${name}","address":"${address}"}`);
}

function pushIfNewer(topic: AccountTopic, subscription: TopicSubscription, update: TopicUpdate): void {
  const { lastSent } = subscription;
  if (lastSent === undefined || update.slot <= lastSent.slot || (update.result === lastSent.result && !update.isReorg))
    return;
  subscription.seq++;
  sendUpdate(topic, subscription, update);
}

function sendUpdate(topic: AccountTopic, subscription: TopicSubscription, update: TopicUpdate): void {
  subscription.lastSent = update;
  const reorg = update.isReorg ? ',"reorg":true' : '';
  const members = `${memberText(subscription, topic, false)}${reorg}`;
  subscription.hasUnsentUpdate = !subscription.connection.push(formatPushFrame(topic.name, members, update.body));
}

function memberText({ id, seq }: TopicSubscription, { name, address }: AccountTopic, isFirst: boolean): string {
  const topic = isFirst ? `"topic":"${name}",` : '';
  return `"id":${JSON.stringify(id)},${topic}"address":"${address}","seq":${seq}`;
}
