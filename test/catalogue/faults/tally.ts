/** What came of the requests of a load since it was last taken. */
export class Tally {
  readonly beganMs = performance.now();
  requested = 0;
  answered = 0;
  /** Those that got another status than 200, or none at all. */
  failed = 0;
  /** Not sent, since too many were waiting: the load would only have measured itself. */
  skipped = 0;
  /** Results or receipts that are not true, and slots of the future. */
  wrong = 0;
  /** Answers of an older slot than one that was given before. */
  regressed = 0;
  /** Receipts that were verified. */
  verified = 0;
  /** Answers that hold some text of the node that nobody may see. */
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

  /** The time below which this share of the answers came. */
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

  /** Counts something that must not be, and keeps the first few to be looked at. */
  recordViolation(what: 'wrong' | 'regressed' | 'leaked', example: string): void {
    this[what]++;
    if (this.examples.length < 5) this.examples.push(`${what}: ${example.slice(0, 600)}`);
  }
}
