import type { Proof } from '../domain/proof.ts';
import type { Slot } from '../domain/slot.ts';

/** What is kept live: from which slot on, and what vouches for it. */
export interface Kept {
  readonly slot: Slot;
  readonly held: Proof | undefined;
}

/** A reading of a slot that disagrees with what is kept. */
interface Doubt<T> {
  readonly kept: T;
  readonly slot: Slot;
  readonly keptAt: Slot;
}

/** A claim that was false, and the slots that show it. */
interface FalseClaim<T> {
  readonly kept: T;
  readonly slots: object;
}

/** Disagreements that an audit has found: each is news on its way, unless everything up to its slot has been told. */
export class Doubts<T extends Kept> {
  #doubts: Doubt<T>[] = [];

  add(kept: T, slot: Slot): void {
    this.#doubts.push({ kept, slot, keptAt: kept.slot });
  }

  /** Looks again at all of them. Returns what was claimed falsely, if anything was. */
  resolve(): FalseClaim<T> | undefined {
    if (this.#doubts.length === 0) return undefined;
    const open = this.#doubts.filter(({ kept, keptAt }) => kept.held !== undefined && kept.slot === keptAt);
    const isFalse = ({ kept, slot }: Doubt<T>): boolean => kept.held !== undefined && kept.held.slot >= slot;
    this.#doubts = open.filter((doubt) => !isFalse(doubt));
    const wrong = open.find(isFalse);
    if (wrong === undefined) return undefined;
    const { kept, keptAt, slot } = wrong;
    return { kept, slots: { from: keptAt, claimed: kept.held?.slot, read: slot } };
  }

  clear(): void {
    this.#doubts = [];
  }
}
