/** The keys that were read in this slot and the last: so many of each, as they were first read. */
export class HotKeys {
  readonly #maxKeys: number;
  #current: string[] = [];
  #previous: readonly string[] = [];

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Called once for a key in a slot. */
  record(key: string): void {
    if (this.#current.length < this.#maxKeys) this.#current.push(key);
  }

  /** Begins another slot; returns the keys of the one that ends. */
  rotate(): readonly string[] {
    this.#previous = this.#current;
    this.#current = [];
    return this.#previous;
  }

  /** The keys of both. */
  *all(): Iterable<string> {
    yield* this.#previous;
    yield* this.#current;
  }
}
