import { WRAPPED_SOL } from './known-mints.ts';
import type { TokenBalance, Transaction } from './transaction.ts';

/** Mainnet's rent for the 165 bytes of a token account. https://solana.com/docs/core/accounts#rent */
const TOKEN_ACCOUNT_RENT = 2_039_280n;

/**
 * Tells how many lamports of a wrapped-SOL account are rent and no tokens: what its own balances say, else the least
 * that those of the transaction's other ones say (other clusters ask for another rent), else mainnet's rent.
 */
export function wrappedRent(transaction: Transaction): (account: string) => bigint {
  const { accounts, preBalances, preTokenBalances, postBalances, postTokenBalances } = transaction;
  const places = new Map(accounts.map(({ address }, place) => [address, place]));
  const told = new Map<string, bigint>();
  const learn = (balances: readonly TokenBalance[] | null, lamports: readonly bigint[]): void => {
    for (const { account, mint, amount } of balances ?? []) {
      const all = lamports[places.get(account) ?? -1];
      if (mint === WRAPPED_SOL && all !== undefined) told.set(account, all - amount);
    }
  };
  learn(preTokenBalances, preBalances);
  learn(postTokenBalances, postBalances);
  const least = [...told.values()].reduce((a, b) => (b < a ? b : a), TOKEN_ACCOUNT_RENT);
  return (account) => told.get(account) ?? least;
}
