import { type Lease, type LeaseSource, type LeaseState, worstState } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import type { MarkFrame } from './frames.ts';

/** What advances leases in another process, as its last frame told. */
export class Mark implements LeaseSource {
  state: LeaseState = 'lost';
  slot: Slot = -1;
  lagSlots = 0;
  validatedMs = Number.NEGATIVE_INFINITY;

  update({ slot, ageMs, state, lagSlots }: Omit<MarkFrame, 'id'>, nowMs: number): void {
    this.state = state;
    this.slot = slot;
    this.lagSlots = lagSlots;
    this.validatedMs = nowMs - ageMs;
  }
}

export interface ReplicaLeaseOptions {
  readonly marks: readonly Mark[];
  /** The slot that the lease covered when its answer was told. */
  readonly slot: Slot;
  readonly endSlot: Slot | undefined;
  readonly tip: () => Slot;
}

/**
 * The copy of a lease of another process: it covers what its marks prove, until a frame tells that it is over. It may lag
 * behind the lease, and never covers more.
 */
export class ReplicaLease implements Lease {
  readonly sources: readonly Mark[];
  readonly endSlot: Slot | undefined;
  readonly #slot: Slot;
  readonly #tip: () => Slot;
  #ended: { readonly slot: Slot; readonly validatedMs: number } | undefined;

  constructor({ marks, slot, endSlot, tip }: ReplicaLeaseOptions) {
    this.sources = marks;
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

  recordRead(): void {} // its owner hears of reads by key

  onRevoked(): void {}

  offRevoked(): void {}

  /** Freezes the lease at its present slot. */
  end(): void {
    this.#ended ??= { slot: this.slot, validatedMs: this.validatedMs };
  }
}
