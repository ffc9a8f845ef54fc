import type { Clock } from '../../domain/clock.ts';
import type { Read } from '../../domain/read-method.ts';
import { Pace } from './pace.ts';

/** What one node asks of us: a pace for each method, and one for all together once it refuses several. */
export class Paces {
  readonly #clock: Clock;
  readonly #all: Pace;
  readonly #methods = new Map<Read, Pace>();
  /** The method that was refused last, and until when its pause is. */
  #refused: { readonly method: Read; readonly untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new Pace(clock);
  }

  /** For how long the node is to be left alone with this method. */
  waitMs(method: Read): number {
    return Math.max(this.#all.waitMs, this.#of(method).waitMs);
  }

  sent(method: Read): void {
    this.#all.sent();
    this.#of(method).sent();
  }

  /** A second method refused while the first one rests: then it is not about the method. */
  refused(method: Read, pauseMs: number): void {
    const now = this.#clock.monotonic();
    const other = this.#refused;
    if (other !== undefined && other.method !== method && now < other.untilMs) this.#all.refused(pauseMs);
    this.#of(method).refused(pauseMs);
    this.#refused = { method, untilMs: now + pauseMs };
  }

  #of(method: Read): Pace {
    const known = this.#methods.get(method);
    if (known !== undefined) return known;
    const pace = new Pace(this.#clock);
    this.#methods.set(method, pace);
    return pace;
  }
}
