import type { Slot } from '../../shared/domain/slot.ts';

/** Load of the cluster over a period. */
export interface PerformanceSample {
  readonly slot: Slot;
  readonly transactions: number;
  /** Slots that passed, skipped ones included. */
  readonly slots: number;
  readonly seconds: number;
}

const MAX_SAMPLES = 720;
const SAMPLE_SECONDS = 60;
/** Length of the first sample. A node has none in its first minute; a demo that has just started should have one. */
const FIRST_SAMPLE_SECONDS = 4;

/** Counts transactions and slots, and keeps one sample a minute for twelve hours. */
export class PerformanceSamples {
  readonly #samples: PerformanceSample[] = [];
  #windowStart: { readonly slot: Slot; readonly time: number };
  #transactions = 0;

  /** Starts the first sample at a block; `time` is in Unix seconds. */
  constructor(slot: Slot, time: number) {
    this.#windowStart = { slot, time };
  }

  /** Newest first. */
  newest(limit: number): PerformanceSample[] {
    return this.#samples.slice(0, limit);
  }

  countBlock(slot: Slot, time: number, transactions: number): void {
    this.#transactions += transactions;
    const seconds = time - this.#windowStart.time;
    if (seconds < (this.#samples.length === 0 ? FIRST_SAMPLE_SECONDS : SAMPLE_SECONDS)) return;
    this.#samples.unshift({ slot, transactions: this.#transactions, slots: slot - this.#windowStart.slot, seconds });
    this.#samples.length = Math.min(this.#samples.length, MAX_SAMPLES);
    this.#windowStart = { slot, time };
    this.#transactions = 0;
  }
}
