import type { Lease, LeaseState } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import type { Watermark } from './watermark.ts';

/** One state of an account that is kept live, from the slot it was learned at until there is news. */
export class WatermarkLease implements Lease {
  readonly #watermark: Watermark;
  readonly #onRead: (tip: Slot) => void;
  readonly #listeners = new Map<string, () => void>();
  #grantedSlot: Slot;
  #revoked: { readonly slot: Slot; readonly provenMs: number } | undefined;

  constructor(grantedSlot: Slot, watermark: Watermark, onRead: (tip: Slot) => void) {
    this.#grantedSlot = grantedSlot;
    this.#watermark = watermark;
    this.#onRead = onRead;
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
    return Math.min(this.#revoked?.provenMs ?? Number.POSITIVE_INFINITY, this.#watermark.validatedMs); // all of it may be disowned
  }

  recordRead(tip: Slot): void {
    this.#onRead(tip);
  }

  onRevoked(name: string, listener: () => void): void {
    if (this.#revoked === undefined) this.#listeners.set(name, listener);
  }

  offRevoked(name: string): void {
    this.#listeners.delete(name);
  }

  /** The same state was met at a later slot. */
  extend(slot: Slot): void {
    this.#grantedSlot = slot;
  }

  /** A newer state has taken its place: what it claims stands still. */
  revoke(): void {
    this.#revoked = { slot: this.slot, provenMs: this.validatedMs };
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
