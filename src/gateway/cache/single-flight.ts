import { runThen } from '../../shared/runtime/waiter.ts';
import { WorkUnderWay } from '../../shared/runtime/work-under-way.ts';

export class SingleFlight<T> {
  readonly #inFlight = new WorkUnderWay<Promise<T>>();

  /** Returns work of this key that is under way: a caller would join it. */
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
