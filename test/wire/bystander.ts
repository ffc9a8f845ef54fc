import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** An honest caller who asks for the slot again and again while others do what they do. */
export class Bystander {
  asked = 0;
  failed = 0;
  readonly #pool: Pool;
  readonly #working: Promise<void>;
  #tookMs: number[] = [];
  #stopped = false;

  constructor(url: string) {
    this.#pool = new Pool(url, { connections: 1 });
    this.#working = this.#work();
  }

  /** The time below which 99 of 100 answers came, since this was last asked. */
  takeP99Ms(): number {
    const sorted = this.#tookMs.toSorted((a, b) => a - b);
    this.#tookMs = [];
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#working;
    await this.#pool.destroy();
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const beganMs = performance.now();
      this.asked++;
      try {
        const { statusCode, body } = await this.#pool.request({ method: 'GET', path: '/api/v1/slot' });
        await body.dump();
        if (statusCode !== 200) this.failed++;
      } catch {
        this.failed++;
      }
      this.#tookMs.push(performance.now() - beganMs);
      await sleep(5);
    }
  }
}
