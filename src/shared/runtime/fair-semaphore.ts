import type { Clock } from '../domain/clock.ts';
import { runThen } from './waiter.ts';

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

export interface PlaceClaim<K> {
  readonly shares: readonly Share<K>[];
  /** Whether it starts ahead of other work that waits, and displaces it from a full queue. */
  readonly hasPriority?: boolean;
  /** False if other work of the caller must end before what this may cost is reserved; throws if it can't be had. */
  readonly reserve?: (() => boolean) | undefined;
  readonly onEnd?: (() => void) | undefined;
}

/** Work that waits for a place. It gets one of the calls. Neither throws. */
export interface PlacedWork {
  /** Begins the work, which keeps its place until it calls `leave`. */
  start(leave: () => void): void;
  refuse(reason: unknown): void;
}

/** Gives work a place, in the same call if nothing waits ahead of it; or refuses it, as `overloaded` mostly. */
export type Admit = (work: PlacedWork) => void;

/** Runs work in a place of its own until its promise is settled. */
export const runAdmitted = <T>(admit: Admit, work: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => admit({ start: (leave) => resolve(runThen(work, leave)), refuse: reject }));

interface Waiting<K> {
  readonly claim: PlaceClaim<K>;
  readonly work: PlacedWork;
  leave(): void;
  refuse(reason: unknown): void;
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

  enter(claim: PlaceClaim<K>, work: PlacedWork): void {
    try {
      if (!this.#start(claim)) {
        this.#wait(claim, work);
        return;
      }
    } catch (refusal) {
      work.refuse(refusal);
      return;
    }
    work.start(() => this.#leave(claim));
  }

  run<T>(claim: PlaceClaim<K>, work: () => Promise<T>): Promise<T> {
    return runAdmitted((placed) => this.enter(claim, placed), work);
  }

  #leave(claim: PlaceClaim<K>): void {
    claim.onEnd?.();
    this.#running--;
    this.#count(claim, 'running', -1);
    this.#startWaiting(); // in the same turn, so that newer work can't overtake
  }

  #start(claim: PlaceClaim<K>): boolean {
    if (this.#running >= this.#options.maxRunning) return false;
    for (const { key, maxRunning } of claim.shares)
      if ((this.#loads.get(key)?.running ?? 0) >= maxRunning) return false;
    if (claim.reserve?.() === false) return false;
    this.#running++;
    this.#count(claim, 'running', 1);
    return true;
  }

  #wait(claim: PlaceClaim<K>, work: PlacedWork): void {
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
      displaced.refuse(overloaded('displaced by higher-priority requests'));
    }
    const queue = claim.hasPriority === true ? this.#priorityQueue : this.#normalQueue;
    const leave = (): void => {
      cancel();
      queue.delete(waiting);
      this.#count(claim, 'waiting', -1);
    };
    const refuse = (reason: unknown): void => {
      leave();
      work.refuse(reason);
    };
    const waiting: Waiting<K> = { claim, work, leave, refuse };
    const giveUp = (): void => refuse(overloaded('the request waited too long'));
    const cancel = maxWaitMs === undefined ? () => {} : clock.after(maxWaitMs, giveUp);
    queue.add(waiting);
    this.#count(claim, 'waiting', 1);
  }

  /** Starts the work that waits and has a place now, that with priority first. */
  #startWaiting(): void {
    for (const queue of [this.#priorityQueue, this.#normalQueue]) {
      for (const { claim, work, leave, refuse } of queue) {
        if (this.#running >= this.#options.maxRunning) return;
        try {
          if (!this.#start(claim)) continue;
          leave();
          queueMicrotask(() => work.start(() => this.#leave(claim))); // it may end in that call
        } catch (reason) {
          refuse(reason); // what it may cost can't be had any more
        }
      }
    }
  }

  #loadOf(key: K): { running: number; waiting: number } {
    return this.#loads.get(key) ?? { running: 0, waiting: 0 };
  }

  #count({ shares }: PlaceClaim<K>, what: 'running' | 'waiting', change: number): void {
    for (const { key } of shares) {
      const load = this.#loadOf(key);
      load[what] += change;
      if (load.running + load.waiting > 0) this.#loads.set(key, load);
      else this.#loads.delete(key);
    }
  }
}
