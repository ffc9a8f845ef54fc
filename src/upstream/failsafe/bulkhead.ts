import { GatewayError } from '../../domain/gateway-error.ts';

/** Lets so many pieces of work run at once and so many more wait in line, first come, first served. */
export class Bulkhead {
  readonly #maxQueued: number;
  readonly #waiters = new Set<() => void>(); // a Set keeps its order and forgets from the middle
  #free: number;

  constructor(maxConcurrent: number, maxQueued: number) {
    this.#free = maxConcurrent;
    this.#maxQueued = maxQueued;
  }

  /** Throws `overloaded` when the line is full, and the signal's reason when it comes while waiting. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiters.size >= this.#maxQueued) throw new GatewayError('overloaded', 'too many requests are waiting');
    await new Promise<void>((resolve, reject) => {
      const proceed = () => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiters.delete(proceed);
        reject(signal.reason);
      };
      this.#waiters.add(proceed);
      signal.addEventListener('abort', abort);
    });
  }

  /** The place goes to the next in line without ever being free, so that nobody can slip in between. */
  #release(): void {
    const [next] = this.#waiters;
    if (next === undefined) {
      this.#free++;
    } else {
      this.#waiters.delete(next);
      next();
    }
  }
}
