import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatPushFrame } from '../../receipts/push-frame.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import { errorFrame } from './error-frame.ts';
import type { MessageId } from './stream-message.ts';
import { TopicFeed, type TopicFeedOptions, type TopicUpdate } from './topic-feed.ts';

/** Where the frames of one connection go. */
export interface StreamConnection {
  /** Sends what somebody waits for: the answer to a message of his, or the end of what he subscribed to. */
  reply: (frame: string) => void;
  /** Sends a change. False when the reader has too much to read already: the newest is sent when he can take it. */
  push: (frame: string) => boolean;
  /** How many subscriptions it may hold. */
  readonly maxSubscriptions: number;
}

interface TopicSubscription {
  readonly connection: StreamConnection;
  readonly id: MessageId;
  /** What was sent last; undefined until the first value is. */
  lastSent: TopicUpdate | undefined;
  seq: number;
  hasUnsentUpdate: boolean;
}

interface TopicSubscribers {
  readonly topic: AccountTopic;
  readonly feed: TopicFeed;
  readonly subscriptions: Map<StreamConnection, TopicSubscription>;
  cancelGracePeriod: () => void;
}

export interface AccountTopicsOptions extends Omit<TopicFeedOptions, 'topic' | 'onUpdate' | 'onEnd'> {
  readonly clock: Clock;
}

/** A topic that everybody has left is followed for so long yet: who reconnects finds it warm. */
const GRACE_PERIOD_MS = 10_000;

/** The account topics of the stream: who subscribes to what, and what each was sent. */
export class AccountTopics {
  readonly #options: AccountTopicsOptions;
  readonly #topics = new Map<string, TopicSubscribers>();
  readonly #topicsByConnection = new Map<StreamConnection, Set<TopicSubscribers>>();

  constructor(options: AccountTopicsOptions) {
    this.#options = options;
  }

  /** How many topics are followed, those in their grace included. */
  get topicCount(): number {
    return this.#topics.size;
  }

  /** Sends the first value as soon as it is there, then each change. Throws what an error frame tells. */
  async subscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): Promise<void> {
    const connectionTopics = this.#topicsByConnection.get(connection) ?? new Set<TopicSubscribers>();
    const existing = this.#topics.get(topic.request.key);
    if (existing !== undefined && connectionTopics.has(existing))
      throw new GatewayError('invalid_request', 'subscribed already');
    if (connectionTopics.size >= connection.maxSubscriptions) {
      throw new GatewayError('rate_limited', `more than ${connection.maxSubscriptions} subscriptions on a connection`);
    }
    const subscribers = existing ?? this.#createTopic(topic);
    subscribers.cancelGracePeriod();
    const subscription: TopicSubscription = { connection, id, lastSent: undefined, seq: 0, hasUnsentUpdate: false };
    subscribers.subscriptions.set(connection, subscription);
    this.#topicsByConnection.set(connection, connectionTopics.add(subscribers));
    try {
      const first = await subscribers.feed.readCurrent();
      if (subscribers.subscriptions.get(connection) !== subscription) return; // gone meanwhile
      subscription.lastSent = first;
      connection.reply(formatPushFrame('subscribed', memberText(subscription, topic, true), first.body));
      const { latest } = subscribers.feed;
      if (latest !== undefined) pushIfNewer(subscribers.topic, subscription, latest);
    } catch (thrown) {
      if (subscribers.subscriptions.get(connection) === subscription) this.#removeSubscription(connection, subscribers);
      throw thrown;
    }
  }

  /** Throws `invalid_request` when there is no such subscription. */
  unsubscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): void {
    const subscribers = this.#topics.get(topic.request.key);
    if (subscribers === undefined || !subscribers.subscriptions.has(connection)) {
      throw new GatewayError('invalid_request', 'not subscribed');
    }
    this.#removeSubscription(connection, subscribers);
    connection.reply(
      `{"type":"unsubscribed","id":${JSON.stringify(id)},"topic":"${topic.name}","address":"${topic.address}"}`,
    );
  }

  /** A connection can take more: it gets the newest of all that it missed. */
  sendUnsent(connection: StreamConnection): void {
    for (const { topic, subscriptions, feed } of this.#topicsByConnection.get(connection) ?? []) {
      const subscription = subscriptions.get(connection);
      if (subscription?.hasUnsentUpdate === true && feed.latest !== undefined)
        sendUpdate(topic, subscription, feed.latest);
    }
  }

  /** A connection is gone. */
  removeConnection(connection: StreamConnection): void {
    for (const subscribers of [...(this.#topicsByConnection.get(connection) ?? [])])
      this.#removeSubscription(connection, subscribers);
  }

  close(): void {
    for (const { feed, cancelGracePeriod } of this.#topics.values()) {
      cancelGracePeriod();
      feed.close();
    }
    this.#topics.clear();
  }

  #createTopic(topic: AccountTopic): TopicSubscribers {
    const subscriptions = new Map<StreamConnection, TopicSubscription>();
    const onUpdate = (update: TopicUpdate): void => {
      for (const subscription of subscriptions.values()) pushIfNewer(topic, subscription, update);
    };
    const onEnd = (reason: GatewayError): void => this.#endTopic(subscribers, reason);
    const feed = new TopicFeed({ ...this.#options, topic, onUpdate, onEnd });
    const subscribers: TopicSubscribers = { topic, feed, subscriptions, cancelGracePeriod: () => {} };
    this.#topics.set(topic.request.key, subscribers);
    return subscribers;
  }

  #endTopic(subscribers: TopicSubscribers, reason: GatewayError): void {
    for (const { connection, id } of [...subscribers.subscriptions.values()]) {
      this.#removeSubscription(connection, subscribers);
      connection.reply(errorFrame(id, reason));
    }
    subscribers.cancelGracePeriod();
    this.#close(subscribers);
  }

  #close({ topic, feed }: TopicSubscribers): void {
    this.#topics.delete(topic.request.key);
    feed.close();
  }

  #removeSubscription(connection: StreamConnection, subscribers: TopicSubscribers): void {
    subscribers.subscriptions.delete(connection);
    const connectionTopics = this.#topicsByConnection.get(connection);
    connectionTopics?.delete(subscribers);
    if (connectionTopics?.size === 0) this.#topicsByConnection.delete(connection);
    if (subscribers.subscriptions.size > 0) return;
    subscribers.cancelGracePeriod = this.#options.clock.after(GRACE_PERIOD_MS, () => this.#close(subscribers));
  }
}

/** Tells one subscriber of a newer answer, if it is news to him. */
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
