import { type Commitment, impliedCommitments } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SlotAncestry } from '../pubsub/slot-ancestry.ts';

/** Called with a newer slot, and its parent where a node has notified of it. */
export type TipListener = (slot: Slot, parent: Slot | undefined) => void;

export class MeshTips {
  readonly #newest = new Map<Commitment, Slot>();
  readonly #ancestry = new SlotAncestry();
  readonly #listeners = new Map<Commitment, Set<TipListener>>();

  newest(commitment: Commitment): Slot | undefined {
    return this.#newest.get(commitment);
  }

  /** Observes an accepted slot, at this commitment and the weaker ones. */
  observe(commitment: Commitment, slot: Slot): void {
    for (const impliedCommitment of impliedCommitments(commitment)) {
      if (slot <= (this.newest(impliedCommitment) ?? -1)) continue;
      this.#newest.set(impliedCommitment, slot);
      for (const listener of this.#listeners.get(impliedCommitment) ?? [])
        listener(slot, this.#ancestry.parentOf(slot));
    }
  }

  observeParent(slot: Slot, parent: Slot): void {
    this.#ancestry.record(slot, parent);
  }

  onTip(commitment: Commitment, listener: TipListener): () => void {
    const listeners = this.#listeners.get(commitment) ?? new Set();
    this.#listeners.set(commitment, listeners.add(listener));
    return () => listeners.delete(listener);
  }
}
