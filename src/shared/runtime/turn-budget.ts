import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import { FairQueue, type FairQueueBounds } from './fair-queue.ts';

export interface TurnBudgetOptions {
  readonly turnMs: number;
  /** The most work that waits for a later turn. */
  readonly queue: FairQueueBounds;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Calls back at the end of this turn. Default: setImmediate. */
  readonly atEndOfTurn?: (end: () => void) => unknown;
}

export interface WorkOwner {
  readonly caller: string;
  readonly bytes: number;
  /** Aborted when nobody waits for the result any more: work that waits is then dropped. */
  readonly signal?: AbortSignal | undefined;
}

/** Work begins in the same call while none waits; the rest waits in a bounded queue, in which callers take turns. */
export class TurnBudget {
  readonly #turnMs: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #atEndOfTurn: (end: () => void) => unknown;
  readonly #queue: FairQueue<() => void>;
  #spentMs = 0;
  #isTurnOpen = false;

  constructor({ turnMs, queue, clock, atEndOfTurn = setImmediate }: TurnBudgetOptions) {
    this.#turnMs = turnMs;
    this.#clock = clock;
    this.#atEndOfTurn = atEndOfTurn;
    this.#queue = new FairQueue(queue);
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Runs the work in a turn that has time for it. Rejects with what the work throws, or with `overloaded`. */
  async run<T>(owner: WorkOwner, work: () => T | Promise<T>): Promise<T> {
    if (this.#queue.length > 0 || this.#spentMs >= this.#turnMs) await this.#waitForTurn(owner);
    this.#openTurn();
    const beganMs = this.#clock.monotonic();
    try {
      return work(); // only what it does before its first await counts
    } finally {
      this.#spentMs += this.#clock.monotonic() - beganMs;
    }
  }

  #waitForTurn({ caller, bytes, signal }: WorkOwner): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', drop);
        resolve();
      };
      const drop = (): void => {
        this.#queue.delete(caller, start);
        reject(new GatewayError('overloaded', 'the caller has gone'));
      };
      this.#queue.add(caller, start, bytes);
      signal?.addEventListener('abort', drop);
      this.#openTurn();
    });
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    this.#atEndOfTurn(() => void this.#endTurn());
  }

  async #endTurn(): Promise<void> {
    const endMs = this.#clock.monotonic() + this.#turnMs - this.#spentMs;
    while (this.#queue.length > 0 && this.#clock.monotonic() < endMs) {
      this.#queue.dequeue()?.();
      await undefined; // the work begins before this goes on, and what follows from it counts, too
    }
    this.#spentMs = 0;
    this.#isTurnOpen = false;
    if (this.#queue.length > 0) this.#openTurn();
  }
}
