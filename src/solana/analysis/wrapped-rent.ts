import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { whole } from '../codec/recorded.ts';
import { inOrder } from '../transactions/instruction.ts';
import type { TokenBalance, Transaction } from '../transactions/transaction.ts';

/** Mainnet's rent for the 165 bytes of a token account. https://solana.com/docs/core/accounts#rent */
const TOKEN_ACCOUNT_RENT = 2_039_280n;
const TOKEN_ACCOUNT_SPACE = 165n;

/**
 * Tells how many lamports of a wrapped-SOL account are rent and no tokens: what its own balances say; else what the
 * associated-token program paid for an account in this transaction; else the least that the balances of the other
 * wrapped-SOL accounts say (not every cluster asks for mainnet's rent); else mainnet's rent.
 */
export function wrappedRent(transaction: Transaction): (account: string) => bigint {
  const { accounts, preBalances, preTokenBalances, postBalances, postTokenBalances } = transaction;
  const places = new Map(accounts.map(({ address }, place) => [address, place]));
  const told = new Map<string, bigint>();
  const learn = (balances: readonly TokenBalance[] | null, lamports: readonly bigint[]): void => {
    for (const { account, mint, amount } of balances ?? []) {
      const all = lamports[places.get(account) ?? -1];
      // in an honest record there always is some
      if (mint === WRAPPED_SOL && all !== undefined && all > amount) told.set(account, all - amount);
    }
  };
  learn(preTokenBalances, preBalances);
  learn(postTokenBalances, postBalances);
  const otherwise = paidRent(transaction) ?? [...told.values()].reduce((a, b) => (b < a ? b : a), TOKEN_ACCOUNT_RENT);
  return (account) => told.get(account) ?? otherwise;
}

/** What a program, and no person, paid for an account of this size: programs pay the rent and no more. */
function paidRent({ instructions }: Transaction): bigint | null {
  for (const { innerIndex, parsed } of inOrder(instructions)) {
    if (innerIndex === null || parsed?.type !== 'createAccount') continue;
    const { lamports, space } = parsed.info;
    if (whole(space) === TOKEN_ACCOUNT_SPACE) return whole(lamports);
  }
  return null;
}
