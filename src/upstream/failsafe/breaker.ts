import type { Clock } from '../../domain/clock.ts';

/** How an attempt ended. `void`: it says nothing about the other end. */
export type Outcome = 'answered' | 'failed' | 'void';

const BUCKET_MS = 1000;
const BUCKETS = 10;
const MIN_ATTEMPTS = 20;
const MAX_FAILED = 0.5;
const PROBE_MS = 1000;

interface Bucket {
  readonly number: number;
  attempts: number;
  failed: number;
}

/**
 * A circuit breaker: opens when at least half of at least 20 attempts within 10 s have failed, and lets one through
 * after a second to see whether it may close.
 */
export class Breaker {
  readonly #clock: Clock;
  #buckets: Bucket[] = [];
  #openedMs: number | undefined;
  #probing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether an attempt should be made now. */
  get ready(): boolean {
    return this.#openedMs === undefined || (this.#probeIsDue() && !this.#probing);
  }

  get open(): boolean {
    return this.#openedMs !== undefined;
  }

  /** Begins an attempt, ready or not; the returned function is called once with how it ended. */
  begin(): (outcome: Outcome) => void {
    const probe = this.open && this.ready;
    if (probe) this.#probing = true;
    return (outcome) => {
      if (probe) this.#probed(outcome);
      else if (outcome !== 'void' && !this.open) this.#count(outcome);
    };
  }

  #probeIsDue(): boolean {
    return this.#openedMs !== undefined && this.#clock.monotonic() - this.#openedMs >= PROBE_MS;
  }

  #probed(outcome: Outcome): void {
    this.#probing = false;
    if (outcome === 'answered') this.#openedMs = undefined;
    else if (outcome === 'failed') this.#openedMs = this.#clock.monotonic();
  }

  #count(outcome: Outcome): void {
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
    if (attempts < MIN_ATTEMPTS || failed < attempts * MAX_FAILED) return;
    this.#openedMs = this.#clock.monotonic();
    this.#buckets = [];
  }
}
