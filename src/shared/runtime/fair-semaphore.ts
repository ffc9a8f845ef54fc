import type { Clock } from '../domain/clock.ts';
import { runThen } from './run-then.ts';

export interface FairSemaphoreOptions {
  /** The most work that runs at a time, and the most that waits for it. */
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly maxWaitMs?: number;
  readonly clock: Pick<Clock, 'after'>;
  /** Creates the error of work that may not wait, or not for longer. */
  readonly overloaded: (why: string) => Error;
}

/** What all work of one key may have at a time: that of a caller, or of a group of callers. */
export interface Share<K> {
  readonly key: K;
  readonly maxRunning: number;
  /** The most that waits, and that runs or waits. Default: any number. */
  readonly maxWaiting?: number;
  readonly maxTotal?: number;
  readonly refusal?: string;
}

export interface Claim<K> {
  readonly shares: readonly Share<K>[];
  /** Whether it starts ahead of other work that waits, and displaces it from a full queue. */
  readonly hasPriority?: boolean;
  /** False if other work of the caller must end before what this may cost is reserved; throws if it can't be had. */
  readonly reserve?: (() => boolean) | undefined;
  readonly onEnd?: (() => void) | undefined;
}

interface Waiting<K> {
  readonly claim: Claim<K>;
  leave(): void;
  resolve(): void;
  reject(reason: unknown): void;
}

const FULL = 'too many requests are waiting';

/** Other work waits in bounded number, by share, and for a bounded time; a share that is used up is passed over. */
export class FairSemaphore<K> {
  readonly #options: FairSemaphoreOptions;
  readonly #loads = new Map<K, { running: number; waiting: number }>();
  readonly #priorityQueue = new Set<Waiting<K>>(); // a Set keeps insertion order and deletes from the middle
  readonly #normalQueue = new Set<Waiting<K>>();
  #running = 0;

  constructor(options: FairSemaphoreOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#priorityQueue.size + this.#normalQueue.size;
  }

  run<T>(claim: Claim<K>, work: () => Promise<T>): Promise<T> {
    try {
      if (this.#start(claim)) return this.#runStarted(claim, work);
      return this.#wait(claim).then(() => this.#runStarted(claim, work));
    } catch (refusal) {
      return Promise.reject(refusal);
    }
  }

  #runStarted<T>(claim: Claim<K>, work: () => Promise<T>): Promise<T> {
    const end = (): void => {
      claim.onEnd?.();
      this.#running--;
      this.#count(claim, 'running', -1);
      this.#startWaiting(); // in the same turn, so that newer work can't overtake
    };
    return runThen(work, end);
  }

  #start(claim: Claim<K>): boolean {
    if (this.#running >= this.#options.maxRunning) return false;
    for (const { key, maxRunning } of claim.shares)
      if ((this.#loads.get(key)?.running ?? 0) >= maxRunning) return false;
    if (claim.reserve?.() === false) return false;
    this.#running++;
    this.#count(claim, 'running', 1);
    return true;
  }

  #wait(claim: Claim<K>): Promise<void> {
    const { maxWaiting, maxWaitMs, clock, overloaded } = this.#options;
    const isReached = (count: number, max?: number): boolean => max !== undefined && count >= max;
    for (const { key, refusal = FULL, ...share } of claim.shares) {
      const { running, waiting } = this.#loadOf(key);
      if (isReached(waiting, share.maxWaiting) || isReached(running + waiting, share.maxTotal))
        throw overloaded(refusal);
    }
    if (this.waiting >= maxWaiting) {
      const displaced = claim.hasPriority === true ? [...this.#normalQueue].at(-1) : undefined;
      if (displaced === undefined) throw overloaded(FULL);
      displaced.reject(overloaded('displaced by higher-priority requests'));
    }
    const queue = claim.hasPriority === true ? this.#priorityQueue : this.#normalQueue;
    return new Promise((resolve, rejectWait) => {
      const leave = (): void => {
        cancel();
        queue.delete(waiting);
        this.#count(claim, 'waiting', -1);
      };
      const reject = (reason: unknown): void => {
        leave();
        rejectWait(reason);
      };
      const waiting: Waiting<K> = { claim, leave, resolve, reject };
      const giveUp = (): void => reject(overloaded('the request waited too long'));
      const cancel = maxWaitMs === undefined ? () => {} : clock.after(maxWaitMs, giveUp);
      queue.add(waiting);
      this.#count(claim, 'waiting', 1);
    });
  }

  /** Starts the work that waits and has a place now, that with priority first. */
  #startWaiting(): void {
    for (const queue of [this.#priorityQueue, this.#normalQueue]) {
      for (const { claim, leave, resolve, reject } of queue) {
        if (this.#running >= this.#options.maxRunning) return;
        try {
          if (!this.#start(claim)) continue;
          leave();
          resolve();
        } catch (reason) {
          reject(reason); // what it may cost can't be had any more
        }
      }
    }
  }

  #loadOf(key: K): { running: number; waiting: number } {
    return this.#loads.get(key) ?? { running: 0, waiting: 0 };
  }

  #count({ shares }: Claim<K>, what: 'running' | 'waiting', change: number): void {
    for (const { key } of shares) {
      const load = this.#loadOf(key);
      load[what] += change;
      if (load.running + load.waiting > 0) this.#loads.set(key, load);
      else this.#loads.delete(key);
    }
  }
}
