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

/** Snapshots go out in bursts of so many bytes, and so many milliseconds apart: Redis cuts off who is sent too much at once. */
const BURST_BYTES = 2 << 20;
const BURST_MS = 25;

/** The most followers that wait for a snapshot. */
const MAX_JOINING = 1000;

/** A piece of a snapshot, and the follower that it is for. */
interface AddressedPiece {
  readonly to: string;
  readonly piece: SnapshotPiece;
}

/** Sends what the leader keeps: frames in numbered messages, all of a turn of the event loop together, and snapshots. */
export class FeedSender {
  readonly #options: FeedSenderOptions;
  #epoch = 0;
  #seq = 0;
  #frames: FeedFrame[] = [];
  /** Who waits for a snapshot, and the question of each. */
  readonly #joining = new Map<string, string>();
  #stopBeating = (): void => {};
  #isSendingSnapshot = false;
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
    this.#isSendingSnapshot = false;
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
    if (this.#joining.size === 1 && !this.#isSendingSnapshot) this.#sendSnapshotSoon();
  }

  #sendSnapshotSoon(): void {
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
    const { member: leader, snapshot, messageBytes } = this.#options;
    const joining = [...this.#joining];
    this.#joining.clear(); // whatever comes: they ask again
    const parts = inParts(snapshot(), messageBytes);
    this.#flush(); // the snapshot has the effect of all frames up to here
    this.snapshots++;
    const common = {
      kind: 'piece',
      epoch: this.#epoch,
      leader,
      seq: this.#seq,
      count: Math.max(1, parts.length),
    } as const;
    this.#sendPieces(
      joining.flatMap(([to, joinId]) =>
        Array.from({ length: common.count }, (_, index) => {
          return { to, piece: { ...common, joinId, index, frames: parts[index] ?? [] } };
        }),
      ),
    );
  }

  /** Sends pieces from a place on, a burst at a time; then who has asked meanwhile gets a snapshot of his own. */
  #sendPieces(pieces: readonly AddressedPiece[], from = 0): void {
    const { clock, sendPiece } = this.#options;
    let next = from;
    for (let bytes = 0; next < pieces.length && bytes < BURST_BYTES; next++) {
      const { to, piece } = pieces[next] as AddressedPiece;
      sendPiece(to, piece);
      for (const { payload } of piece.frames) bytes += payload.length;
    }
    this.#isSendingSnapshot = next < pieces.length;
    if (this.#isSendingSnapshot) this.#cancelSnapshot = clock.after(BURST_MS, () => this.#sendPieces(pieces, next));
    else if (this.#joining.size > 0) this.#sendSnapshotSoon();
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
