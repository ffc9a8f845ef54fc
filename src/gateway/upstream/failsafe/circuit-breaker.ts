import type { Clock } from '../../../shared/domain/clock.ts';
import { SlidingWindow } from './sliding-window.ts';

/** Result of an attempt. `ignored`: it says nothing about the node. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'ignored';

const WINDOW_SECONDS = 10;
const MIN_ATTEMPTS = 20;
const MAX_FAILURE_RATE = 0.5;
const PROBE_AFTER_MS = 1000;

/** Stops when at least half of at least 20 within 10 s have failed; from a second later on one attempt a second probes. */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #attempts: SlidingWindow;
  readonly #failed: SlidingWindow;
  /** From when on an attempt probes whether the node is back; undefined while it is closed. */
  #probeFromMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#attempts = new SlidingWindow(clock, WINDOW_SECONDS);
    this.#failed = new SlidingWindow(clock, WINDOW_SECONDS);
  }

  get allowsAttempt(): boolean {
    return this.#probeFromMs === undefined || this.#clock.monotonic() >= this.#probeFromMs;
  }

  get isOpen(): boolean {
    return this.#probeFromMs !== undefined;
  }

  /** Starts an attempt, allowed or not. The caller calls the returned function once with its outcome. */
  startAttempt(): (outcome: AttemptOutcome) => void {
    const isProbe = this.isOpen && this.allowsAttempt;
    if (isProbe) this.#open(); // the next may begin before it ends: it may be slow
    return (outcome) => {
      if (isProbe) this.#endProbe(outcome);
      else if (outcome !== 'ignored' && !this.isOpen) this.#record(outcome);
    };
  }

  #open(): void {
    this.#probeFromMs = this.#clock.monotonic() + PROBE_AFTER_MS;
  }

  #endProbe(outcome: AttemptOutcome): void {
    if (outcome === 'succeeded') this.#probeFromMs = undefined;
    else if (outcome === 'ignored' && this.isOpen) this.#probeFromMs = this.#clock.monotonic();
  }

  #record(outcome: AttemptOutcome): void {
    this.#attempts.record();
    if (outcome !== 'failed') return;
    this.#failed.record();
    const attempts = this.#attempts.count;
    if (attempts < MIN_ATTEMPTS || this.#failed.count < attempts * MAX_FAILURE_RATE) return;
    this.#open();
    this.#attempts.clear();
    this.#failed.clear();
  }
}
