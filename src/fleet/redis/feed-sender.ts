import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import type { FeedFrame } from './feed.ts';
import type { FrameMessage, SnapshotPiece } from './feed-message.ts';

export interface FeedSenderOptions {
  readonly clock: Clock;
  readonly member: string;
  /** Returns all that this gateway keeps. */
  readonly snapshot: () => readonly FeedFrame[];
  readonly send: (message: FrameMessage) => void;
  readonly sendPiece: (member: string, piece: SnapshotPiece) => void;
  /** Calls back at the end of this turn of the event loop. */
  readonly atEndOfTurn: (work: () => void) => void;
  /** The length of a message from which on the next frame goes into another one. */
  readonly messageBytes: number;
}

/** Time between two signs of life, in milliseconds. */
const BEAT_MS = 250;

/** The wait for other followers who ask for a snapshot, too: it is made once for all of them. In milliseconds. */
const GATHER_MS = 50;

/** The most followers that wait for a snapshot. */
const MAX_JOINING = 1000;

/** Sends what the leader keeps: frames in numbered messages, all of a turn of the event loop together, and snapshots. */
export class FeedSender {
  readonly #options: FeedSenderOptions;
  #epoch = 0;
  #seq = 0;
  #frames: FeedFrame[] = [];
  /** Who waits for a snapshot, and the question of each. */
  readonly #joining = new Map<string, string>();
  #stopBeating = (): void => {};
  #cancelSnapshot = (): void => {};
  /** The number of snapshots that were made. */
  snapshots = 0;

  constructor(options: FeedSenderOptions) {
    this.#options = options;
  }

  get isLeading(): boolean {
    return this.#epoch > 0;
  }

  /** Leads under an epoch, which is above all before. */
  lead(epoch: number): void {
    this.resign();
    this.#epoch = epoch;
    this.#seq = 0;
    this.#stopBeating = repeat(this.#options.clock, BEAT_MS, () => this.#sendFrames([]), 0);
  }

  /** Sends nothing more. */
  resign(): void {
    this.#epoch = 0;
    this.#frames = [];
    this.#joining.clear();
    this.#stopBeating();
    this.#cancelSnapshot();
  }

  publish(frames: readonly FeedFrame[]): void {
    if (!this.isLeading || frames.length === 0) return;
    if (this.#frames.length === 0) this.#options.atEndOfTurn(() => this.#flush());
    for (const frame of frames) this.#frames.push(frame);
  }

  /** Sends a follower what is kept here, soon. */
  onJoin(member: string, joinId: string): void {
    if (!this.isLeading || (this.#joining.size >= MAX_JOINING && !this.#joining.has(member))) return;
    this.#joining.set(member, joinId);
    if (this.#joining.size === 1)
      this.#cancelSnapshot = this.#options.clock.after(GATHER_MS, () => this.#sendSnapshot());
  }

  #flush(): void {
    if (!this.isLeading) return;
    for (const part of inParts(this.#frames, this.#options.messageBytes)) this.#sendFrames(part);
    this.#frames = [];
  }

  #sendFrames(frames: readonly FeedFrame[]): void {
    const { member, send } = this.#options;
    send({ kind: 'frames', epoch: this.#epoch, leader: member, seq: ++this.#seq, frames });
  }

  #sendSnapshot(): void {
    const { member, snapshot, sendPiece, messageBytes } = this.#options;
    const joining = [...this.#joining];
    this.#joining.clear(); // whatever comes: they ask again
    const parts = inParts(snapshot(), messageBytes);
    this.#flush(); // the snapshot has the effect of all frames up to here
    this.snapshots++;
    const { epoch, seq, count } = { epoch: this.#epoch, seq: this.#seq, count: Math.max(1, parts.length) };
    for (const [to, joinId] of joining) {
      for (let index = 0; index < count; index++) {
        const frames = parts[index] ?? [];
        sendPiece(to, { kind: 'piece', epoch, leader: member, seq, joinId, index, count, frames });
      }
    }
  }
}

/** Cuts frames into parts of about the length of a message. */
function inParts(frames: readonly FeedFrame[], messageBytes: number): FeedFrame[][] {
  const parts: FeedFrame[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const frame of frames) {
    if (bytes >= messageBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(frame);
    bytes += frame.payload.length;
  }
  return parts;
}
