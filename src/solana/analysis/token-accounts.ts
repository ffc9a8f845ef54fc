import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { decimalPlaces, object, text } from '../codec/recorded.ts';
import { type Instruction, inOrder } from '../transactions/instruction.ts';
import type { TokenBalance, Transaction } from '../transactions/transaction.ts';

/** What is known of a token account at one moment of a transaction. */
export interface TokenAccount {
  readonly mint: string;
  readonly owner: string | null;
  readonly amount: bigint;
}

/** Token accounts as the balances before, or those after, tell them. */
export function tokenAccounts(balances: readonly TokenBalance[] | null): Map<string, TokenAccount> {
  return new Map((balances ?? []).map(({ account, mint, owner, amount }) => [account, { mint, owner, amount }]));
}

/** How many decimals each mint has that the transaction names, as far as its record tells. */
export function mintDecimals({ preTokenBalances, postTokenBalances, instructions }: Transaction): Map<string, number> {
  const known = new Map([[WRAPPED_SOL, 9]]);
  for (const { parsed } of inOrder(instructions)) {
    const { mint, decimals, tokenAmount } = parsed?.info ?? {};
    const { decimals: ofAmount } = object(tokenAmount);
    const told = decimalPlaces(decimals) ?? decimalPlaces(ofAmount);
    if (typeof mint === 'string' && told !== null) known.set(mint, told);
  }
  for (const { mint, decimals } of [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])]) {
    known.set(mint, decimals);
  }
  return known;
}

/** The account, mint and owner that an instruction makes a token account of; null when it does something else. */
export function opened({ program, parsed }: Instruction): (TokenAccount & { readonly account: string }) | null {
  if (program !== 'spl-token' || !parsed?.type.startsWith('initializeAccount')) return null;
  const { account, mint, owner } = parsed.info;
  if (typeof account !== 'string' || typeof mint !== 'string') return null;
  return { account, mint, owner: text(owner), amount: 0n };
}
