import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClockUpdate, PubsubSession } from '../upstream/pubsub/pubsub-session.ts';
import { Doubts, type Kept } from './doubts.ts';
import { Marks } from './marks.ts';
import type { Watermark } from './watermark.ts';

/** A connection that things are watched over, and whom it serves. */
export interface LineOptions<T> {
  readonly line: PubsubSession;
  readonly clock: Clock;
  /** The newest slot that the whole cluster has shown. */
  tip(commitment: Commitment): Slot | undefined;
  /** The proofs of all that is watched at a commitment have moved on. */
  onMoved(): void;
  /** A claim was false, as these slots show: the node broke the order that the claims rest on, or we did. */
  onFalseClaim(watched: T, slots: object): void;
  onLost(watched: Iterable<T>, reason: string): void;
}

/** Something that a connection claims slots for. */
export interface Claimed extends Kept {
  /** What was known of it turned out to be wrong. */
  forget(): void;
}

/** A reading beside what is kept. */
export interface Comparison {
  readonly slot: Slot;
  /** Does it say the same as what is kept now? */
  isSame(): boolean;
}

export interface ClaimsOptions<T> {
  readonly over: LineOptions<T>;
  /** All that is watched over the connection. */
  watched(): Iterable<T>;
  /** Reads something again from the same node. Resolves to undefined when that tells nothing. */
  readAgain(watched: T): Promise<Comparison | undefined>;
  /** A beacon has come: what is watched may have something to do. */
  onBeat(commitment: Commitment, beacon: ClockUpdate): void;
  onLost(): void;
}

/** What is claimed over one connection: how far it has been told of, and whether that was right. */
export class Claims<T extends Claimed> {
  readonly #options: ClaimsOptions<T>;
  readonly #marks: Marks;
  readonly #doubts = new Doubts<T>();

  constructor(options: ClaimsOptions<T>) {
    const { over, watched, onBeat } = options;
    this.#options = options;
    this.#marks = new Marks({
      line: over.line,
      clock: over.clock,
      tip: (commitment) => over.tip(commitment),
      onBeat: (commitment, beacon) => {
        onBeat(commitment, beacon);
        this.#resolveDoubts();
        if (commitment !== 'processed') over.onMoved();
      },
      onLost: (reason) => {
        const lost = [...watched()];
        this.#doubts.clear();
        options.onLost();
        over.onLost(lost, reason);
      },
    });
  }

  of(commitment: Commitment): Watermark {
    return this.#marks.of(commitment);
  }

  /** The cluster has moved on: is this node still with it? */
  compare(commitment: Commitment): void {
    this.#marks.compare(commitment);
  }

  /** Reads again all that is kept live, and compares. Resolves to how many were compared. */
  async audit(): Promise<number> {
    const live = [...this.#options.watched()].filter(({ held }) => held !== undefined);
    const compared = await Promise.all(live.map((kept) => this.#audit(kept)));
    return compared.filter((isCompared) => isCompared).length;
  }

  /** A claim was false, as these slots show: nothing that was kept over this connection is served any more. */
  distrust(claimed: T, slots: object): void {
    const { over, watched } = this.#options;
    this.#marks.disown();
    for (const kept of watched()) kept.forget();
    over.onFalseClaim(claimed, slots);
    over.line.close();
  }

  async #audit(kept: T): Promise<boolean> {
    try {
      const read = await this.#options.readAgain(kept);
      if (read === undefined || kept.held === undefined || read.slot < kept.slot) return false; // read before it
      if (read.isSame()) return true;
      this.#doubts.add(kept, read.slot);
      this.#resolveDoubts();
      return true;
    } catch {
      return false; // the node may not answer now; the next audit comes
    }
  }

  #resolveDoubts(): void {
    const wrong = this.#doubts.resolve();
    if (wrong !== undefined) this.distrust(wrong.kept, wrong.slots);
  }
}
