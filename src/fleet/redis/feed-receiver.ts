import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import type { FeedFrame, FeedListener } from './feed.ts';
import type { FrameMessage, SnapshotPiece } from './feed-message.ts';

export interface FeedReceiverOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** The name of this gateway: what it sends itself is not heard. */
  readonly member: string;
  /** Asks the leader for what it keeps. */
  readonly askToJoin: (joinId: string) => void;
  readonly listener: FeedListener;
}

/** A leader, and the place in its messages. */
interface Heard {
  readonly epoch: number;
  readonly leader: string;
  /** The number of the last message that was applied. */
  seq: number;
  /** The number of the newest message that has come. */
  newestSeq: number;
}

/** A question for what the leader keeps, and what has come of the answer. */
interface Joining {
  readonly joinId: string;
  readonly pieces: FeedFrame[];
  pieceCount: number;
  /** The messages that came meanwhile. */
  readonly waiting: FrameMessage[];
  waitingBytes: number;
}

/** The time without a message after which a leader counts as gone, in milliseconds; a sign of life comes each 250. */
const SILENCE_MS = 1200;
const CHECK_MS = 100;

/** The shortest and the longest wait for a piece of a snapshot before that is asked for again, in milliseconds. */
const MIN_JOIN_MS = 500;
const MAX_JOIN_MS = 4000;

/** The most bytes of messages that wait for a snapshot. */
const MAX_WAITING_BYTES = 32 << 20;

/** About what a message takes beside its frames. */
const MESSAGE_BYTES = 200;

/**
 * Hears one leader: that of the highest epoch, its messages in their order. Where one is missing, or none comes for too
 * long, all is lost at once; then the leader is asked for a snapshot, behind which its messages go on.
 */
export class FeedReceiver {
  readonly #options: FeedReceiverOptions;
  readonly #stop: () => void;
  #heard: Heard | undefined;
  #joining: Joining | undefined;
  #isJoined = false;
  #isLeading = false;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #joinMs = MIN_JOIN_MS;
  #cancelJoin = (): void => {};
  #joins = 0;
  /** The number of times that messages were missing. */
  gaps = 0;
  /** The number of messages of a leader that has been replaced. */
  outdated = 0;
  /** The number of snapshots that were taken over. */
  snapshots = 0;

  constructor(options: FeedReceiverOptions) {
    this.#options = options;
    this.#stop = repeat(options.clock, CHECK_MS, () => this.#checkSilence());
  }

  /** Whether what the leader keeps is known here. */
  get isJoined(): boolean {
    return this.#isJoined;
  }

  close(): void {
    this.#stop();
    this.#abandon('it is not followed any more');
  }

  /** Hears nobody from now on: this gateway leads. */
  lead(epoch: number): void {
    this.#isLeading = true;
    this.#abandon('this gateway leads');
    this.#heard = { epoch, leader: this.#options.member, seq: 0, newestSeq: 0 };
  }

  /** Hears leaders of epochs above the own one. */
  resign(): void {
    this.#isLeading = false;
  }

  /** Loses all: nothing was heard, or may have been heard, for a while. */
  lose(reason: string): void {
    this.#abandon(reason);
  }

