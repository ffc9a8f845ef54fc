import { type Lease, type LeaseState, worstState } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { StoredLease } from '../events.ts';
import type { ReplicatedWatermark } from './watermarks.ts';

/** Covers what its watermarks prove, until an event ends it: it may lag behind the lease, and never covers more. */
export class ReplicatedLease implements Lease {
  readonly sources: readonly ReplicatedWatermark[];
  readonly endSlot: Slot | undefined;
  readonly #slot: Slot;
  readonly #tip: () => Slot;
  #ended: { readonly slot: Slot; readonly validatedMs: number } | undefined;

  constructor({ slot, endSlot }: StoredLease, sources: readonly ReplicatedWatermark[], tip: () => Slot) {
    this.sources = sources;
    this.endSlot = endSlot;
    this.#slot = slot;
    this.#tip = tip;
  }

  get state(): LeaseState {
    if (this.#ended !== undefined || (this.endSlot !== undefined && this.#tip() >= this.endSlot)) return 'revoked';
    return worstState(this.sources);
  }

  get slot(): Slot {
    if (this.#ended !== undefined) return this.#ended.slot;
    let oldest = Number.POSITIVE_INFINITY;
    for (const { slot } of this.sources) if (slot < oldest) oldest = slot;
    return Math.max(this.#slot, oldest);
  }

  get lagSlots(): number {
    return Math.max(...this.sources.map(({ lagSlots }) => lagSlots));
  }

  get validatedMs(): number {
    const known = Math.min(...this.sources.map(({ validatedMs }) => validatedMs));
    return Math.min(known, this.#ended?.validatedMs ?? known);
  }

  recordRead(): void {} // workers report reads by key

  onRevoked(): void {}

  offRevoked(): void {}

  end(): void {
    this.#ended ??= { slot: this.slot, validatedMs: this.validatedMs };
  }
}
