import type { UpstreamDeps } from '../upstream-options.ts';
import { backoffMs } from './exponential-backoff.ts';

/** How long a node is left alone after a connection to it was lost: the longer, the more were lost in a row. */
export class Cooldown {
  readonly #deps: UpstreamDeps;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
  }

  /** For how many milliseconds yet; 0 when it may be tried. */
  get remainingMs(): number {
    return Math.max(0, this.#untilMs - this.#deps.clock.monotonic());
  }

  /** A connection is lost. Those that are lost together count once. */
  start(): void {
    if (this.remainingMs > 0) return;
    const now = this.#deps.clock.monotonic();
    const isInRow = now - this.#untilMs < this.#deps.settings.backoffMaxMs;
    this.#failures = isInRow ? this.#failures + 1 : 1;
    this.#untilMs = now + backoffMs(this.#failures, this.#deps);
  }
}
