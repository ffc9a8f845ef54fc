import type { Clock } from '../../domain/clock.ts';

/** Result of an attempt. `ignored`: it says nothing about the node. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'ignored';

const BUCKET_MS = 1000;
const BUCKETS = 10;
const MIN_ATTEMPTS = 20;
const MAX_FAILURE_RATE = 0.5;
const PROBE_AFTER_MS = 1000;

interface Bucket {
  readonly number: number;
  attempts: number;
  failed: number;
}

/**
 * Stops attempts when at least half of at least 20 within 10 s have failed, and allows one a second later to probe
 * whether it may close.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  #buckets: Bucket[] = [];
  #openedAtMs: number | undefined;
  #isProbing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when an attempt should be made now. */
  get allowsAttempt(): boolean {
    return this.#openedAtMs === undefined || (this.#isProbeDue() && !this.#isProbing);
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== undefined;
  }

  /** Starts an attempt, allowed or not. The caller calls the returned function once with its outcome. */
  startAttempt(): (outcome: AttemptOutcome) => void {
    const isProbe = this.isOpen && this.allowsAttempt;
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
    else if (outcome === 'failed') this.#openedAtMs = this.#clock.monotonic();
  }

  #record(outcome: AttemptOutcome): void {
    const number = Math.floor(this.#clock.monotonic() / BUCKET_MS);
    this.#buckets = this.#buckets.filter((bucket) => bucket.number > number - BUCKETS);
    let bucket = this.#buckets.at(-1);
    if (bucket?.number !== number) {
      bucket = { number, attempts: 0, failed: 0 };
      this.#buckets.push(bucket);
    }
    bucket.attempts++;
    if (outcome !== 'failed') return;
    bucket.failed++;
    const attempts = this.#buckets.reduce((sum, { attempts }) => sum + attempts, 0);
    const failed = this.#buckets.reduce((sum, { failed }) => sum + failed, 0);
    if (attempts < MIN_ATTEMPTS || failed < attempts * MAX_FAILURE_RATE) return;
    this.#openedAtMs = this.#clock.monotonic();
    this.#buckets = [];
  }
}
