import type { Slot } from '../domain/answer.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';

/** The newest slot at each commitment, as far as somebody has shown. It never goes back. */
export class Tips {
  readonly #newest = new Map<Commitment, Slot>();
  readonly #listeners = new Map<Commitment, Set<(slot: Slot) => void>>();

  newest(commitment: Commitment): Slot | undefined {
    return this.#newest.get(commitment);
  }

  /** A slot shown at one commitment holds at the weaker ones too: what is finalized was confirmed and processed. */
  show(commitment: Commitment, slot: Slot): void {
    for (const reached of COMMITMENTS.slice(0, COMMITMENTS.indexOf(commitment) + 1)) {
      if (slot <= (this.newest(reached) ?? -1)) continue;
      this.#newest.set(reached, slot);
      for (const listener of this.#listeners.get(reached) ?? []) listener(slot);
    }
  }

  on(commitment: Commitment, listener: (slot: Slot) => void): () => void {
    const listeners = this.#listeners.get(commitment) ?? new Set();
    this.#listeners.set(commitment, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}
