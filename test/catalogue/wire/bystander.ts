import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { percentile } from '../../support/percentile.ts';

/**
 * An honest caller who asks for the slot again and again while others do what they do: in a thread of its own, so that
 * the attackers' work does not hold up its clock.
 */
export class Bystander {
  requested = 0;
  failed = 0;
  readonly #thread: Worker;

  constructor(url: string) {
    this.#thread = new Worker(new URL('./bystander-thread.js', import.meta.url), { workerData: url });
  }

  /** The time below which 99 of 100 answers came, since this was last asked. */
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
