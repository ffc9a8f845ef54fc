import type { Entry, SealJob } from '../cache/entry.ts';
import { hashInTurns, hasLongResult } from './result-digest.ts';

export interface SealQueueOptions {
  readonly maxBatchSize: number;
  /** Makes the bodies of a batch and settles its jobs. The digests of long results are known. Must not throw. */
  readonly sealBatch: (batch: readonly SealJob[]) => void;
  readonly reject: (job: SealJob, reason: unknown) => void;
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
    const { entry } = job;
    if (!hasLongResult(entry) || entry.digest !== '') this.#enqueue(job);
    else
      hashInTurns(entry)
        .then(() => this.#enqueue(job))
        .catch((reason: unknown) => this.#options.reject(job, reason));
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
    if (removed.length > 0) this.#jobs = this.#jobs.filter(({ entry }) => entry.key !== key);
    return removed;
  }

  #flush(): void {
    const { maxBatchSize, sealBatch } = this.#options;
    const batch = this.#jobs.splice(0, maxBatchSize);
    this.#isFlushing = this.#jobs.length > 0;
    if (this.#isFlushing) setImmediate(() => this.#flush());
    if (batch.length > 0) sealBatch(batch);
  }
}
