import type { Clock } from '../../domain/clock.ts';
import { type Commitment, reachedWith } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';

/** The latest slots of one node as it shows them. Unlike the tips of the mesh they go back when the node does. */
export class Sightings {
  readonly #clock: Clock;
  readonly #listener: (commitment: Commitment, slot: Slot) => void;
  readonly #latest = new Map<Commitment, Slot>();
  #movedMs = Number.NEGATIVE_INFINITY;

  /** `listener` is called with each slot shown, new or not. */
  constructor(clock: Clock, listener: (commitment: Commitment, slot: Slot) => void = () => {}) {
    this.#clock = clock;
    this.#listener = listener;
  }

  latest(commitment: Commitment): Slot | undefined {
    return this.#latest.get(commitment);
  }

  /** For how long the processed slot has stood still; for ever if there is none. */
  get quietMs(): number {
    return this.#clock.monotonic() - this.#movedMs;
  }

  /**
   * Takes note of a slot, at this commitment and the weaker ones. An answer that was long on its way may be overtaken by
   * newer ones: only one below `before`, the slot that the node had shown when it was asked, says that the node has gone
   * back.
   */
  show(commitment: Commitment, slot: Slot, before = Number.POSITIVE_INFINITY): void {
    const latest = this.#latest.get(commitment) ?? -1;
    for (const reached of reachedWith(commitment)) {
      if (slot > (this.#latest.get(reached) ?? -1)) this.#set(reached, slot);
    }
    if (slot < Math.min(before, latest)) this.#set(commitment, slot);
    this.#listener(commitment, slot);
  }

  #set(commitment: Commitment, slot: Slot): void {
    this.#latest.set(commitment, slot);
    if (commitment === 'processed') this.#movedMs = this.#clock.monotonic();
  }
}
