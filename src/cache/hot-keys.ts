/** The keys that were read in this slot and in the last, at most `maxKeys` of each, in the order of their first reads. */
export class HotKeys {
  readonly #maxKeys: number;
  #current: string[] = [];
  #previous: readonly string[] = [];

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Records a key; called once per key and slot. */
  record(key: string): void {
    if (this.#current.length < this.#maxKeys) this.#current.push(key);
  }

  /** Begins another slot and returns the keys of the one that ends. */
  rotate(): readonly string[] {
    this.#previous = this.#current;
    this.#current = [];
    return this.#previous;
  }

  /** Yields the keys of both slots. */
  *all(): Iterable<string> {
    yield* this.#previous;
    yield* this.#current;
  }
}
