import type { Clock } from '../../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { type Lease, type LeaseSource, type LeaseState, worstState } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { EventOf, StoredLease, WatermarkAdvanced } from '../events.ts';

export const tipEvents = (tip: (commitment: Commitment) => Slot | undefined): readonly EventOf<'tip-advanced'>[] =>
  COMMITMENTS.flatMap((commitment) => {
    const slot = tip(commitment);
    return slot === undefined ? [] : [{ type: 'tip-advanced', commitment, slot, parent: undefined }];
  });

interface Published {
  readonly id: number;
  readonly commitment: Commitment | undefined;
  slot: Slot;
  state: LeaseState | undefined;
  validatedMs: number;
}

/** Numbers watermarks for the copies of what they date, and publishes how far each has advanced. */
export class NumberedWatermarks {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #publish: (event: WatermarkAdvanced) => void;
  readonly #published = new Map<LeaseSource, Published>();
  #lastId = 0;

  constructor(clock: Pick<Clock, 'monotonic'>, publish: (event: WatermarkAdvanced) => void) {
    this.#clock = clock;
    this.#publish = publish;
  }

  /** Returns the number of a watermark. A new one is published first, so that no event names one that is unknown. */
  idOf(watermark: LeaseSource, commitment?: Commitment): number {
    const known = this.#published.get(watermark);
    if (known !== undefined) return known.id;
    const id = ++this.#lastId;
    this.#published.set(watermark, { id, commitment, slot: -2, state: undefined, validatedMs: 0 });
    this.publish(watermark);
    return id;
  }

  has(watermark: LeaseSource): boolean {
    return this.#published.has(watermark);
  }

  /** Publishes a watermark that has a number, if it has changed. A lost one never comes back: its number ends. */
  publish(watermark: LeaseSource): void {
    const published = this.#published.get(watermark);
    if (published === undefined) return;
    const { slot, state, validatedMs } = watermark;
    if (slot === published.slot && state === published.state && validatedMs === published.validatedMs) return;
    Object.assign(published, { slot, state, validatedMs });
    this.#publish(this.#eventOf(watermark, published));
    if (state === 'lost') this.#published.delete(watermark);
  }

  publishAll(): void {
    for (const watermark of this.#published.keys()) this.publish(watermark);
  }

  snapshot(): readonly WatermarkAdvanced[] {
    return [...this.#published].map(([watermark, published]) => this.#eventOf(watermark, published));
  }

  delete(watermark: LeaseSource): void {
    this.#published.delete(watermark);
  }

  clear(): void {
    this.#published.clear();
  }

  #eventOf({ slot, validatedMs, state, lagSlots }: LeaseSource, { id, commitment }: Published): WatermarkAdvanced {
    const ageMs = Math.max(0, Math.ceil(this.#clock.monotonic() - validatedMs));
    return { type: 'watermark-advanced', id, commitment, slot, ageMs, state, lagSlots };
  }
}

/** A watermark of another process, as its last event has it. */
export class ReplicatedWatermark implements LeaseSource {
  state: LeaseState = 'lost';
  slot: Slot = -1;
  lagSlots = 0;
  validatedMs = Number.NEGATIVE_INFINITY;

  update({ slot, ageMs, state, lagSlots }: WatermarkAdvanced, nowMs: number): void {
    Object.assign(this, { slot, state, lagSlots, validatedMs: nowMs - ageMs });
  }
}

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
