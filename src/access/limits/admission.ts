import type { Clock } from '../../domain/clock.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { type RateLimitKey, SITE_FACTOR } from './rate-limit-key.ts';
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

/** The caller of work. */
export interface AdmittedCaller {
  readonly key: RateLimitKey;
  /** The key of the /48 around an IPv6 address. */
  readonly siteKey?: RateLimitKey | undefined;
  readonly tier: Tier;
  /**
   * Reserves what the work may cost, once there is a place for it. Returns false if other work of the caller must end
   * first; throws if it can't be had.
   */
  readonly reserve?: () => boolean;
}

/** Work of one caller, or of one site: running and queued. */
interface Load {
  readonly key: RateLimitKey;
  running: number;
  waiting: number;
}

/** Work that waits for its turn. */
interface QueuedWork extends Loads {
  readonly caller: AdmittedCaller;
  readonly start: () => void;
  readonly reject: (reason: unknown) => void;
}

/** What work counts for. */
interface Loads {
  readonly load: Load;
  readonly site: Load | undefined;
}

/** The part of the places, and of the queue, that one site may have. */
const SITE_SHARE = 1 / 2;

/**
 * Admission control for upstream work: limits concurrency per caller, per site and overall, queues the same amount again
 * with priority tiers first, and rejects the rest as `overloaded`. Work of the gateway itself (renewals, the stream,
 * balances of wallets) has places of its own: it takes none from callers, and they take none from it.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #loads = new Map<RateLimitKey, Load>();
  readonly #priorityQueue = new Set<QueuedWork>(); // a Set keeps insertion order and deletes from the middle
  readonly #normalQueue = new Set<QueuedWork>();
  readonly #ownQueue: (() => void)[] = [];
  #running = 0;
  #ownRunning = 0;
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

  /** The work of the gateway itself that runs, and that waits. */
  get own(): { readonly running: number; readonly waiting: number } {
    return { running: this.#ownRunning, waiting: this.#ownQueue.length };
  }

  /** The number of rejected requests. */
  get refused(): number {
    return this.#refused;
  }

  /** Runs the work, at once if nothing waits ahead of it. Rejects with `overloaded` if it can't be admitted. */
  async run<T>(caller: AdmittedCaller, work: () => Promise<T>): Promise<T> {
    if (this.#options.isOverloaded()) throw this.#overloadedError('the gateway is overloaded');
    const { key, siteKey } = caller;
    const loads = { load: this.#loadOf(key), site: siteKey === undefined ? undefined : this.#loadOf(siteKey) };
    if (this.#mayStart(loads, caller)) this.#startWork(loads);
    else await this.#waitForTurn(loads, caller);
    try {
      return await work();
    } finally {
      this.#finishWork(loads);
    }
  }

  /** Runs work of the gateway itself, as much at one time as of all callers. Rejects with `overloaded` if too much waits. */
  async runOwn<T>(work: () => Promise<T>): Promise<T> {
    const { maxInFlight, maxQueued } = this.#options;
    if (this.#ownRunning < maxInFlight) this.#ownRunning++;
    else if (this.#ownQueue.length >= maxQueued) throw this.#overloadedError('too much work of the gateway is waiting');
    else await new Promise<void>((start) => this.#ownQueue.push(start));
    try {
      return await work();
    } finally {
      const start = this.#ownQueue.shift();
      if (start === undefined) this.#ownRunning--;
      else start(); // in its place
    }
  }

  #loadOf(key: RateLimitKey): Load {
    return this.#loads.get(key) ?? { key, running: 0, waiting: 0 };
  }

  /** Tells whether there is a place for work, and reserves what it may cost. */
  #mayStart(loads: Loads, caller: AdmittedCaller): boolean {
    return this.#hasPlace(loads, caller) && (caller.reserve?.() ?? true);
  }

  #hasPlace({ load, site }: Loads, { tier }: AdmittedCaller): boolean {
    const { maxInFlight } = this.#options;
    if (this.#running >= maxInFlight || load.running >= tier.inFlight) return false;
    return site === undefined || site.running < Math.min(SITE_FACTOR * tier.inFlight, shareOf(maxInFlight));
  }

  #startWork({ load, site }: Loads): void {
    this.#running++;
    for (const each of site === undefined ? [load] : [load, site]) {
      each.running++;
      this.#loads.set(each.key, each);
    }
  }

  /** Starts the next queued work in the same turn, so that a new request can't overtake it. */
  #finishWork(loads: Loads): void {
    this.#running--;
    loads.load.running--;
    if (loads.site !== undefined) loads.site.running--;
    this.#startQueued();
    this.#dropIfIdle(loads);
  }

  /** Queues the request; resolves when its work has started. */
  #waitForTurn(loads: Loads, caller: AdmittedCaller): Promise<void> {
    const { maxQueued, maxWaitMs, clock } = this.#options;
    const { load, site } = loads;
    const { inFlight, priority } = caller.tier;
    if (load.running + load.waiting >= 2 * inFlight)
      throw this.#overloadedError('too many of your requests wait for answers: send fewer at a time');
    if (site !== undefined && site.waiting >= shareOf(maxQueued))
      throw this.#overloadedError('too many requests of your network are waiting');
    if (this.waiting >= maxQueued) {
      const displaced = priority ? [...this.#normalQueue].at(-1) : undefined;
      if (displaced === undefined) throw this.#overloadedError('too many requests are waiting');
      displaced.reject(this.#overloadedError('displaced by higher-priority requests'));
    }
    const waitingQueue = priority ? this.#priorityQueue : this.#normalQueue;
    return new Promise((resolve, reject) => {
      const dequeue = (): void => {
        waitingQueue.delete(queued);
        load.waiting--;
        if (site !== undefined) site.waiting--;
        cancel();
      };
      const queued: QueuedWork = {
        ...loads,
        caller,
        start: () => {
          dequeue();
          this.#startWork(loads);
          resolve();
        },
        reject: (reason) => {
          dequeue();
          this.#dropIfIdle(loads);
          reject(reason);
        },
      };
      const cancel = clock.after(maxWaitMs, () => queued.reject(this.#overloadedError('the request waited too long')));
      waitingQueue.add(queued);
      for (const each of site === undefined ? [load] : [load, site]) {
        each.waiting++;
        this.#loads.set(each.key, each);
      }
    });
  }

  /** Starts the queued work that there is a place for; other work waits for that of its own caller. */
  #startQueued(): void {
    for (const queue of [this.#priorityQueue, this.#normalQueue]) {
      for (const queued of queue) {
        if (this.#running >= this.#options.maxInFlight) return;
        try {
          if (this.#mayStart(queued, queued.caller)) queued.start();
        } catch (reason) {
          queued.reject(reason); // what it may cost can't be had any more
        }
      }
    }
  }

  #dropIfIdle({ load, site }: Loads): void {
    for (const each of site === undefined ? [load] : [load, site])
      if (each.running === 0 && each.waiting === 0) this.#loads.delete(each.key);
  }

  #overloadedError(message: string): GatewayError {
    this.#refused++;
    return new GatewayError('overloaded', `${message}; retry in a moment`);
  }
}

const shareOf = (places: number): number => Math.ceil(places * SITE_SHARE);
