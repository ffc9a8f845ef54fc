/** Length of an account's JSON from which on it counts as large: a hundred of this length fit into one response. */
const LARGE_BYTES = 256 << 10;

/** Most addresses that are remembered; the one that was read longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Remembers which accounts were large, so that the next read of one doesn't burden the reads of others. */
export class LargeAccounts {
  readonly #addresses = new Set<string>(); // in the order of their last read

  has(address: string): boolean {
    return this.#addresses.has(address);
  }

  /** Records the length of an account that was read; infinite for one that was too large to be read. */
  record(address: string, bytes: number): void {
    const wasLarge = this.#addresses.delete(address);
    if (bytes < LARGE_BYTES) return;
    this.#addresses.add(address);
    const [oldest] = this.#addresses;
    if (!wasLarge && this.#addresses.size > MAX_ADDRESSES && oldest !== undefined) this.#addresses.delete(oldest);
  }
}
