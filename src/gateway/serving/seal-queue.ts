import type { Entry, SealJob } from '../cache/entry.ts';
import { hashInTurns, hasLongResult } from './long-result.ts';

export interface SealQueueOptions {
  readonly maxBatchSize: number;
  /** Makes the bodies of a batch and settles its waiters. The digests of long results are known. Must not throw. */
  readonly sealBatch: (batch: readonly SealJob[]) => void;
}

/** From setImmediate only: a handler corks its own socket alone, and writes to others cost system calls. */
export class SealQueue {
  readonly #options: SealQueueOptions;
  #jobs: SealJob[] = [];
  #isFlushing = false;

  constructor(options: SealQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#jobs.length;
  }

  add(job: SealJob): void {
    const { entry, waiters } = job;
    if (!hasLongResult(entry) || entry.digest !== '') this.#enqueue(job);
    else
      hashInTurns(entry)
        .then(() => this.#enqueue(job))
        .catch((reason: unknown) => {
          entry.sealJob = undefined;
          for (const waiter of waiters) waiter.reject(reason);
        });
  }

  #enqueue(job: SealJob): void {
    this.#jobs.push(job);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  /** Adds the job of an entry's shared body, or returns the one that is queued. */
  addShared(entry: Entry, heldBackAt?: number): SealJob {
    if (entry.sealJob !== undefined) return entry.sealJob;
    const job: SealJob = { entry, nonce: null, heldBackAt, waiters: [] };
    entry.sealJob = job;
    this.add(job);
    return job;
  }

  /** Removes the queued jobs of a key and returns them, those first that came first. */
  remove(key: string): SealJob[] {
    const removed = this.#jobs.filter(({ entry }) => entry.key === key);
    if (removed.length === 0) return removed;
    this.#jobs = this.#jobs.filter(({ entry }) => entry.key !== key);
    this.#forget(removed);
    return removed;
  }

  /** Forgets the job of a long result, whose body is complete or will never be. */
  finish({ entry, nonce }: SealJob): void {
    if (nonce === null) entry.sealJob = undefined;
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
    for (const { entry, nonce } of jobs) if (nonce === null && !hasLongResult(entry)) entry.sealJob = undefined;
  }
}
