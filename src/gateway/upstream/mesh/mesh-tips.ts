import { type Commitment, impliedCommitments } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

export class MeshTips {
  readonly #newest = new Map<Commitment, Slot>();
  readonly #listeners = new Map<Commitment, Set<(slot: Slot) => void>>();

  newest(commitment: Commitment): Slot | undefined {
    return this.#newest.get(commitment);
  }

  /** Observes an accepted slot, at this commitment and the weaker ones. */
  observe(commitment: Commitment, slot: Slot): void {
    for (const impliedCommitment of impliedCommitments(commitment)) {
      if (slot <= (this.newest(impliedCommitment) ?? -1)) continue;
      this.#newest.set(impliedCommitment, slot);
      for (const listener of this.#listeners.get(impliedCommitment) ?? []) listener(slot);
    }
  }

  onTip(commitment: Commitment, listener: (slot: Slot) => void): () => void {
    const listeners = this.#listeners.get(commitment) ?? new Set();
    this.#listeners.set(commitment, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}
