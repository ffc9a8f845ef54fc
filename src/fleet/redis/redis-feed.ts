import type { Clock } from '../../domain/clock.ts';
import type { Feed, FeedFrame, FeedListener } from './feed.ts';
import { type FeedMessage, type MessageFault, packMessage, unpackMessage } from './feed-message.ts';
import { FeedReceiver } from './feed-receiver.ts';
import { FeedSender } from './feed-sender.ts';
import type { FleetSecret } from './fleet-secret.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface RedisFeedOptions {
  readonly redis: Pick<RedisConnection, 'publish' | 'subscribe'>;
  readonly member: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly secret: FleetSecret;
  /** Returns all that this gateway keeps, while it leads. */
  readonly snapshot: () => readonly FeedFrame[];
  /** Calls back at the end of this turn of the event loop. Default: setImmediate. */
  readonly atEndOfTurn?: (work: () => void) => void;
  /** The length of a message from which on the next frame goes into another one. Default: 512 KiB. */
  readonly messageBytes?: number;
}

const MESSAGE_BYTES = 512 * 1024;

/** What a feed counts. */
export interface FeedStats {
  readonly sent: number;
  readonly sentBytes: number;
  /** Messages that Redis didn't take. */
  readonly unsent: number;
  readonly received: number;
  readonly receivedBytes: number;
  /** Messages that were not taken: forged or changed, of another version, of no form, of a leader before. */
  readonly rejected: Readonly<Record<MessageFault | 'outdated', number>>;
  readonly gaps: number;
  readonly snapshotsSent: number;
  readonly snapshotsTaken: number;
}

const NO_LISTENER: FeedListener = { joined() {}, frame() {}, lost() {} };

/**
 * The feed of a fleet over the channels of Redis: what the leader keeps goes to all followers, what these read to the
 * leader. Messages are authentic, and a follower applies those of one leader only, without a gap.
 */
export class RedisFeed implements Feed {
  readonly #options: RedisFeedOptions;
  readonly #sender: FeedSender;
  readonly #receiver: FeedReceiver;
  readonly #stops: readonly (() => void)[];
  #stopHearingFollowers: (() => void) | undefined;
  #listener = NO_LISTENER;
  #hear: (member: string, frame: FeedFrame) => void = () => {};
  #toTell: FeedFrame[] = [];
  #sent = 0;
  #sentBytes = 0;
  #unsent = 0;
  #received = 0;
  #receivedBytes = 0;
  readonly #faults: Record<MessageFault, number> = { mac: 0, version: 0, malformed: 0 };

  constructor(options: RedisFeedOptions) {
    this.#options = options;
    const { redis, member } = options;
    const [all, own, up] = [this.#channel('feed'), this.#channel(`to:${member}`), this.#channel('up')];
    const send = (message: FeedMessage): void => this.#send(all, message);
    const sendPiece = (to: string, message: FeedMessage): void => this.#send(this.#channel(`to:${to}`), message);
    const { atEndOfTurn = setImmediate, messageBytes = MESSAGE_BYTES } = options;
    this.#sender = new FeedSender({ ...options, send, sendPiece, atEndOfTurn, messageBytes });
    this.#receiver = new FeedReceiver({
      ...options,
      askToJoin: (joinId) => this.#send(up, { kind: 'join', member, joinId }),
      listener: {
        joined: (snapshot) => this.#listener.joined(snapshot),
        frame: (frame) => this.#listener.frame(frame),
        lost: (reason) => this.#listener.lost(reason),
      },
    });
    this.#stops = [
      redis.subscribe(all, (bytes) => this.#onMessage(all, bytes)),
      redis.subscribe(own, (bytes) => this.#onMessage(own, bytes)),
    ];
  }

  get stats(): FeedStats {
    const { gaps, outdated, snapshots } = this.#receiver;
    return {
      sent: this.#sent,
      sentBytes: this.#sentBytes,
      unsent: this.#unsent,
      received: this.#received,
      receivedBytes: this.#receivedBytes,
      rejected: { ...this.#faults, outdated },
      gaps,
      snapshotsSent: this.#sender.snapshots,
      snapshotsTaken: snapshots,
    };
  }

  /** Sends what this gateway keeps from now on: it leads. */
  lead(epoch: number): void {
    const up = this.#channel('up');
    this.#receiver.lead(epoch);
    this.#sender.lead(epoch);
    // Once for good: a channel that is left and heard again at once may stay unheard, since the client forgets late.
    this.#stopHearingFollowers ??= this.#options.redis.subscribe(up, (bytes) => this.#onMessage(up, bytes));
  }

  /** Sends nothing more, and hears who leads now. */
  resign(): void {
    this.#sender.resign();
    this.#receiver.resign();
  }

  /** Loses all that was heard: messages may have been lost. */
  lose(reason: string): void {
    this.#receiver.lose(reason);
  }

  publish(frames: readonly FeedFrame[]): void {
    this.#sender.publish(frames);
  }

  follow(listener: FeedListener): () => void {
    this.#listener = listener;
    return () => {
      this.#listener = NO_LISTENER;
    };
  }

  tell(frame: FeedFrame): void {
    if (!this.#receiver.isJoined) return;
    if (this.#toTell.push(frame) > 1) return;
    (this.#options.atEndOfTurn ?? setImmediate)(() => {
      this.#send(this.#channel('up'), { kind: 'told', member: this.#options.member, frames: this.#toTell });
      this.#toTell = [];
    });
  }

  onTold(hear: (member: string, frame: FeedFrame) => void): () => void {
    this.#hear = hear;
    return () => {
      this.#hear = () => {};
    };
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.resign();
    this.#stopHearingFollowers?.();
    this.#receiver.close();
  }

  #channel(name: string): string {
    return this.#options.prefix + name;
  }

  #send(channel: string, message: FeedMessage): void {
    const bytes = packMessage(message, channel, this.#options.secret);
    void this.#options.redis.publish(channel, bytes).then((isSent) => this.#countSent(bytes.length, isSent));
  }

  #countSent(bytes: number, isSent: boolean): void {
    if (!isSent) this.#unsent++;
    else {
      this.#sent++;
      this.#sentBytes += bytes;
    }
  }

  #onMessage(channel: string, bytes: Buffer): void {
    const message = unpackMessage(bytes, channel, this.#options.secret);
    this.#received++;
    this.#receivedBytes += bytes.length;
    if (typeof message === 'string') this.#faults[message]++;
    else if (message.kind === 'frames') this.#receiver.onFrames(message);
    else if (message.kind === 'piece') this.#receiver.onPiece(message);
    else if (message.kind === 'join') this.#sender.onJoin(message.member, message.joinId);
    else if (this.#sender.isLeading) for (const frame of message.frames) this.#hear(message.member, frame);
  }
}
