import type { Clock } from '../../../shared/domain/clock.ts';
import { type Commitment, impliedCommitments } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

/** Keeps the latest slots that one node reported. Unlike the tips of the mesh they go back when the node does. */
export class NodeSlots {
  readonly #clock: Clock;
  readonly #onSlot: (commitment: Commitment, slot: Slot) => void;
  readonly #latest = new Map<Commitment, Slot>();
  #lastAdvanceMs = Number.NEGATIVE_INFINITY;

  /** Calls `onSlot` with each observed slot, new or not. */
  constructor(clock: Clock, onSlot: (commitment: Commitment, slot: Slot) => void = () => {}) {
    this.#clock = clock;
    this.#onSlot = onSlot;
  }

  latest(commitment: Commitment): Slot | undefined {
    return this.#latest.get(commitment);
  }

  /** Milliseconds since the processed slot last changed; infinite if there is none. */
  get unchangedMs(): number {
    return this.#clock.monotonic() - this.#lastAdvanceMs;
  }

  /**
   * Only a slot below `slotBefore` means that the node has gone back: the latest when the request was sent, or the one before
   * of the same WebSocket.
   */
  observe(commitment: Commitment, slot: Slot, slotBefore = Number.POSITIVE_INFINITY): void {
    const latest = this.#latest.get(commitment) ?? -1;
    for (const impliedCommitment of impliedCommitments(commitment)) {
      if (slot > (this.#latest.get(impliedCommitment) ?? -1)) this.#set(impliedCommitment, slot);
    }
    if (slot < Math.min(slotBefore, latest)) this.#set(commitment, slot);
    this.#onSlot(commitment, slot);
  }

  #set(commitment: Commitment, slot: Slot): void {
    this.#latest.set(commitment, slot);
    if (commitment === 'processed') this.#lastAdvanceMs = this.#clock.monotonic();
  }
}
