import { openSync, readSync } from 'node:fs';

/** How often the CPU time is read: turns that end within that time count as one. */
const SAMPLE_MS = 1;

/**
 * Measures the turns of this process's main thread by the CPU time of that thread alone, so that neither other threads
 * nor other processes count, as they would in a delay by the clock. It reports a turn up to {@link SAMPLE_MS} too long,
 * never too short. Needs Linux, and the main thread.
 */
export class TurnMeter {
  readonly #schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(64);
  #cpuMs = this.#readCpuMs();
  #longestMs = 0;
  #sinceMs = performance.now();

  constructor() {
    setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  /** Returns the CPU milliseconds of the longest turn since the last call, except the one that runs, and the time since. */
  lap(): { readonly longestMs: number; readonly elapsedMs: number } {
    const nowMs = performance.now();
    const lap = { longestMs: this.#longestMs, elapsedMs: nowMs - this.#sinceMs };
    [this.#longestMs, this.#sinceMs] = [0, nowMs];
    return lap;
  }

  #sample(): void {
    const cpuMs = this.#readCpuMs();
    this.#longestMs = Math.max(this.#longestMs, cpuMs - this.#cpuMs);
    this.#cpuMs = cpuMs;
  }

  #readCpuMs(): number {
    process.cpuUsage(); // the kernel then brings the thread's CPU time up to date, which else lags by up to 4 ms
    const length = readSync(this.#schedstat, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
  }
}
