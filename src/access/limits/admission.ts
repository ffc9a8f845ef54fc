import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RateLimitKey } from './rate-limit-key.ts';
import type { Tier } from './tiers.ts';

export interface AdmissionOptions {
  /** How much work may be with the upstream at one time. */
  readonly maxInFlight: number;
  /** How much more may wait. */
  readonly maxQueued: number;
  /** For how long at most. */
  readonly maxWaitMs: number;
  readonly clock: Clock;
  /** True while the process has so much to do that nothing may be added. */
  readonly isOverloaded: () => boolean;
}

/** What one identity has under way, and in the line. */
interface Load {
  readonly key: RateLimitKey;
  running: number;
  waiting: number;
}

/** One who stands in the line. */
interface QueuedWork {
  readonly load: Load;
  /** How much its identity may have under way. */
  readonly maxRunning: number;
  readonly start: () => void;
  readonly reject: (why: string) => void;
}

/**
 * Stands before all work that needs the upstream, so that neither one caller nor many can pile it up: each has so much
 * under way, all together so much. As much again waits in a line in which `priority` goes first; the rest is
 * `overloaded`.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #loads = new Map<RateLimitKey, Load>();
  readonly #priorityQueue = new Set<QueuedWork>(); // a Set keeps its order and forgets from the middle
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

  /** How many were turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** Starts the work, at once where nobody is in front. Rejects with `overloaded` where it can't be taken. */
  async run<T>(key: RateLimitKey, tier: Tier, work: () => Promise<T>): Promise<T> {
    if (this.#options.isOverloaded()) throw this.#overloadedError('the gateway has too much to do');
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

  /** The place goes to the next at once, so that nobody can slip in between. */
  #finishWork(load: Load): void {
    this.#running--;
    load.running--;
    this.#nextRunnable()?.start();
    this.#dropIfIdle(load);
  }

  /** Resolves when it has entered. */
  #waitForTurn(load: Load, { inFlight, priority }: Tier): Promise<void> {
    const { maxQueued, maxWaitMs, clock } = this.#options;
    if (load.waiting >= inFlight) throw this.#overloadedError('too many of your requests are under way');
    if (this.waiting >= maxQueued) {
      const displaced = priority ? [...this.#normalQueue].at(-1) : undefined;
      if (displaced === undefined) throw this.#overloadedError('too many requests are waiting');
      displaced.reject('others who go first are waiting');
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

  /** The first whose identity may have more under way; the others wait for work of their own. */
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
    return new GatewayError('overloaded', message);
  }
}
