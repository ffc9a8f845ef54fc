import type { Proof, ProofState } from '../domain/proof.ts';
import type { Slot } from '../domain/slot.ts';
import type { Watermark } from './watermark.ts';

/** One state of an account that is kept live, from the slot it was learned at until there is news. */
export class Held implements Proof {
  readonly #mark: Watermark;
  readonly #touch: (tip: Slot) => void;
  readonly #listeners = new Map<string, () => void>();
  #at: Slot;
  #end: { readonly slot: Slot; readonly provenMs: number } | undefined;

  constructor(at: Slot, mark: Watermark, touch: (tip: Slot) => void) {
    this.#at = at;
    this.#mark = mark;
    this.#touch = touch;
  }

  get state(): ProofState {
    if (this.#end !== undefined) return 'superseded';
    if (this.#mark.lost) return 'lost';
    return this.#mark.behind ? 'behind' : 'live';
  }

  get slot(): Slot {
    return this.#end?.slot ?? Math.max(this.#at, this.#mark.slot);
  }

  get behindSlots(): number {
    return this.#mark.behindSlots;
  }

  get provenMs(): number {
    return Math.min(this.#end?.provenMs ?? Number.POSITIVE_INFINITY, this.#mark.provenMs); // all of it may be disowned
  }

  touch(tip: Slot): void {
    this.#touch(tip);
  }

  onNews(name: string, listener: () => void): void {
    if (this.#end === undefined) this.#listeners.set(name, listener);
  }

  offNews(name: string): void {
    this.#listeners.delete(name);
  }

  /** The same state was met at a later slot. */
  confirm(at: Slot): void {
    this.#at = at;
  }

  /** A newer state has taken its place: what it claims stands still. */
  supersede(): void {
    this.#end = { slot: this.slot, provenMs: this.provenMs };
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
