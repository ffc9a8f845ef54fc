/** One piece of work for many that ask for the same at the same time. */
export class Flight<T> {
  readonly #flying = new Map<string, Promise<T>>();

  /** How many different pieces are under way. */
  get size(): number {
    return this.#flying.size;
  }

  /** Whether one is under way: who asks for it now joins it. */
  has(key: string): boolean {
    return this.#flying.has(key);
  }

  run(key: string, start: () => Promise<T>): Promise<T> {
    const flying = this.#flying.get(key);
    if (flying !== undefined) return flying;
    const started = start().finally(() => this.#flying.delete(key));
    this.#flying.set(key, started);
    return started;
  }
}
