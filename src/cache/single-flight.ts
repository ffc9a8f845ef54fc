/** One piece of work for many that ask for the same at the same time. */
export class SingleFlight<T> {
  readonly #inFlight = new Map<string, Promise<T>>();

  /** How many different pieces are under way. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Whether one is under way: who asks for it now joins it. */
  has(key: string): boolean {
    return this.#inFlight.has(key);
  }

  run(key: string, start: () => Promise<T>): Promise<T> {
    const current = this.#inFlight.get(key);
    if (current !== undefined) return current;
    const started = start().finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, started);
    return started;
  }
}
