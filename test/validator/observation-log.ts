import type { BlockLedger } from './block-ledger.ts';

/** Something that was said of a slot. */
export interface Observation {
  /** By which way it came, such as `answer` or `push`. */
  readonly source: string;
  /** What it is about, for whoever looks for the reason of a difference. */
  readonly subject: string;
  readonly slot: number;
  readonly observed: unknown;
  /** What should have been said. */
  expected(ledger: BlockLedger): unknown;
}

/** What was said and has not been compared with the blocks yet, and what came of the rest. */
export class ObservationLog {
  readonly #compared = new Map<string, number>();
  readonly #differences = new Map<string, object>();
  #false = 0;
  #open: Observation[] = [];

  add(claim: Observation): void {
    this.#open.push(claim);
  }

  /** How many were compared, by the way they came. */
  get compared(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#compared);
  }

  /** How many the blocks contradict. */
  get contradictedCount(): number {
    return this.#false;
  }

  /** What they contradict, each once however often it was said. */
  get differences(): readonly object[] {
    return [...this.#differences.values()];
  }

  get newestSlot(): number {
    return this.#open.reduce((newest, { slot }) => Math.max(newest, slot), 0);
  }

  /** Compares what the ledger has come to. */
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
