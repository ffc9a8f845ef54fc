import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { percentile } from '../../support/percentile.ts';

/**
 * An honest caller that requests the slot repeatedly during an attack: in a thread, so that the attackers' work does
 * not delay its measurements.
 */
export class Bystander {
  requested = 0;
  failed = 0;
  readonly #thread: Worker;

  constructor(url: string) {
    this.#thread = new Worker(new URL('./bystander-thread.js', import.meta.url), { workerData: url });
  }

  /** Returns the 99th percentile of latency since the last call. */
  async takeP99Ms(): Promise<number> {
    this.#thread.postMessage('tell');
    const [tookMs]: [readonly number[]] = (await once(this.#thread, 'message')) as [number[]]; // as the thread posts it
    this.requested += tookMs.length;
    this.failed += tookMs.filter((ms) => ms < 0).length;
    return percentile(tookMs, 0.99);
  }

  async stop(): Promise<void> {
    await this.takeP99Ms();
    await this.#thread.terminate();
  }
}
