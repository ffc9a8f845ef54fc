import type { Slot } from '../../shared/domain/slot.ts';
import type { Block } from './produced-block.ts';
import { unitPriceOf } from './transaction-fee.ts';

/** Lowest price that landed in a slot, in micro-lamports per compute unit. */
export interface PrioritizationFee {
  readonly slot: Slot;
  readonly fee: bigint;
}

/**
 * Returns, for each block, the price that was needed to land while writing to all of `addresses`: that of the cheapest
 * transaction, or of the cheapest that wrote to the most expensive of the addresses, whichever is higher.
 */
export function prioritizationFeesOf(blocks: readonly Block[], addresses: readonly string[]): PrioritizationFee[] {
  return blocks.map(({ slot, transactions }) => {
    let cheapest: bigint | undefined;
    const cheapestWrite = new Map<string, bigint>();
    for (const { transaction, accountKeys, writable } of transactions) {
      const price = unitPriceOf(transaction.message);
      if (cheapest === undefined || price < cheapest) cheapest = price;
      for (const address of addresses) {
        if (!writable[accountKeys.indexOf(address)]) continue;
        const known = cheapestWrite.get(address);
        if (known === undefined || price < known) cheapestWrite.set(address, price);
      }
    }
    let fee = cheapest ?? 0n;
    for (const write of cheapestWrite.values()) if (write > fee) fee = write;
    return { slot, fee };
  });
}
