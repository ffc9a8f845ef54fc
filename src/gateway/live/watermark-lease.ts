import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Lease, LeaseListener, LeaseSource, LeaseState } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { Watermark } from './watermark.ts';

/** Records the reads of what a lease covers. */
export interface LeaseReader {
  recordRead(tip: Slot): void;
}

/** The lease of one state: it covers the slots from the one it was granted at up to the session's watermark. */
export class WatermarkLease implements Lease {
  readonly watermark: Watermark;
  readonly #reader: LeaseReader;
  /** The operators that gave the state when they were read last. */
  agreement: Agreement | undefined;
  #grantedSlot: Slot;
  #provenFrom: Slot | undefined;
  #revoked: { readonly slot: Slot; readonly validatedMs: number } | undefined;
  /** Nearly every state has one answer, so the first listener takes no memory of its own. */
  #key: string | undefined;
  #listener: LeaseListener | undefined;
  #otherListeners: Map<string, LeaseListener> | undefined;

  constructor(grantedSlot: Slot, watermark: Watermark, reader: LeaseReader, provenFrom?: Slot) {
    this.#grantedSlot = grantedSlot;
    this.#provenFrom = provenFrom;
    this.watermark = watermark;
    this.#reader = reader;
  }

  get state(): LeaseState {
    return this.#revoked === undefined ? this.watermark.state : 'revoked';
  }

  get slot(): Slot {
    return this.#revoked?.slot ?? Math.max(this.#grantedSlot, this.watermark.slot);
  }

  get provenFrom(): Slot | undefined {
    return this.#provenFrom;
  }

  get lagSlots(): number {
    return this.watermark.lagSlots;
  }

  get validatedMs(): number {
    return Math.min(this.#revoked?.validatedMs ?? Number.POSITIVE_INFINITY, this.watermark.validatedMs); // it may be invalidated later
  }

  /** True once what it covered turned out to be wrong. */
  get isDenied(): boolean {
    return this.validatedMs === Number.NEGATIVE_INFINITY;
  }

  get sources(): readonly LeaseSource[] {
    return this.watermark.asSources;
  }

  recordRead(tip: Slot): void {
    this.#reader.recordRead(tip);
  }

  onRevoked(key: string, listener: LeaseListener): void {
    if (this.#revoked !== undefined) return;
    if (this.#key === undefined || this.#key === key) {
      this.#key = key;
      this.#listener = listener;
    } else {
      this.#otherListeners ??= new Map();
      this.#otherListeners.set(key, listener);
    }
  }

  offRevoked(key: string): void {
    if (this.#key !== key) {
      this.#otherListeners?.delete(key);
      return;
    }
    this.#key = undefined;
    this.#listener = undefined;
  }

  extend(slot: Slot): void {
    this.#grantedSlot = slot;
  }

  proveFrom(slot: Slot): void {
    this.#provenFrom = slot;
  }

  /** Denies what the lease covered: its state turned out to be wrong. */
  invalidate(): void {
    this.revoke();
    this.#revoked = { slot: this.slot, validatedMs: Number.NEGATIVE_INFINITY };
  }

  /** Freezes the lease at its present slot, since a newer state has replaced this one, and calls the listeners. */
  revoke(): void {
    this.#revoked = { slot: this.slot, validatedMs: this.validatedMs };
    const [key, listener, others] = [this.#key, this.#listener, this.#otherListeners];
    this.#key = undefined;
    this.#listener = undefined;
    this.#otherListeners = undefined;
    if (key !== undefined) listener?.onRevoked(key);
    for (const [otherKey, other] of others ?? []) other.onRevoked(otherKey);
  }
}
