import type { Slot } from '../../shared/domain/slot.ts';
import type { Block, LandedTransaction } from './produced-block.ts';

export interface LedgerLimits {
  readonly maxBlocks: number;
  readonly maxTransactions: number;
}

/** Blocks that a node keeps, indexed by slot, signature and address. The oldest block is dropped first. */
export class Ledger {
  readonly #limits: LedgerLimits;
  /** Sorted by slot. */
  readonly #blocks = new Map<Slot, Block>();
  readonly #slots: Slot[] = [];
  readonly #bySignature = new Map<string, LandedTransaction>();
  /** Oldest first. */
  readonly #byAddress = new Map<string, LandedTransaction[]>();

  constructor(limits: LedgerLimits) {
    this.#limits = limits;
  }

  get oldestBlock(): Block | undefined {
    return this.blockBelowNewest(this.#slots.length - 1);
  }

  get newestBlock(): Block | undefined {
    return this.blockBelowNewest(0);
  }

  blockBelowNewest(distance: number): Block | undefined {
    return this.#blocks.get(this.#slots.at(-1 - distance) ?? -1);
  }

  block(slot: Slot): Block | undefined {
    return this.#blocks.get(slot);
  }

  /** Returns the blocks with a slot above `after` and not above `through`, sorted by slot. */
  blocksBetween(after: Slot, through: Slot): Block[] {
    const from = this.#slots.findLastIndex((slot) => slot <= after) + 1;
    const to = this.#slots.findLastIndex((slot) => slot <= through) + 1;
    return this.#slots.slice(from, to).flatMap((slot) => this.#blocks.get(slot) ?? []);
  }

  transaction(signature: string): LandedTransaction | undefined {
    return this.#bySignature.get(signature);
  }

  /** Returns the transactions that name an address, oldest first. */
  transactionsOf(address: string): readonly LandedTransaction[] {
    return this.#byAddress.get(address) ?? [];
  }

  add(block: Block): void {
    this.#blocks.set(block.slot, block);
    this.#slots.push(block.slot);
    for (const landed of block.transactions) {
      this.#bySignature.set(landed.signature, landed);
      for (const key of landed.accountKeys) {
        const list = this.#byAddress.get(key);
        if (list === undefined) this.#byAddress.set(key, [landed]);
        else list.push(landed);
      }
    }
  }

  /** Drops the oldest blocks beyond the limits, but none at or above `root`. */
  trim(root: Slot): void {
    for (
      let oldest = this.oldestBlock;
      oldest !== undefined && oldest.slot < root && this.#isOverLimit();
      oldest = this.oldestBlock
    ) {
      this.#removeBlock(oldest, 'oldest');
      this.#slots.shift();
    }
  }

  /** Drops every block above `slot`, newest first, as a fork does; returns them. */
  truncate(slot: Slot): Block[] {
    const dropped: Block[] = [];
    for (let newest = this.newestBlock; newest !== undefined && newest.slot > slot; newest = this.newestBlock) {
      this.#removeBlock(newest, 'newest');
      this.#slots.pop();
      dropped.push(newest);
    }
    return dropped;
  }

  #isOverLimit(): boolean {
    return this.#slots.length > this.#limits.maxBlocks || this.#bySignature.size > this.#limits.maxTransactions;
  }

  #removeBlock(block: Block, end: 'oldest' | 'newest'): void {
    this.#blocks.delete(block.slot);
    for (const { signature, accountKeys } of block.transactions) {
      this.#bySignature.delete(signature);
      for (const key of accountKeys) {
        const list = this.#byAddress.get(key);
        if (end === 'oldest') list?.shift();
        else list?.pop(); // blocks leave at either end only, so their transactions are at that end of each list
        if (list?.length === 0) this.#byAddress.delete(key);
      }
    }
  }
}
