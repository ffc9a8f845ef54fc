import { runThen } from '../../shared/runtime/run-then.ts';

/** Runs concurrent equal work once, and gives all callers its result. */
export class SingleFlight<T> {
  readonly #inFlight = new Map<string, Promise<T>>();

  /** The number of different pieces of work that are under way. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Returns true while work of this key is under way: a caller would join it. */
  has(key: string): boolean {
    return this.#inFlight.has(key);
  }

  /** Returns the work of this key that is under way; undefined if there is none. */
  get(key: string): Promise<T> | undefined {
    return this.#inFlight.get(key);
  }

  run(key: string, start: () => Promise<T>): Promise<T> {
    const current = this.#inFlight.get(key);
    if (current !== undefined) return current;
    const started = runThen(start, () => this.#inFlight.delete(key));
    this.#inFlight.set(key, started);
    return started;
  }
}
