import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RateLimitKey } from './rate-limit-key.ts';
import type { Tier } from './tiers.ts';

export interface AdmissionOptions {
  /** The most work that may be with the upstream at one time. */
  readonly maxInFlight: number;
  /** The most work that may wait for it. */
  readonly maxQueued: number;
  /** The longest wait, in milliseconds. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** Whether the event loop lags so much that no work may be added. */
  readonly isOverloaded: () => boolean;
}

/** Work of one caller: running and queued. */
interface Load {
  readonly key: RateLimitKey;
  running: number;
  waiting: number;
}

/** Work that waits for its turn. */
interface QueuedWork {
  readonly load: Load;
  /** The most that its caller may have running. */
  readonly maxRunning: number;
  readonly start: () => void;
  readonly reject: (why: string) => void;
}

/**
 * Admission control for upstream work: limits concurrency per caller and overall, queues the same amount again with
 * priority tiers first, and rejects the rest as `overloaded`.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #loads = new Map<RateLimitKey, Load>();
  readonly #priorityQueue = new Set<QueuedWork>(); // a Set keeps insertion order and deletes from the middle
  readonly #normalQueue = new Set<QueuedWork>();
  #running = 0;
  #refused = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#priorityQueue.size + this.#normalQueue.size;
  }

  /** The number of rejected requests. */
  get refused(): number {
    return this.#refused;
  }

  /** Runs the work, at once if nothing waits ahead of it. Rejects with `overloaded` if it can't be admitted. */
  async run<T>(key: RateLimitKey, tier: Tier, work: () => Promise<T>): Promise<T> {
    if (this.#options.isOverloaded()) throw this.#overloadedError('the gateway is overloaded');
    const load = this.#loads.get(key) ?? { key, running: 0, waiting: 0 };
    if (this.#running < this.#options.maxInFlight && load.running < tier.inFlight) this.#startWork(load);
    else await this.#waitForTurn(load, tier);
    try {
      return await work();
    } finally {
      this.#finishWork(load);
    }
  }

  #startWork(load: Load): void {
    this.#running++;
    load.running++;
    this.#loads.set(load.key, load);
  }

  /** Starts the next queued work in the same turn, so that a new request can't overtake it. */
  #finishWork(load: Load): void {
    this.#running--;
    load.running--;
    this.#nextRunnable()?.start();
    this.#dropIfIdle(load);
  }

  /** Queues the request; resolves when its work has started. */
  #waitForTurn(load: Load, { inFlight, priority }: Tier): Promise<void> {
    const { maxQueued, maxWaitMs, clock } = this.#options;
    if (load.waiting >= inFlight)
      throw this.#overloadedError('too many of your requests wait for answers: send fewer at a time');
    if (this.waiting >= maxQueued) {
      const displaced = priority ? [...this.#normalQueue].at(-1) : undefined;
      if (displaced === undefined) throw this.#overloadedError('too many requests are waiting');
      displaced.reject('displaced by higher-priority requests');
    }
    const waitingQueue = priority ? this.#priorityQueue : this.#normalQueue;
    return new Promise((resolve, reject) => {
      const dequeue = (): void => {
        waitingQueue.delete(queued);
        load.waiting--;
        cancel();
      };
      const queued: QueuedWork = {
        load,
        maxRunning: inFlight,
        start: () => {
          dequeue();
          this.#startWork(load);
          resolve();
        },
        reject: (why) => {
          dequeue();
          this.#dropIfIdle(load);
          reject(this.#overloadedError(why));
        },
      };
      const cancel = clock.after(maxWaitMs, () => queued.reject('the request waited too long'));
      waitingQueue.add(queued);
      load.waiting++;
      this.#loads.set(load.key, load);
    });
  }

  /** Returns the first queued work whose caller is below its limit; the others wait for that caller's running work. */
  #nextRunnable(): QueuedWork | undefined {
    for (const queue of [this.#priorityQueue, this.#normalQueue]) {
      for (const queued of queue) if (queued.load.running < queued.maxRunning) return queued;
    }
    return undefined;
  }

  #dropIfIdle({ key, running, waiting }: Load): void {
    if (running === 0 && waiting === 0) this.#loads.delete(key);
  }

  #overloadedError(message: string): GatewayError {
    this.#refused++;
    return new GatewayError('overloaded', `${message}; retry in a moment`);
  }
}
