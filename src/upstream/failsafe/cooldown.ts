import type { UpstreamDeps } from '../upstream-options.ts';
import { backoffMs } from './jittered-backoff.ts';

/** Pause after a lost connection, which grows with each loss in a row. */
export class Cooldown {
  readonly #deps: UpstreamDeps;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
  }

  /** Milliseconds until the next attempt; 0 if now. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#deps.clock.monotonic());
  }

  /** Starts the pause after a loss. Losses during a pause count as one. */
  start(): void {
    if (this.remainingMs > 0) return;
    const now = this.#deps.clock.monotonic();
    const isInRow = now - this.#untilMs < this.#deps.settings.backoffMaxMs;
    this.#failures = isInRow ? this.#failures + 1 : 1;
    this.#untilMs = now + backoffMs(this.#failures, this.#deps);
  }
}
