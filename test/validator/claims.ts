import type { Ledger } from './ledger.ts';

/** Something that was said of a slot. */
export interface Claim {
  /** By which way it came, such as `answer` or `push`. */
  readonly way: string;
  /** What it is about, for whoever looks for the reason of a difference. */
  readonly about: string;
  readonly slot: number;
  readonly said: unknown;
  /** What should have been said. */
  recorded(ledger: Ledger): unknown;
}

/** What was said and has not been compared with the blocks yet, and what came of the rest. */
export class Claims {
  readonly #compared = new Map<string, number>();
  readonly #differences = new Map<string, object>();
  #false = 0;
  #open: Claim[] = [];

  add(claim: Claim): void {
    this.#open.push(claim);
  }

  /** How many were compared, by the way they came. */
  get compared(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#compared);
  }

  /** How many the blocks contradict. */
  get false(): number {
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
  compare(ledger: Ledger): void {
    const due = this.#open.filter(({ slot }) => slot <= ledger.through);
    this.#open = this.#open.filter(({ slot }) => slot > ledger.through);
    for (const { way, about, slot, said, recorded } of due) {
      this.#compared.set(way, (this.#compared.get(way) ?? 0) + 1);
      const truth = recorded(ledger);
      if (JSON.stringify(said) === JSON.stringify(truth)) continue;
      this.#false++;
      this.#differences.set(`${about} ${slot}`, { way, about, slot, said, truth });
    }
  }
}
