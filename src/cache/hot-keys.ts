/** The keys that were read in this slot and the last: so many of each, as they were first read. */
export class HotKeys {
  readonly #most: number;
  #current: string[] = [];
  #last: readonly string[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Called once for a key in a slot. */
  note(key: string): void {
    if (this.#current.length < this.#most) this.#current.push(key);
  }

  /** Begins another slot; returns the keys of the one that ends. */
  turn(): readonly string[] {
    this.#last = this.#current;
    this.#current = [];
    return this.#last;
  }

  /** The keys of both. */
  *all(): Iterable<string> {
    yield* this.#last;
    yield* this.#current;
  }
}
