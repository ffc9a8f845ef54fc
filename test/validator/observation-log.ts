import type { BlockLedger } from './block-ledger.ts';

export interface Observation {
  /** Source, such as `balance` or `push`. */
  readonly source: string;
  /** Subject, to find the reason of a difference. */
  readonly subject: string;
  readonly slot: number;
  readonly observed: unknown;
  expected(ledger: BlockLedger): unknown;
}

/** Observations that are not compared with the blocks yet, and the results of the others. */
export class ObservationLog {
  readonly #compared = new Map<string, number>();
  readonly #differences = new Map<string, object>();
  #false = 0;
  #open: Observation[] = [];

  add(claim: Observation): void {
    this.#open.push(claim);
  }

  /** Number of compared observations by source. */
  get compared(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#compared);
  }

  /** Number of observations that the blocks contradict. */
  get contradictedCount(): number {
    return this.#false;
  }

  /** Contradicted observations, each once. */
  get differences(): readonly object[] {
    return [...this.#differences.values()];
  }

  get newestSlot(): number {
    return this.#open.reduce((newest, { slot }) => Math.max(newest, slot), 0);
  }

  /** Compares the observations that the ledger has reached. */
  compare(ledger: BlockLedger): void {
    const due = this.#open.filter(({ slot }) => slot <= ledger.completeThrough);
    this.#open = this.#open.filter(({ slot }) => slot > ledger.completeThrough);
    for (const { source, subject, slot, observed, expected } of due) {
      this.#compared.set(source, (this.#compared.get(source) ?? 0) + 1);
      const truth = expected(ledger);
      if (JSON.stringify(observed) === JSON.stringify(truth)) continue;
      this.#false++;
      this.#differences.set(`${subject} ${slot}`, { way: source, about: subject, slot, said: observed, truth });
    }
  }
}
