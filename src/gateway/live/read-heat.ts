import type { Slot } from '../../shared/domain/slot.ts';

/**
 * How often something is read lately: each slot with a read counts one, and half as much after each half-life. However
 * many callers read it in one slot, being kept live saves one read of the upstream.
 */
export class ReadHeat {
  readonly #halfLifeSlots: number;
  #tipAtLastRead: Slot | undefined;
  #rank = Number.NEGATIVE_INFINITY;

  constructor(halfLifeSlots: number) {
    this.#halfLifeSlots = halfLifeSlots;
  }

  get tipAtLastRead(): Slot | undefined {
    return this.#tipAtLastRead;
  }

  /**
   * The logarithm of the heat (to base 2), plus the age of the clock in half-lives. All heats fade alike, so ranks compare
   * as heats do at any time, and a rank changes with reads only: it rises.
   */
  get rank(): number {
    return this.#rank;
  }

  record(tip: Slot): void {
    if (this.#tipAtLastRead !== undefined && tip <= this.#tipAtLastRead) return;
    this.#tipAtLastRead = tip;
    this.#rank = Math.log2(this.at(tip) + 1) + tip / this.#halfLifeSlots;
  }

  /** Counts the reads of others, too: the heat is that of the busiest reader, since all share what is kept live. */
  absorb(rank: number, tipAtLastRead: Slot): void {
    this.#tipAtLastRead = Math.max(this.#tipAtLastRead ?? 0, tipAtLastRead);
    this.#rank = Math.max(this.#rank, rank);
  }

  at(tip: Slot): number {
    return 2 ** (this.#rank - tip / this.#halfLifeSlots);
  }
}
