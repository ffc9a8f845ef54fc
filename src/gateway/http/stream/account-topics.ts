import { formatPushFrame } from '../../../client/verify/index.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { EventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { type AccountTopic, TOPIC_NAMES } from '../../routes/stream-topics.ts';
import { type EventChannels, GRACE_PERIOD_MS } from '../events/event-channels.ts';
import { errorFrame } from './error-frame.ts';
import { subscribeToEvents } from './event-subscriptions.ts';
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
  readonly channels: Pick<EventChannels, 'join'>;
}

/** The account topics of the stream, and the update that each of their subscribers was sent last. */
export class AccountTopics {
  readonly #options: AccountTopicsOptions;
  readonly #topics = new Map<string, TopicSubscribers>();
  readonly subscriptionCounts = new Map<string, number>(TOPIC_NAMES.map((name) => [name, 0]));

  constructor(options: AccountTopicsOptions) {
    this.#options = options;
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  findFault(connection: StreamConnection, topic: AccountTopic): GatewayError | undefined {
    const { caller, subscriptions } = connection;
    const { maxSubscriptions } = caller;
    if (subscriptions.has(topic.request.key))
      return new GatewayError('invalid_request', 'this connection is already subscribed to the topic');
    if (subscriptions.size >= maxSubscriptions)
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
      const onEnd = (reason: GatewayError): void => {
        this.#remove(connection, topic);
        replyEnded(connection, topic, { id, isBatch }, reason);
      };
      const membership = subscribeToEvents(this.#options.channels, connection, topic, { id, since, onEnd });
      const ofEvents = { topic, id, resume: () => membership.resume(), end: () => membership.leave() };
      connection.subscriptions.set(topic.request.key, ofEvents);
      return;
    }
    const subscribers = this.#openTopic(topic, connection.caller);
    const { feed, subscriptions } = subscribers;
    const subscription = { connection, id, isBatch, lastSent: undefined, seq: 0, hasUnsentUpdate: false };
    subscriptions.set(connection, subscription);
    this.#countSubscription(topic, 1);
    connection.subscriptions.set(topic.request.key, {
      topic,
      id,
      resume: () => resend(topic, subscription, feed.latest),
      end: () => this.#leave(connection, subscribers),
    });
    try {
      this.#replyFirst(subscribers, subscription, await feed.readCurrent(connection.caller));
    } catch (thrown) {
      if (subscriptions.get(connection) === subscription) this.#remove(connection, topic);
      throw thrown;
    }
  }

  unsubscribe(connection: StreamConnection, topic: AccountTopic, id: MessageId): void {
    if (!connection.subscriptions.has(topic.request.key))
      throw new GatewayError('invalid_request', 'this connection is not subscribed to the topic');
    this.#remove(connection, topic);
    replyUnsubscribed(connection, topic, id);
  }

  unsubscribeId(connection: StreamConnection, id: string | number): void {
    const ending = [...connection.subscriptions.values()].filter((subscription) => subscription.id === id);
    if (ending.length === 0)
      throw new GatewayError('invalid_request', 'this connection has no subscription with the id');
    for (const { topic } of ending) this.unsubscribe(connection, topic, id);
  }

  /** Sends what a slow connection has missed: of each topic the newest update, or the events that wait. */
  sendUnsent(connection: StreamConnection): void {
    for (const subscription of [...connection.subscriptions.values()]) subscription.resume();
  }

  removeConnection(connection: StreamConnection): void {
    for (const { topic } of [...connection.subscriptions.values()]) this.#remove(connection, topic);
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

  #remove({ subscriptions }: StreamConnection, { request }: AccountTopic): void {
    const subscription = subscriptions.get(request.key);
    subscriptions.delete(request.key);
    subscription?.end();
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
    const { topic } = subscribers;
    for (const subscription of [...subscribers.subscriptions.values()]) {
      this.#remove(subscription.connection, topic);
      replyEnded(subscription.connection, topic, subscription, reason);
    }
    subscribers.endGracePeriod();
    this.#closeTopic(subscribers);
  }

  #closeTopic({ topic, feed }: TopicSubscribers): void {
    this.#topics.delete(topic.request.key);
    feed.close();
  }

  #countSubscription({ name }: AccountTopic, change: 1 | -1): void {
    this.subscriptionCounts.set(name, (this.subscriptionCounts.get(name) ?? 0) + change);
  }

  #leave(connection: StreamConnection, subscribers: TopicSubscribers): void {
    if (subscribers.subscriptions.delete(connection)) this.#countSubscription(subscribers.topic, -1);
    if (subscribers.subscriptions.size > 0) subscribers.feed.removeCaller(connection.caller);
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

function replyEnded(
  connection: StreamConnection,
  { address }: AccountTopic,
  { id, isBatch }: Pick<TopicSubscription, 'id' | 'isBatch'>,
  reason: GatewayError,
): void {
  connection.reply(() => errorFrame(id, reason, isBatch ? { address } : {}));
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

function resend(topic: AccountTopic, subscription: TopicSubscription, latest: TopicUpdate | undefined): void {
  if (subscription.hasUnsentUpdate && latest !== undefined) sendUpdate(topic, subscription, latest);
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
