import type { Clock } from '../../../../shared/domain/clock.ts';
import { repeat } from '../../../../shared/runtime/repeat.ts';
import type { ChannelListener } from '../../channel.ts';
import type { EventCodec } from '../../codec.ts';
import type { Event } from '../../events.ts';
import type { LeaderMessage } from './channel-message.ts';

export interface EventReceiverOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly member: string;
  readonly codec: EventCodec;
  readonly stats: ChannelStats;
  readonly requestSnapshot: (joinId: string) => void;
}

interface Leader {
  readonly epoch: number;
  readonly name: string;
  seq: number;
  newestSeq: number;
}

/** The time without a message after which a leader counts as gone, in milliseconds; a sign of life comes each 250. */
const SILENCE_MS = 1200;
const CHECK_MS = 100;

export const NO_LISTENER: ChannelListener = { snapshot: () => [], onJoined() {}, onEvent() {}, onLost() {} };

/** The shortest and the longest wait for a snapshot before it is requested again, in milliseconds. */
const MIN_JOIN_MS = 500;
const MAX_JOIN_MS = 4000;

/**
 * Follows one leader: that of the highest epoch, its messages in their order. Where one is missing, or none comes for too
 * long, all is lost in that call; then the leader is requested to send a snapshot, behind which its messages go on.
 */
export class EventReceiver {
  listener = NO_LISTENER;
  isJoined = false;
  readonly #options: EventReceiverOptions;
  readonly #stop: () => void;
  #leader: Leader | undefined;
  #joinId: string | undefined;
  #receivedMs = Number.NEGATIVE_INFINITY;
  #joinMs = MIN_JOIN_MS;
  #cancelJoin = (): void => {};
  #joins = 0;

  constructor(options: EventReceiverOptions) {
    this.#options = options;
    this.#stop = repeat(options.clock, CHECK_MS, () => this.#checkSilence());
  }

  close(): void {
    this.#stop();
    this.lose('it is not followed any more');
  }

  /** Begins to lead: from then on only leaders of epochs above the own one are followed, once it has resigned. */
  lead(epoch: number): void {
    this.lose('this gateway leads');
    this.#leader = { epoch, name: this.#options.member, seq: 0, newestSeq: 0 };
  }

  /** Ends what was known, before anything else is handled. The epoch stays: no older one is followed again. */
  lose(reason: string): void {
    this.#endJoining();
    if (!this.isJoined) return;
    this.isJoined = false;
    this.listener.onLost(reason);
  }

  onMessage(message: LeaderMessage): void {
    const leader = this.#leaderOf(message);
    if (leader === undefined || message.seq <= leader.newestSeq) return; // one that is repeated is no sign of life
    leader.newestSeq = message.seq;
    this.#receivedMs = this.#options.clock.monotonic();
    if (this.isJoined) this.#apply(message, leader);
    else if (this.#joinId === undefined) this.#join();
    else if (message.type === 'snapshot' && message.joinIds.includes(this.#joinId)) this.#joinAt(message, leader);
  }

  /** Returns the leader whose message it is; undefined for one of before. Turns to one of a higher epoch. */
  #leaderOf({ epoch, leader: name }: LeaderMessage): Leader | undefined {
    const known = this.#leader;
    if (name === this.#options.member) return undefined;
    if (known?.epoch === epoch && known.name === name) return known;
    if (known !== undefined && (epoch < known.epoch || (epoch === known.epoch && name < known.name))) {
      this.#options.stats.rejected.outdated++;
      return undefined;
    }
    this.lose('another gateway leads');
    this.#leader = { epoch, name, seq: -1, newestSeq: -1 };
    return this.#leader;
  }

  #joinAt({ seq, events }: LeaderMessage, leader: Leader): void {
    this.#endJoining();
    leader.seq = seq;
    this.isJoined = true;
    this.#joinMs = MIN_JOIN_MS;
    const { stats, codec } = this.#options;
    stats.snapshotsTaken++;
    this.#attempt(() => this.listener.onJoined(events.map((event) => codec.decode<Event>(event))));
  }

  #apply({ type, seq, events }: LeaderMessage, leader: Leader): void {
    if (seq !== leader.seq + 1) {
      this.#options.stats.gaps++;
      this.lose('a message is missing');
      this.#join();
      return;
    }
    leader.seq = seq;
    if (type === 'snapshot') return; // it says what is known here
    const { codec } = this.#options;
    for (const event of events) if (this.isJoined) this.#attempt(() => this.listener.onEvent(codec.decode(event)));
  }

  #attempt(apply: () => void): void {
    try {
      apply();
    } catch {
      this.lose('an event cannot be read');
    }
  }

  /** Requests a snapshot, and again if none comes for a while. */
  #join(): void {
    const { clock, random, member, requestSnapshot } = this.#options;
    this.#cancelJoin();
    this.#joinId = `${member} ${++this.#joins} ${random().toString(36).slice(2)}`;
    requestSnapshot(this.#joinId);
    this.#cancelJoin = clock.after(this.#joinMs * (0.75 + 0.5 * random()), () => {
      this.#joinId = undefined;
      if (clock.monotonic() - this.#receivedMs <= SILENCE_MS) this.#join();
    });
    this.#joinMs = Math.min(2 * this.#joinMs, MAX_JOIN_MS);
  }

  #endJoining(): void {
    this.#cancelJoin();
    this.#joinId = undefined;
  }

  #checkSilence(): void {
    if (this.#leader === undefined || this.#options.clock.monotonic() - this.#receivedMs <= SILENCE_MS) return;
    this.lose('the leader is silent');
  }
}

export class ChannelStats {
  sent = 0;
  sentBytes = 0;
  unsent = 0;
  received = 0;
  receivedBytes = 0;
  /** Messages that were not accepted: forged or changed, of no form, of a leader that has been replaced. */
  readonly rejected = { mac: 0, malformed: 0, outdated: 0 };
  gaps = 0;
  snapshotsSent = 0;
  snapshotsTaken = 0;
}
