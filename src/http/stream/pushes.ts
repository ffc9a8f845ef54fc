import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatPushFrame } from '../../receipts/push-frame.ts';
import type { Topic } from '../../routes/topics.ts';
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

interface Audience {
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
  readonly #audiences = new Map<string, Audience>();
  readonly #byListener = new Map<Listener, Set<Audience>>();

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** How many topics are followed, those in their grace included. */
  get topics(): number {
    return this.#audiences.size;
  }

  /** Sends the first value as soon as it is there, then each change. Throws what an error frame tells. */
  async subscribe(listener: Listener, topic: Topic, id: MessageId): Promise<void> {
    const held = this.#byListener.get(listener) ?? new Set<Audience>();
    const known = this.#audiences.get(topic.question.key);
    if (known !== undefined && held.has(known)) throw new GatewayError('invalid_request', 'subscribed already');
    if (held.size >= listener.subscriptions) {
      throw new GatewayError('rate_limited', `more than ${listener.subscriptions} subscriptions on a connection`);
    }
    const audience = known ?? this.#open(topic);
    audience.cancelGrace();
    const subscription: Subscription = { listener, id, sent: undefined, seq: 0, isOwed: false };
    audience.subscriptions.set(listener, subscription);
    this.#byListener.set(listener, held.add(audience));
    try {
      const first = await audience.followed.now();
      if (audience.subscriptions.get(listener) !== subscription) return; // gone meanwhile
      subscription.sent = first;
      listener.say(formatPushFrame('subscribed', head(subscription, topic, true), first.body));
      const { latest } = audience.followed;
      if (latest !== undefined) push(audience.topic, subscription, latest);
    } catch (thrown) {
      if (audience.subscriptions.get(listener) === subscription) this.#leave(listener, audience);
      throw thrown;
    }
  }

  /** Throws `invalid_request` when there is no such subscription. */
  unsubscribe(listener: Listener, topic: Topic, id: MessageId): void {
    const audience = this.#audiences.get(topic.question.key);
    if (audience === undefined || !audience.subscriptions.has(listener)) {
      throw new GatewayError('invalid_request', 'not subscribed');
    }
    this.#leave(listener, audience);
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
    for (const audience of [...(this.#byListener.get(listener) ?? [])]) this.#leave(listener, audience);
  }

  close(): void {
    for (const { followed, cancelGrace } of this.#audiences.values()) {
      cancelGrace();
      followed.close();
    }
    this.#audiences.clear();
  }

  #open(topic: Topic): Audience {
    const subscriptions = new Map<Listener, Subscription>();
    const onPush = (news: Push): void => {
      for (const subscription of subscriptions.values()) push(topic, subscription, news);
    };
    const onEnd = (reason: GatewayError): void => this.#end(audience, reason);
    const followed = new Followed({ ...this.#options, topic, onPush, onEnd });
    const audience: Audience = { topic, followed, subscriptions, cancelGrace: () => {} };
    this.#audiences.set(topic.question.key, audience);
    return audience;
  }

  #end(audience: Audience, reason: GatewayError): void {
    for (const { listener, id } of [...audience.subscriptions.values()]) {
      this.#leave(listener, audience);
      listener.say(errorFrame(id, reason));
    }
    audience.cancelGrace();
    this.#close(audience);
  }

  #close({ topic, followed }: Audience): void {
    this.#audiences.delete(topic.question.key);
    followed.close();
  }

  #leave(listener: Listener, audience: Audience): void {
    audience.subscriptions.delete(listener);
    const held = this.#byListener.get(listener);
    held?.delete(audience);
    if (held?.size === 0) this.#byListener.delete(listener);
    if (audience.subscriptions.size > 0) return;
    audience.cancelGrace = this.#options.clock.after(GRACE_MS, () => this.#close(audience));
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
  const members = `${head(subscription, topic, false)}${reorg}`;
  subscription.isOwed = !subscription.listener.push(formatPushFrame(topic.name, members, news.body));
}

function head({ id, seq }: Subscription, { name, address }: Topic, isFirst: boolean): string {
  const topic = isFirst ? `"topic":"${name}",` : '';
  return `"id":${JSON.stringify(id)},${topic}"address":"${address}","seq":${seq}`;
}
