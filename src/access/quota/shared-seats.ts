import { keyOfText, type QuotaKey, textOfKey } from './quota-key.ts';
import type { HeldSeats, OtherSeats } from './seat-ledger.ts';

export interface SharedSeatsOptions {
  /** Tells the ledger how many connections callers have here. */
  readonly hold: (seats: readonly HeldSeats[]) => void;
  /** Has work done at the end of this turn of the event loop. */
  readonly afterTurn: (work: () => void) => void;
}

/**
 * The open connections of callers, here and at other processes. What others open is known a message later: those that a
 * caller opens at several processes within that time may be too many, and are then revoked.
 */
export class SharedSeats {
  readonly #options: SharedSeatsOptions;
  readonly #own = new Map<QuotaKey, { readonly count: number; readonly limit: number }>();
  readonly #elsewhere = new Map<QuotaKey, number>();
  readonly #untold = new Map<QuotaKey, number>();
  /** Ends so many of the newest connections of a caller. Is set by who has them. */
  onExcess: (key: QuotaKey, excess: number) => void = () => {};

  constructor(options: SharedSeatsOptions) {
    this.#options = options;
  }

  /** Returns the connections that a caller has at other processes. */
  elsewhere(key: QuotaKey): number {
    return this.#elsewhere.get(key) ?? 0;
  }

  /** Records how many a caller has here, and how many it may have in all. */
  set(key: QuotaKey, count: number, limit: number): void {
    if (count > 0) this.#own.set(key, { count, limit });
    else this.#own.delete(key);
    this.#untold.set(key, limit);
    if (this.#untold.size === 1) this.#options.afterTurn(() => this.#tell());
  }

  /** Takes what callers have at other processes, and ends what is too many. */
  hear(others: readonly OtherSeats[]): void {
    for (const [id, count, excess] of others) {
      const key = keyOfText(id);
      if (count > 0) this.#elsewhere.set(key, count);
      else this.#elsewhere.delete(key);
      if (excess > 0) this.onExcess(key, excess);
    }
  }

  /** Begins anew with a ledger that knows nothing yet. */
  retell(): void {
    this.#elsewhere.clear();
    const held = [...this.#own].map(([key, { count, limit }]): HeldSeats => [textOfKey(key), count, limit]);
    if (held.length > 0) this.#options.hold(held);
  }

  #tell(): void {
    if (this.#untold.size === 0) return;
    const seats = [...this.#untold].map(
      ([key, limit]): HeldSeats => [textOfKey(key), this.#own.get(key)?.count ?? 0, limit],
    );
    this.#untold.clear();
    this.#options.hold(seats);
  }
}
