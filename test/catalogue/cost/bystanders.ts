import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a thread of bystanders does. */
export interface BystandersData {
  readonly url: string;
  /** Cold reads that are sent in one turn. */
  readonly coldAtOnce: number;
  /** Target of a cold read, with `$address` for an address that nobody has asked for. */
  readonly coldTarget: string;
}

/** What bystanders saw: milliseconds until the answer, or so far; and failures by their reason. */
export interface BystanderReport {
  readonly cold: number[];
  readonly hits: number[];
  readonly failures: Record<string, number>;
}

/** Honest callers of a gateway under attack, in a thread of their own. */
export class Bystanders {
  readonly #thread: Worker;

  constructor(data: BystandersData) {
    this.#thread = new Worker(new URL('./bystanders-thread.js', import.meta.url), { workerData: data });
  }

  /** Returns what they saw since the last call. */
  async takeReport(): Promise<BystanderReport> {
    this.#thread.postMessage('take');
    const [report] = (await once(this.#thread, 'message')) as [BystanderReport]; // as the thread posts it
    return report;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
