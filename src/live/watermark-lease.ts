import type { Lease, LeaseState } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import type { ReadHeat } from './read-heat.ts';
import type { Watermark } from './watermark.ts';

/** The lease of one state: it covers the slots from the one it was granted at up to the session's watermark. */
export class WatermarkLease implements Lease {
  readonly #watermark: Watermark;
  readonly #heat: ReadHeat;
  readonly #listeners = new Map<string, () => void>();
  #grantedSlot: Slot;
  #revoked: { readonly slot: Slot; readonly validatedMs: number } | undefined;

  constructor(grantedSlot: Slot, watermark: Watermark, heat: ReadHeat) {
    this.#grantedSlot = grantedSlot;
    this.#watermark = watermark;
    this.#heat = heat;
  }

  get state(): LeaseState {
    if (this.#revoked !== undefined) return 'revoked';
    if (this.#watermark.isLost) return 'lost';
    return this.#watermark.isBehind ? 'behind' : 'active';
  }

  get slot(): Slot {
    return this.#revoked?.slot ?? Math.max(this.#grantedSlot, this.#watermark.slot);
  }

  get lagSlots(): number {
    return this.#watermark.lagSlots;
  }

  get validatedMs(): number {
    return Math.min(this.#revoked?.validatedMs ?? Number.POSITIVE_INFINITY, this.#watermark.validatedMs); // it may be invalidated later
  }

  recordRead(tip: Slot): void {
    this.#heat.record(tip);
  }

  onRevoked(name: string, listener: () => void): void {
    if (this.#revoked === undefined) this.#listeners.set(name, listener);
  }

  offRevoked(name: string): void {
    this.#listeners.delete(name);
  }

  /** Covers a later slot, at which the same state was seen. */
  extend(slot: Slot): void {
    this.#grantedSlot = slot;
  }

  /** Freezes the lease at its present slot, since a newer state has replaced this one, and calls the listeners. */
  revoke(): void {
    this.#revoked = { slot: this.slot, validatedMs: this.validatedMs };
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