  onFrames(message: FrameMessage): void {
    if (this.#isLeading || !this.#isOfLeader(message) || !this.#isNew(message)) return;
    if (this.#isJoined) this.#apply(message);
    else if (this.#joining === undefined) this.#join();
    else this.#keep(this.#joining, message);
  }

  onPiece(piece: SnapshotPiece): void {
    const joining = this.#joining;
    if (this.#isLeading || joining === undefined || piece.joinId !== joining.joinId) return;
    if (!this.#isOfLeader(piece) || piece.index !== joining.pieceCount) return; // one is missing: it is asked for again
    joining.pieceCount++;
    joining.pieces.push(...piece.frames);
    if (joining.pieceCount < piece.count) {
      this.#waitForPiece();
      return;
    }
    this.#endJoining();
    const { listener } = this.#options;
    if (this.#heard !== undefined) this.#heard.seq = piece.seq;
    this.#isJoined = true;
    this.#joinMs = MIN_JOIN_MS;
    this.snapshots++;
    this.#tell(() => listener.joined(joining.pieces));
    for (const message of joining.waiting) if (this.#isJoined) this.#apply(message);
  }

  /** Tells whether a message is of the leader that is heard; turns to one of a higher epoch. */
  #isOfLeader({ epoch, leader }: Pick<FrameMessage, 'epoch' | 'leader'>): boolean {
    if (leader === this.#options.member) return false;
    const heard = this.#heard;
    if (heard?.epoch === epoch && heard.leader === leader) return true;
    if (heard !== undefined && (epoch < heard.epoch || (epoch === heard.epoch && leader < heard.leader))) {
      this.outdated++;
      return false;
    }
    this.#abandon('another gateway leads');
    this.#heard = { epoch, leader, seq: -1, newestSeq: -1 };
    return true;
  }

  /** Tells whether a message has not come before: one that is repeated is no sign of life. */
  #isNew({ seq }: FrameMessage): boolean {
    if (this.#heard === undefined || seq <= this.#heard.newestSeq) return false;
    this.#heard.newestSeq = seq;
    this.#heardAtMs = this.#options.clock.monotonic();
    return true;
  }

  #apply({ seq, frames }: FrameMessage): void {
    const heard = this.#heard;
    if (heard === undefined || seq <= heard.seq) return; // it has gone into the snapshot
    if (seq !== heard.seq + 1) {
      this.gaps++;
      this.#abandon('a message is missing');
      this.#join();
      return;
    }
    heard.seq = seq;
    const { listener } = this.#options;
    for (const frame of frames) if (this.#isJoined) this.#tell(() => listener.frame(frame));
  }

  /** Has the listener apply something. What it can't apply is as good as lost. */
  #tell(apply: () => void): void {
    try {
      apply();
    } catch {
      this.#abandon('a frame can not be read');
    }
  }

  /** Keeps a message until the snapshot comes that precedes it. */
  #keep(joining: Joining, message: FrameMessage): void {
    joining.waiting.push(message);
    joining.waitingBytes += MESSAGE_BYTES;
    for (const { payload } of message.frames) joining.waitingBytes += payload.length;
    if (joining.waitingBytes <= MAX_WAITING_BYTES) return;
    joining.waiting.length = 0; // a gap, unless the snapshot is younger
    joining.waitingBytes = 0;
  }

  #join(): void {
    const { random, member, askToJoin } = this.#options;
    this.#endJoining();
    const joinId = `${member} ${++this.#joins} ${random().toString(36).slice(2)}`;
    this.#joining = { joinId, pieces: [], pieceCount: 0, waiting: [], waitingBytes: 0 };
    askToJoin(joinId);
    this.#waitForPiece();
    this.#joinMs = Math.min(2 * this.#joinMs, MAX_JOIN_MS);
  }

  /** Asks again if no piece comes for a while. */
  #waitForPiece(): void {
    const { clock, random } = this.#options;
    this.#cancelJoin();
    this.#cancelJoin = clock.after(this.#joinMs * (0.75 + 0.5 * random()), () => {
      this.#joining = undefined;
      if (clock.monotonic() - this.#heardAtMs <= SILENCE_MS) this.#join();
    });
  }

  #endJoining(): void {
    this.#cancelJoin();
    this.#joining = undefined;
  }

  #checkSilence(): void {
    if (this.#heard === undefined || this.#options.clock.monotonic() - this.#heardAtMs <= SILENCE_MS) return;
    this.#abandon('the leader is silent');
  }

  /** Ends what was known, before anything else is heard. The epoch stays: no older one is heard again. */
  #abandon(reason: string): void {
    this.#endJoining();
    if (!this.#isJoined) return;
    this.#isJoined = false;
    this.#options.listener.lost(reason);
  }
}
