import { runThen } from '../../shared/runtime/run-then.ts';
import { WorkUnderWay } from '../../shared/runtime/work-under-way.ts';

/** Runs concurrent equal work once, and gives all callers its result. */
export class SingleFlight<T> {
  readonly #inFlight = new WorkUnderWay<Promise<T>>();

  get size(): number {
    return this.#inFlight.size;
  }

  /** Returns true while work of this key is under way: a caller would join it. */
  has(key: string): boolean {
    return this.#inFlight.get(key) !== undefined;
  }

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
