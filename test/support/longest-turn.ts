import { closeSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** CPU time that the main thread's turns of the event loop took, in milliseconds. */
export interface TurnCosts {
  /** The longest turn. */
  readonly longestMs: number;
  /** All turns that took more than {@link LONG_TURN_MS}, together. */
  readonly longTurnsMs: number;
  /** All turns together. */
  readonly totalMs: number;
  /** Time by the clock in which these turns ran. */
  readonly elapsedMs: number;
}

/** Turns above this share one bound, besides that of the single turn. */
const LONG_TURN_MS = 2;

/** How often the CPU time is read: turns that end within so long count as one. */
const SAMPLE_MS = 1;

const NONE = { longestMs: 0, longTurnsMs: 0, totalMs: 0 };

/**
 * Measures the turns of this process's main thread by the CPU time of that thread alone, so that neither other threads
 * nor other processes count, as they would in a delay by the clock. It reports a turn up to {@link SAMPLE_MS} too long,
 * never too short. Needs Linux.
 */
export class TurnMeter {
  readonly #schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  readonly #buffer = Buffer.alloc(64);
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  #cpuMs = this.#readCpuMs();
  #costs = { ...NONE };
  #sinceMs = performance.now();

  constructor() {
    if (!isMainThread) throw new Error('only the turns of the main thread can be measured');
  }

  /** Returns what all turns since the last call cost, except the one that runs. */
  take(): TurnCosts {
    const nowMs = performance.now();
    const taken = { ...this.#costs, elapsedMs: nowMs - this.#sinceMs };
    this.#costs = { ...NONE };
    this.#sinceMs = nowMs;
    return taken;
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.#schedstat);
  }

  #sample(): void {
    const cpuMs = this.#readCpuMs();
    const turnMs = cpuMs - this.#cpuMs;
    this.#cpuMs = cpuMs;
    this.#costs.totalMs += turnMs;
    this.#costs.longestMs = Math.max(this.#costs.longestMs, turnMs);
    if (turnMs > LONG_TURN_MS) this.#costs.longTurnsMs += turnMs;
  }

  #readCpuMs(): number {
    process.cpuUsage(); // has the kernel bring the thread's CPU time up to date, which else lags by up to 4 ms
    const length = readSync(this.#schedstat, this.#buffer, 0, this.#buffer.length, 0);
    return Number(this.#buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
  }
}
