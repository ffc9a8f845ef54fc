import { Pool } from 'undici';
import { percentile } from '../../support/percentile.ts';

/** What a load has seen since its last report. */
export interface LoadReport {
  readonly answers: number;
  /** Those with status 200, and those with another one than 200 and 429. */
  readonly admitted: number;
  readonly failed: number;
  /** Milliseconds from the moment at which a request was due to its answer. */
  readonly p99Ms: number;
  readonly slowestMs: number;
}

const TICK_MS = 2;

/** Reads the slot at a constant rate from gateways in turn. */
export class ConstantLoad {
  readonly #pools: readonly Pool[];
  readonly #timer: NodeJS.Timeout;
  #sent = 0;
  #admitted = 0;
  #failed = 0;
  #latenciesMs: number[] = [];

  constructor(urls: readonly string[], requestsPerSecond: number) {
    this.#pools = urls.map((url) => new Pool(url, { connections: 64 }));
    const sinceMs = performance.now();
    const dueMs = (i: number): number => sinceMs + (i * 1000) / requestsPerSecond;
    this.#timer = setInterval(() => {
      while (dueMs(this.#sent) <= performance.now())
        void this.#send(this.#sent % this.#pools.length, dueMs(this.#sent++));
    }, TICK_MS);
  }

  /** Returns what was seen since the last call. */
  nextReport(): LoadReport {
    const latenciesMs = this.#latenciesMs;
    const report = {
      answers: latenciesMs.length,
      admitted: this.#admitted,
      failed: this.#failed,
      p99Ms: percentile(latenciesMs, 0.99),
      slowestMs: Math.max(0, ...latenciesMs),
    };
    [this.#latenciesMs, this.#admitted, this.#failed] = [[], 0, 0];
    return report;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  async #send(place: number, dueMs: number): Promise<void> {
    const pool = this.#pools[place] as Pool;
    const status = await pool.request({ method: 'GET', path: '/api/v1/slot' }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => 0,
    );
    this.#latenciesMs.push(performance.now() - dueMs);
    if (status === 200) this.#admitted++;
    else if (status !== 429) this.#failed++;
  }
}
