import type { Clock } from '../../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import type { LeaseSource, LeaseState } from '../../../shared/domain/lease.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { EventOf } from '../events.ts';

export const tipEvents = (tip: (commitment: Commitment) => Slot | undefined): readonly EventOf<'tip-advanced'>[] =>
  COMMITMENTS.flatMap((commitment) => {
    const slot = tip(commitment);
    return slot === undefined ? [] : [{ type: 'tip-advanced', commitment, slot }];
  });

type WatermarkAdvanced = EventOf<'watermark-advanced'>;

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
    this.state = state;
    this.slot = slot;
    this.lagSlots = lagSlots;
    this.validatedMs = nowMs - ageMs;
  }
}
