import type { Surroundings } from '../options.ts';
import { backoffMs } from './backoff.ts';

/** How long a node is left alone after a connection to it was lost: the longer, the more were lost in a row. */
export class Rest {
  readonly #surroundings: Surroundings;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** For how many milliseconds yet; 0 when it may be tried. */
  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#surroundings.clock.monotonic());
  }

  /** A connection is lost. Those that are lost together count once. */
  begin(): void {
    if (this.leftMs > 0) return;
    const now = this.#surroundings.clock.monotonic();
    const isInRow = now - this.#untilMs < this.#surroundings.settings.backoffMaxMs;
    this.#failures = isInRow ? this.#failures + 1 : 1;
    this.#untilMs = now + backoffMs(this.#failures, this.#surroundings);
  }
}
