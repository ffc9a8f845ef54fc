import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/error.ts';
import type { Topic } from '../routes/topics.ts';
import { errorFrame } from './error-frame.ts';
import { Followed, type FollowedOptions, type Push } from './followed.ts';
import type { MessageId } from './stream-message.ts';

/** Where the frames of one connection go. */
export interface Listener {
  /** Sends what somebody waits for: the answer to a message of his, or the end of what he subscribed to. */
  say: (frame: string) => void;
  /** Sends a change. False when the reader has too much to read already: the newest is sent when he can take it. */
  push: (frame: string) => boolean;
  /** How many subscriptions it may hold. */
  readonly subscriptions: number;
}

interface Subscription {
  readonly listener: Listener;
  readonly id: MessageId;
  /** What was sent last; undefined until the first value is. */
  sent: Push | undefined;
  seq: number;
  isOwed: boolean;
}

interface Channel {
  readonly topic: Topic;
  readonly followed: Followed;
  readonly subscriptions: Map<Listener, Subscription>;
  cancelGrace: () => void;
}

export interface PushesOptions extends Omit<FollowedOptions, 'topic' | 'onPush' | 'onEnd'> {
  readonly clock: Clock;
}

/** A topic that everybody has left is followed for so long yet: who reconnects finds it warm. */
const GRACE_MS = 10_000;

/** The account topics of the stream: who subscribes to what, and what each was sent. */
export class Pushes {
  readonly #options: PushesOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #byListener = new Map<Listener, Set<Channel>>();

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** How many topics are followed, those in their grace included. */
  get topics(): number {
    return this.#channels.size;
  }

  /** Sends the first value as soon as it is there, then each change. Throws what an error frame tells. */
  async subscribe(listener: Listener, topic: Topic, id: MessageId): Promise<void> {
    const held = this.#byListener.get(listener) ?? new Set<Channel>();
    const known = this.#channels.get(topic.question.key);
    if (known !== undefined && held.has(known)) throw new GatewayError('invalid_request', 'subscribed already');
    if (held.size >= listener.subscriptions) {
      throw new GatewayError('rate_limited', `more than ${listener.subscriptions} subscriptions on a connection`);
    }
    const channel = known ?? this.#open(topic);
    channel.cancelGrace();
    const subscription: Subscription = { listener, id, sent: undefined, seq: 0, isOwed: false };
    channel.subscriptions.set(listener, subscription);
    this.#byListener.set(listener, held.add(channel));
    try {
      const first = await channel.followed.now();
      if (channel.subscriptions.get(listener) !== subscription) return; // gone meanwhile
      subscription.sent = first;
      listener.say(`{"type":"subscribed",${head(subscription, topic, true)},"answer":${first.body}}`);
      const { latest } = channel.followed;
      if (latest !== undefined) push(channel.topic, subscription, latest);
    } catch (thrown) {
      if (channel.subscriptions.get(listener) === subscription) this.#leave(listener, channel);
      throw thrown;
    }
  }

  /** Throws `invalid_request` when there is no such subscription. */
  unsubscribe(listener: Listener, topic: Topic, id: MessageId): void {
    const channel = this.#channels.get(topic.question.key);
    if (channel === undefined || !channel.subscriptions.has(listener)) {
      throw new GatewayError('invalid_request', 'not subscribed');
    }
    this.#leave(listener, channel);
    listener.say(
      `{"type":"unsubscribed","id":${JSON.stringify(id)},"topic":"${topic.name}","address":"${topic.address}"}`,
    );
  }

  /** A connection can take more: it gets the newest of all that it missed. */
  drained(listener: Listener): void {
    for (const { topic, subscriptions, followed } of this.#byListener.get(listener) ?? []) {
      const subscription = subscriptions.get(listener);
      if (subscription?.isOwed === true && followed.latest !== undefined) send(topic, subscription, followed.latest);
    }
  }

  /** A connection is gone. */
  drop(listener: Listener): void {
    for (const channel of [...(this.#byListener.get(listener) ?? [])]) this.#leave(listener, channel);
  }

  close(): void {
    for (const { followed, cancelGrace } of this.#channels.values()) {
      cancelGrace();
      followed.close();
    }
    this.#channels.clear();
  }

  #open(topic: Topic): Channel {
    const subscriptions = new Map<Listener, Subscription>();
    const onPush = (news: Push): void => {
      for (const subscription of subscriptions.values()) push(topic, subscription, news);
    };
    const onEnd = (reason: GatewayError): void => this.#end(channel, reason);
    const followed = new Followed({ ...this.#options, topic, onPush, onEnd });
    const channel: Channel = { topic, followed, subscriptions, cancelGrace: () => {} };
    this.#channels.set(topic.question.key, channel);
    return channel;
  }

  #end(channel: Channel, reason: GatewayError): void {
    for (const { listener, id } of [...channel.subscriptions.values()]) {
      this.#leave(listener, channel);
      listener.say(errorFrame(id, reason));
    }
    channel.cancelGrace();
    this.#close(channel);
  }

  #close({ topic, followed }: Channel): void {
    this.#channels.delete(topic.question.key);
    followed.close();
  }

  #leave(listener: Listener, channel: Channel): void {
    channel.subscriptions.delete(listener);
    const held = this.#byListener.get(listener);
    held?.delete(channel);
    if (held?.size === 0) this.#byListener.delete(listener);
    if (channel.subscriptions.size > 0) return;
    channel.cancelGrace = this.#options.clock.after(GRACE_MS, () => this.#close(channel));
  }
}

/** Tells one subscriber of a newer answer, if it is news to him. */
function push(topic: Topic, subscription: Subscription, news: Push): void {
  const { sent } = subscription;
  if (sent === undefined || news.slot <= sent.slot || (news.result === sent.result && !news.isReorg)) return;
  subscription.seq++;
  send(topic, subscription, news);
}

function send(topic: Topic, subscription: Subscription, news: Push): void {
  subscription.sent = news;
  const reorg = news.isReorg ? ',"reorg":true' : '';
  const frame = `{"type":"${topic.name}",${head(subscription, topic, false)}${reorg},"answer":${news.body}}`;
  subscription.isOwed = !subscription.listener.push(frame);
}

function head({ id, seq }: Subscription, { name, address }: Topic, isFirst: boolean): string {
  const topic = isFirst ? `"topic":"${name}",` : '';
  return `"id":${JSON.stringify(id)},${topic}"address":"${address}","seq":${seq}`;
}
