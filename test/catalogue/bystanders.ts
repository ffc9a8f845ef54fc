import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { percentile } from '../support/percentile.ts';

export interface BystandersData {
  readonly url: string;
  /** What is read repeatedly; the newest slot by default. */
  readonly hitTarget?: string;
  /** Balances that nobody has read, and that are read in one turn. Default: none. */
  readonly coldReads?: number;
}

/** What bystanders saw: milliseconds until the answer, or so far; and failures by their reason. */
export interface BystanderReport {
  readonly cold: number[];
  readonly hits: number[];
  readonly failures: Record<string, number>;
}

/** Honest callers of a gateway under attack, in a thread, so that the attackers' work does not delay their measurements. */
export class Bystanders {
  /** Requests that failed, of all reports. */
  failed = 0;
  readonly #thread: Worker;

  constructor(data: BystandersData) {
    this.#thread = new Worker(new URL('./bystanders-thread.js', import.meta.url), { workerData: data });
  }

  /** Returns what they saw since the last call. */
  async nextReport(): Promise<BystanderReport> {
    this.#thread.postMessage('report');
    const [report] = (await once(this.#thread, 'message')) as [BystanderReport]; // as the thread posts it
    this.failed += Object.values(report.failures).reduce((sum, count) => sum + count, 0);
    return report;
  }

  /** Returns the 99th percentile of the hits since the last call. */
  async nextP99Ms(): Promise<number> {
    return percentile((await this.nextReport()).hits, 0.99);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
