import type { Clock } from '../../../../shared/domain/clock.ts';
import { repeat } from '../../../../shared/runtime/repeat.ts';
import type { Channel, ChannelListener } from '../../channel.ts';
import { CODEC_VERSION, EventCodec } from '../../codec.ts';
import type { Event } from '../../events.ts';
import { type ChannelMessage, packMessage, unpackMessage } from './channel-message.ts';
import { ChannelStats, EventReceiver, NO_LISTENER } from './event-receiver.ts';
import type { FleetSecret } from './fleet-secret.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface RedisChannelOptions {
  readonly redis: Pick<RedisConnection, 'publish' | 'subscribe'>;
  /** The name of this gateway, which no other has or had. */
  readonly member: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly secret: FleetSecret;
  /** Calls back at the end of this turn of the event loop. Default: setImmediate. */
  readonly atEndOfTurn?: (work: () => void) => void;
  readonly messageBytes?: number;
}

const MESSAGE_BYTES = 512 * 1024;

/** Time between two signs of life, in milliseconds. */
const BEAT_MS = 250;

/** The wait for other followers that request a snapshot, too: one answers them all. In milliseconds. */
const GATHER_MS = 50;
const MAX_JOINING = 1000;

/** Returns the names of what the leader sends to all, and of what followers send to it: each build talks to its equals. */
export const channelNames = (prefix: string): { readonly events: string; readonly follower: string } => ({
  events: `${prefix}events:${CODEC_VERSION}`,
  follower: `${prefix}follower-events:${CODEC_VERSION}`,
});

/**
 * The channel of a fleet over Redis: what the leader keeps goes to all followers, what these read to the leader. Messages
 * are authentic, and a follower applies those of one leader only, without a gap.
 */
export class RedisChannel implements Channel {
  readonly stats = new ChannelStats();
  readonly #options: RedisChannelOptions;
  readonly #names: ReturnType<typeof channelNames>;
  readonly #codec = new EventCodec();
  readonly #receiver: EventReceiver;
  readonly #unsubscribe: () => void;
  #unsubscribeFollowers: (() => void) | undefined;
  /** The epoch that this gateway leads; 0 while it follows. */
  #epoch = 0;
  #seq = 0;
  #events: Uint8Array[] = [];
  readonly #joinIds = new Set<string>();
  #stopBeating = (): void => {};
  #cancelSnapshot = (): void => {};

  constructor(options: RedisChannelOptions) {
    const { redis, prefix } = options;
    this.#options = options;
    this.#names = channelNames(prefix);
    const { events, follower } = this.#names;
    const requestSnapshot = (joinId: string): void => this.#send(follower, { type: 'join', joinId });
    this.#receiver = new EventReceiver({ ...options, codec: this.#codec, stats: this.stats, requestSnapshot });
    this.#unsubscribe = redis.subscribe(events, (bytes) => this.#onMessage(events, bytes));
  }

  lead(epoch: number): void {
    const { redis, clock } = this.#options;
    const { follower } = this.#names;
    this.#receiver.lead(epoch);
    this.resign();
    this.#epoch = epoch;
    this.#seq = 0;
    this.#stopBeating = repeat(clock, BEAT_MS, () => this.#sendEvents([]), 0);
    // Once for good: Redis' client may drop a subscription that is made again right after it was ended.
    this.#unsubscribeFollowers ??= redis.subscribe(follower, (bytes) => this.#onMessage(follower, bytes));
  }

  resign(): void {
    this.#epoch = 0;
    this.#events = [];
    this.#joinIds.clear();
    this.#stopBeating();
    this.#cancelSnapshot();
  }

  lose(reason: string): void {
    this.#receiver.lose(reason);
  }

  publish(event: Event): void {
    if (this.#epoch === 0 && !this.#receiver.isJoined) return;
    if (this.#events.push(this.#codec.encode(event)) > 1) return;
    const { atEndOfTurn = setImmediate } = this.#options;
    atEndOfTurn(() => this.#flush());
  }

  subscribe(listener: ChannelListener): () => void {
    this.#receiver.listener = listener;
    return () => {
      this.#receiver.listener = NO_LISTENER;
    };
  }

  close(): void {
    this.#unsubscribe();
    this.resign();
    this.#unsubscribeFollowers?.();
    this.#receiver.close();
  }

  #flush(): void {
    const { messageBytes = MESSAGE_BYTES } = this.#options;
    const events = this.#events.splice(0);
    if (events.length === 0) return;
    if (this.#epoch === 0) {
      this.#send(this.#names.follower, { type: 'follower-events', events });
      return;
    }
    let from = 0;
    let bytes = 0;
    for (const [i, { length }] of events.entries()) {
      if (bytes >= messageBytes) {
        this.#sendEvents(events.slice(from, i));
        from = i;
        bytes = 0;
      }
      bytes += length;
    }
    this.#sendEvents(events.slice(from));
  }

  /** Sends events to all followers: those of a snapshot with the requests that it answers. */
  #sendEvents(events: readonly Uint8Array[], joinIds?: readonly string[]): void {
    const message = { epoch: this.#epoch, leader: this.#options.member, seq: ++this.#seq, events };
    this.#send(
      this.#names.events,
      joinIds ? { type: 'snapshot', ...message, joinIds } : { type: 'events', ...message },
    );
  }

  #sendSnapshot(): void {
    this.stats.snapshotsSent++;
    const joinIds = [...this.#joinIds];
    this.#joinIds.clear(); // a follower that does not receive it requests another one
    const events = this.#receiver.listener.snapshot().map((event) => this.#codec.encode(event));
    this.#flush(); // the snapshot has the effect of all events up to here
    this.#sendEvents(events, joinIds);
  }

  #send(channel: string, message: ChannelMessage): void {
    const { redis, secret } = this.#options;
    const bytes = packMessage(message, channel, secret);
    void redis.publish(channel, bytes).then((isSent) => {
      if (isSent) this.stats.sentBytes += bytes.length;
      this.stats[isSent ? 'sent' : 'unsent']++;
    });
  }

  #onMessage(channel: string, bytes: Buffer): void {
    const message = unpackMessage(bytes, channel, this.#options.secret);
    this.stats.received++;
    this.stats.receivedBytes += bytes.length;
    if (typeof message === 'string') this.stats.rejected[message]++;
    else if (message.type === 'join') this.#onJoin(message.joinId);
    else if (message.type !== 'follower-events') {
      if (this.#epoch === 0) this.#receiver.onMessage(message);
    } else if (this.#epoch > 0)
      for (const event of message.events) this.#receiver.listener.onEvent(this.#codec.decode(event));
  }

  #onJoin(joinId: string): void {
    if (this.#epoch === 0 || this.#joinIds.size >= MAX_JOINING || this.#joinIds.add(joinId).size > 1) return;
    this.#cancelSnapshot = this.#options.clock.after(GATHER_MS, () => this.#sendSnapshot());
  }
}
