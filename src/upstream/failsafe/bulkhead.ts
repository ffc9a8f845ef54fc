import { GatewayError } from '../../domain/gateway-error.ts';

/** Limits how much work runs at once and how much waits, first come, first served. */
export class Bulkhead {
  readonly #maxQueued: number;
  readonly #waiters = new Set<() => void>(); // a Set keeps its order and deletes from the middle
  #free: number;

  constructor(maxConcurrent: number, maxQueued: number) {
    this.#free = maxConcurrent;
    this.#maxQueued = maxQueued;
  }

  /** Runs the work once there is capacity. Throws `overloaded` when the queue is full, and the signal's reason if it aborts first. */
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
    if (this.#waiters.size >= this.#maxQueued)
      throw new GatewayError('overloaded', 'too many requests wait for the upstream; retry in a moment');
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

  /** Hands the capacity to the next waiter without ever freeing it, so that no newcomer can overtake. */
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
