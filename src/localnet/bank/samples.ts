import type { Slot } from '../../domain/slot.ts';

/** How busy the cluster was over a stretch of time. */
export interface PerformanceSample {
  readonly slot: Slot;
  readonly transactions: number;
  /** Slots that passed, skipped ones too. */
  readonly slots: number;
  readonly seconds: number;
}

const MAX_SAMPLES = 720;
const SAMPLE_SECONDS = 60;
/** A node is silent for its first minute; a demo that has just started should have something to show. */
const FIRST_SECONDS = 4;

/** Counts transactions and slots, and keeps one sample a minute, twelve hours long. */
export class Samples {
  readonly #kept: PerformanceSample[] = [];
  #since: { readonly slot: Slot; readonly time: number };
  #transactions = 0;

  /** `time` in Unix seconds. */
  constructor(slot: Slot, time: number) {
    this.#since = { slot, time };
  }

  /** Newest first. */
  newest(limit: number): PerformanceSample[] {
    return this.#kept.slice(0, limit);
  }

  count(slot: Slot, time: number, transactions: number): void {
    this.#transactions += transactions;
    const seconds = time - this.#since.time;
    if (seconds < (this.#kept.length === 0 ? FIRST_SECONDS : SAMPLE_SECONDS)) return;
    this.#kept.unshift({ slot, transactions: this.#transactions, slots: slot - this.#since.slot, seconds });
    this.#kept.length = Math.min(this.#kept.length, MAX_SAMPLES);
    this.#since = { slot, time };
    this.#transactions = 0;
  }
}
