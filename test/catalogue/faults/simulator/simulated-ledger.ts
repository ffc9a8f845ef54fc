import type { Slot } from '../../../../src/shared/domain/slot.ts';

/** The true balances of some accounts at every slot. */
export class SimulatedLedger {
  readonly addresses: readonly string[];
  readonly slots: Slot[] = [100];
  readonly #changeProbability: number;
  readonly #changes: ReadonlyMap<string, { readonly slot: Slot; readonly lamports: number }[]>;
  #last = 0;

  /** Creates a ledger in which an account changes in a slot with probability `changeProbability`. */
  constructor(addresses: readonly string[], changeProbability: number) {
    this.#changeProbability = changeProbability;
    this.addresses = addresses;
    this.#changes = new Map(addresses.map((address) => [address, [{ slot: 0, lamports: 0 }]]));
  }

  get newest(): Slot {
    return this.slots.at(-1) ?? 0;
  }

  /** Adds a slot in which some accounts change and some are emptied. */
  addSlot(random: () => number): void {
    const slot = this.newest + (random() < 0.1 ? 2 : 1);
    for (const changes of this.#changes.values()) {
      if (random() < this.#changeProbability) changes.push({ slot, lamports: random() < 0.2 ? 0 : ++this.#last });
    }
    this.slots.push(slot);
  }

  balance(address: string, slot: Slot): number {
    return this.#at(address, slot).lamports;
  }

  /** Returns the slot of the newest change up to `slot`. */
  lastChangeSlot(address: string, slot: Slot): Slot {
    return this.#at(address, slot).slot;
  }

  #at(address: string, slot: Slot): { readonly slot: Slot; readonly lamports: number } {
    const change = this.#changes.get(address)?.findLast((change) => change.slot <= slot);
    if (change === undefined) throw new Error(`nothing is known of ${address} at ${slot}`);
    return change;
  }
}
