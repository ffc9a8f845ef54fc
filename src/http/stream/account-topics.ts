import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatPushFrame } from '../../receipts/push-frame.ts';
import type { AccountTopic } from '../../routes/stream-topics.ts';
import { errorFrame } from './error-frame.ts';
import type { MessageId } from './stream-message.ts';
import { TopicFeed, type TopicFeedOptions, type TopicUpdate } from './topic-feed.ts';

/** One client's connection to the stream. */
export interface StreamConnection {
  /** Sends a frame that the client waits for: the reply to a message, or the end of a subscription. */
  reply: (frame: string) => void;
  /** Sends a change. Returns false if the client is too slow: the newest change is then sent once it has caught up. */
  push: (frame: string) => boolean;
  /** The number of topics that it may subscribe to. */
  readonly maxSubscriptions: number;
}

/** One connection's subscription to a topic. */
interface TopicSubscription {
  readonly connection: StreamConnection;
  readonly id: MessageId;
  /** The update that was sent last; undefined before the first one. */
  lastSent: TopicUpdate | undefined;
  seq: number;
  /** True if the newest update is still to be sent. */
  hasUnsentUpdate: boolean;
}

/** A topic, its feed and its subscriptions. */
interface TopicSubscribers {
  readonly topic: AccountTopic;
  readonly feed: TopicFeed;
  readonly subscriptions: Map<StreamConnection, TopicSubscription>;
  cancelGracePeriod: () => void;
}

export interface AccountTopicsOptions extends Omit<TopicFeedOptions, 'topic' | 'onUpdate' | 'onEnd'> {
  readonly clock: Clock;
}

/** The time that a topic without subscribers stays open, so that a client who reconnects gets its value at once. */
const GRACE_PERIOD_MS = 10_000;

/** The account topics of the stream: the subscriptions of each connection, and the update that each was sent last. */
export class AccountTopics {
  readonly #options: AccountTopicsOptions;
  readonly #topics = new Map<string, TopicSubscribers>();
  readonly #topicsByConnection = new Map<StreamConnection, Set<TopicSubscribers>>();

  constructor(options: AccountTopicsOptions) {
    this.#options = options;
  }

  /** The number of open topics, those in their grace period included. */
  get topicCount(): number {
    return this.#topics.size;
  }

  /** Sends the current value once it is read, then each change. Rejects with the error to send to the client. */
  async subscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): Promise<void> {
    const connectionTopics = this.#topicsByConnection.get(connection) ?? new Set<TopicSubscribers>();
    const existing = this.#topics.get(topic.request.key);
    if (existing !== undefined && connectionTopics.has(existing))
      throw new GatewayError('invalid_request', 'this connection is already subscribed to the topic');
    if (connectionTopics.size >= connection.maxSubscriptions) {
      throw new GatewayError('rate_limited', `a connection may have ${connection.maxSubscriptions} subscriptions`);
    }
    const subscribers = existing ?? this.#createTopic(topic);
    subscribers.cancelGracePeriod();
    const subscription: TopicSubscription = { connection, id, lastSent: undefined, seq: 0, hasUnsentUpdate: false };
    subscribers.subscriptions.set(connection, subscription);
    this.#topicsByConnection.set(connection, connectionTopics.add(subscribers));
    try {
      const first = await subscribers.feed.readCurrent();
      if (subscribers.subscriptions.get(connection) !== subscription) return; // unsubscribed or closed meanwhile
      subscription.lastSent = first;
      connection.reply(formatPushFrame('subscribed', memberText(subscription, topic, true), first.body));
      const { latest } = subscribers.feed;
      if (latest !== undefined) pushIfNewer(subscribers.topic, subscription, latest);
    } catch (thrown) {
      if (subscribers.subscriptions.get(connection) === subscription) this.#removeSubscription(connection, subscribers);
      throw thrown;
    }
  }

  /** Ends a subscription. Throws `invalid_request` if there is no such subscription. */
  unsubscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): void {
    const subscribers = this.#topics.get(topic.request.key);
    if (subscribers === undefined || !subscribers.subscriptions.has(connection)) {
      throw new GatewayError('invalid_request', 'this connection is not subscribed to the topic');
    }
    this.#removeSubscription(connection, subscribers);
    connection.reply(
      `{"type":"unsubscribed","id":${JSON.stringify(id)},"topic":"${topic.name}","address":"${topic.address}"}`,
    );
  }

  /** Sends the newest update of each topic of which a slow connection has missed some. */
  sendUnsent(connection: StreamConnection): void {
    for (const { topic, subscriptions, feed } of this.#topicsByConnection.get(connection) ?? []) {
      const subscription = subscriptions.get(connection);
      if (subscription?.hasUnsentUpdate === true && feed.latest !== undefined)
        sendUpdate(topic, subscription, feed.latest);
    }
  }

  /** Ends all subscriptions of a closed connection. */
  removeConnection(connection: StreamConnection): void {
    for (const subscribers of [...(this.#topicsByConnection.get(connection) ?? [])])
      this.#removeSubscription(connection, subscribers);
  }

  /** Closes all topics, without a frame to their subscribers. */
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
    this.#closeTopic(subscribers);
  }

  #closeTopic({ topic, feed }: TopicSubscribers): void {
    this.#topics.delete(topic.request.key);
    feed.close();
  }

  #removeSubscription(connection: StreamConnection, subscribers: TopicSubscribers): void {
    subscribers.subscriptions.delete(connection);
    const connectionTopics = this.#topicsByConnection.get(connection);
    connectionTopics?.delete(subscribers);
    if (connectionTopics?.size === 0) this.#topicsByConnection.delete(connection);
    if (subscribers.subscriptions.size > 0) return;
    subscribers.cancelGracePeriod = this.#options.clock.after(GRACE_PERIOD_MS, () => this.#closeTopic(subscribers));
  }
}

/** Sends an update to one subscriber if it is newer than the last one, and differs from it. */
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
