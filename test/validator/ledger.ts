import { ask } from './wallet.ts';

interface Block {
  readonly transactions: readonly {
    readonly transaction: { readonly accountKeys: readonly { readonly pubkey: string }[] };
    readonly meta: { readonly postBalances: readonly number[] };
  }[];
}

/** What the blocks themselves record: the balance of an account after each slot that touched it. */
export interface Ledger {
  /** The balance after `slot`, 0 before the first change. */
  balance(account: string, slot: number): number;
}

/** Reads the blocks `from` to `to` of a node, which must be finalized. */
export async function readLedger(url: string, from: number, to: number): Promise<Ledger> {
  const changes = new Map<string, { slot: number; lamports: number }[]>();
  for (const slot of await ask<number[]>(url, 'getBlocks', [from, to])) {
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 1 };
    const { transactions } = await ask<Block>(url, 'getBlock', [slot, config]);
    for (const { transaction, meta } of transactions) {
      transaction.accountKeys.forEach(({ pubkey }, i) => {
        changes.set(pubkey, [...(changes.get(pubkey) ?? []), { slot, lamports: meta.postBalances[i] ?? 0 }]);
      });
    }
  }
  return {
    balance: (account, slot) => changes.get(account)?.findLast((change) => change.slot <= slot)?.lamports ?? 0,
  };
}
