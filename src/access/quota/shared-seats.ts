import { keyOfText, type QuotaKey, textOfKey } from './quota-key.ts';
import type { Seats } from './seat-ledger.ts';

export interface SharedSeatsOptions {
  /** Tells the ledger how many connections callers have here. */
  readonly hold: (seats: readonly Seats[]) => void;
  /** Has work done at the end of this turn of the event loop. */
  readonly afterTurn: (work: () => void) => void;
}

/**
 * The open connections of callers, here and at other processes. What others open is known a message later: so those that a
 * caller opens at several processes within that time are not held against each other.
 */
export class SharedSeats {
  readonly #options: SharedSeatsOptions;
  readonly #own = new Map<QuotaKey, number>();
  readonly #elsewhere = new Map<QuotaKey, number>();
  readonly #untold = new Set<QuotaKey>();

  constructor(options: SharedSeatsOptions) {
    this.#options = options;
  }

  /** Returns the connections that a caller has at other processes. */
  elsewhere(key: QuotaKey): number {
    return this.#elsewhere.get(key) ?? 0;
  }

  /** Records how many a caller has here. */
  set(key: QuotaKey, count: number): void {
    if (count > 0) this.#own.set(key, count);
    else this.#own.delete(key);
    this.#untold.add(key);
    if (this.#untold.size === 1) this.#options.afterTurn(() => this.#tell());
  }

  /** Takes what callers have at other processes. */
  hear(others: readonly Seats[]): void {
    for (const [id, count] of others) {
      if (count > 0) this.#elsewhere.set(keyOfText(id), count);
      else this.#elsewhere.delete(keyOfText(id));
    }
  }

  /** Begins anew with a ledger that knows nothing yet. */
  retell(): void {
    this.#elsewhere.clear();
    const held = [...this.#own].map(([key, count]): Seats => [textOfKey(key), count]);
    if (held.length > 0) this.#options.hold(held);
  }

  #tell(): void {
    if (this.#untold.size === 0) return;
    const seats = [...this.#untold].map((key): Seats => [textOfKey(key), this.#own.get(key) ?? 0]);
    this.#untold.clear();
    this.#options.hold(seats);
  }
}
