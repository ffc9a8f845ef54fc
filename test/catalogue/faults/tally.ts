/** Counts of a load's requests since the last reset. */
export class Tally {
  readonly beganMs = performance.now();
  requested = 0;
  answered = 0;
  /** Requests with another status than 200, or without an answer. */
  failed = 0;
  /** Requests not sent because too many were in flight: they would have measured the load generator. */
  skipped = 0;
  /** Wrong results, invalid receipts, and slots of the future. */
  wrong = 0;
  /** Answers with an older slot than an earlier one. */
  regressed = 0;
  /** Verified receipts. */
  verified = 0;
  /** Answers that contain secret text of a node. */
  leaked = 0;
  readonly failures = new Map<string, number>();
  readonly examples: string[] = [];
  readonly #latenciesMs: number[] = [];

  get seconds(): number {
    return (performance.now() - this.beganMs) / 1000;
  }

  get slowestMs(): number {
    return this.#latenciesMs.reduce((most, ms) => Math.max(most, ms), 0);
  }

  /** Returns the latency below which this share of the answers arrived. */
  quantileMs(share: number): number {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }

  recordLatency(ms: number): void {
    this.#latenciesMs.push(ms);
  }

  recordFailure(what: string): void {
    this.failed++;
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }

  /** Counts a violation and keeps the first few as examples. */
  recordViolation(what: 'wrong' | 'regressed' | 'leaked', example: string): void {
    this[what]++;
    if (this.examples.length < 5) this.examples.push(`${what}: ${example.slice(0, 600)}`);
  }
}
