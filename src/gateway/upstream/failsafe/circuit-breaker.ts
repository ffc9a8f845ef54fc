import type { Clock } from '../../../shared/domain/clock.ts';
import { SlidingWindow } from './sliding-window.ts';

/** Result of an attempt. `ignored`: it says nothing about the node. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'ignored';

const WINDOW_SECONDS = 10;
const MIN_ATTEMPTS = 20;
const MAX_FAILURE_RATE = 0.5;
const PROBE_AFTER_MS = 1000;

/** Stops when at least half of at least 20 within 10 s have failed; one attempt a second later probes. */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #attempts: SlidingWindow;
  readonly #failed: SlidingWindow;
  #openedAtMs: number | undefined;
  #isProbing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#attempts = new SlidingWindow(clock, WINDOW_SECONDS);
    this.#failed = new SlidingWindow(clock, WINDOW_SECONDS);
  }

  get allowsAttempt(): boolean {
    return this.#openedAtMs === undefined || (this.#isProbeDue() && !this.#isProbing);
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  /** Starts an attempt, allowed or not. The caller calls the returned function once with its outcome. */
  startAttempt(): (outcome: AttemptOutcome) => void {
    const isProbe = this.#isProbeDue(); // also beside another, which may be slow
    if (isProbe) this.#isProbing = true;
    return (outcome) => {
      if (isProbe) this.#endProbe(outcome);
      else if (outcome !== 'ignored' && !this.isOpen) this.#record(outcome);
    };
  }

  #isProbeDue(): boolean {
    return this.#openedAtMs !== undefined && this.#clock.monotonic() - this.#openedAtMs >= PROBE_AFTER_MS;
  }

  #endProbe(outcome: AttemptOutcome): void {
    this.#isProbing = false;
    if (outcome === 'succeeded') this.#openedAtMs = undefined;
    else if (outcome === 'failed' && this.isOpen) this.#openedAtMs = this.#clock.monotonic();
  }

  #record(outcome: AttemptOutcome): void {
    this.#attempts.record();
    if (outcome !== 'failed') return;
    this.#failed.record();
    const attempts = this.#attempts.count;
    if (attempts < MIN_ATTEMPTS || this.#failed.count < attempts * MAX_FAILURE_RATE) return;
    this.#openedAtMs = this.#clock.monotonic();
    this.#attempts.clear();
    this.#failed.clear();
  }
}
