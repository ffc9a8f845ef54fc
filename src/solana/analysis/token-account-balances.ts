import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { asDecimals, asObject, asString } from '../codec/json-fields.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import type { TokenBalance, Transaction } from '../transactions/transaction.ts';

/** What is known of a token account at one moment of a transaction. */
export interface TokenAccountBalance {
  readonly mint: string;
  readonly owner: string | null;
  readonly amount: bigint;
}

/** Token accounts as the balances before, or those after, tell them. */
export function tokenAccountBalances(balances: readonly TokenBalance[] | null): Map<string, TokenAccountBalance> {
  return new Map((balances ?? []).map(({ account, mint, owner, amount }) => [account, { mint, owner, amount }]));
}

/** How many decimals each mint has that the transaction names, as far as its record tells. */
export function collectMintDecimals({
  preTokenBalances,
  postTokenBalances,
  instructions,
}: Transaction): Map<string, number> {
  const decimalsByMint = new Map([[WRAPPED_SOL, 9]]);
  for (const { parsed } of inExecutionOrder(instructions)) {
    const { mint, decimals, tokenAmount } = parsed?.info ?? {};
    const { decimals: amountDecimals } = asObject(tokenAmount);
    const found = asDecimals(decimals) ?? asDecimals(amountDecimals);
    if (typeof mint === 'string' && found !== null) decimalsByMint.set(mint, found);
  }
  for (const { mint, decimals } of [...(preTokenBalances ?? []), ...(postTokenBalances ?? [])]) {
    decimalsByMint.set(mint, decimals);
  }
  return decimalsByMint;
}

/** The account, mint and owner that an instruction makes a token account of; null when it does something else. */
export function initializedTokenAccount({
  program,
  parsed,
}: Instruction): (TokenAccountBalance & { readonly account: string }) | null {
  if (program !== 'spl-token' || !parsed?.type.startsWith('initializeAccount')) return null;
  const { account, mint, owner } = parsed.info;
  if (typeof account !== 'string' || typeof mint !== 'string') return null;
  return { account, mint, owner: asString(owner), amount: 0n };
}
