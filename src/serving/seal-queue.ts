import type { Entry } from '../cache/entry.ts';
import { hashInTurns, hasLongResult } from './long-result.ts';

/** A body as it is sent. */
export type Body = string | Buffer;

/** Who waits for a body. Neither function throws. */
export interface SealWaiter {
  resolve(body: Body): void;
  reject(reason: unknown): void;
}

/** One body to make. */
export interface SealJob {
  readonly entry: Entry;
  /** The nonce of a body for one caller, which is not kept for others; null for a shared body. */
  readonly nonce: string | null;
  /** True if the cache publishes the entry only once it has its body. */
  readonly isHeldBack: boolean;
  readonly waiters: SealWaiter[];
}

export interface SealQueueOptions {
  /** The most bodies that share a signature. */
  readonly maxBatchSize: number;
  /** Makes the bodies of a batch and settles its waiters. The digests of long results are known. Must not throw. */
  readonly sealBatch: (batch: readonly SealJob[]) => void;
}

/**
 * The bodies to make at the end of this turn of the event loop, in batches. Batches are sealed from setImmediate only: in
 * a request handler the engine corks that request's socket alone, and each write to another socket costs system calls.
 */
export class SealQueue {
  readonly #options: SealQueueOptions;
  #jobs: SealJob[] = [];
  #isFlushing = false;
  /** The queued jobs whose body is shared, so that each entry is queued once. */
  readonly #sharedJobs = new Map<Entry, SealJob>();

  constructor(options: SealQueueOptions) {
    this.#options = options;
  }

  /** The number of queued jobs. */
  get length(): number {
    return this.#jobs.length;
  }

  /** Adds a job; that of a long result once it is hashed. */
  add(job: SealJob): void {
    const { entry, waiters } = job;
    if (!hasLongResult(entry) || entry.digest !== '') this.#enqueue(job);
    else
      hashInTurns(entry).then(
        () => this.#enqueue(job),
        (reason: unknown) => {
          this.#sharedJobs.delete(entry);
          for (const waiter of waiters) waiter.reject(reason);
        },
      );
  }

  #enqueue(job: SealJob): void {
    this.#jobs.push(job);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  /** Adds the job of an entry's shared body, or returns the one that is queued. */
  addShared(entry: Entry, isHeldBack: boolean): SealJob {
    const queued = this.#sharedJobs.get(entry);
    if (queued !== undefined) return queued;
    const job: SealJob = { entry, nonce: null, isHeldBack, waiters: [] };
    this.#sharedJobs.set(entry, job);
    this.add(job);
    return job;
  }

  /** Removes the queued jobs of a key and returns them, those first that came first. */
  take(key: string): SealJob[] {
    const taken = this.#jobs.filter(({ entry }) => entry.key === key);
    if (taken.length === 0) return taken;
    this.#jobs = this.#jobs.filter(({ entry }) => entry.key !== key);
    this.#forget(taken);
    return taken;
  }

  /** Forgets the job of a long result, whose body is complete or will never be. */
  finish({ entry, nonce }: SealJob): void {
    if (nonce === null) this.#sharedJobs.delete(entry);
  }

  #flush(): void {
    const { maxBatchSize, sealBatch } = this.#options;
    const batch = this.#jobs.splice(0, maxBatchSize);
    this.#isFlushing = this.#jobs.length > 0;
    if (this.#isFlushing) setImmediate(() => this.#flush());
    this.#forget(batch);
    if (batch.length > 0) sealBatch(batch);
  }

  /** Forgets jobs whose bodies are made now. That of a long result is not complete then. */
  #forget(jobs: readonly SealJob[]): void {
    for (const { entry, nonce } of jobs) if (nonce === null && !hasLongResult(entry)) this.#sharedJobs.delete(entry);
  }
}
