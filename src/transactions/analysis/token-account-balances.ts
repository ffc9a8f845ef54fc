import { WRAPPED_SOL_MINTS } from '../../shared/domain/known-mints.ts';
import { oncePer } from '../../shared/runtime/once-per.ts';
import { asDecimals, asObject, asString } from '../codec/json-fields.ts';
import { type Instruction, inExecutionOrder } from '../records/instruction.ts';
import type { TokenBalance } from '../records/token-balance.ts';
import type { Transaction } from '../records/transaction.ts';
import { rentOf } from './wrapped-sol-rent.ts';

/** A token account at one point of a transaction. */
export interface TokenAccountBalance {
  readonly mint: string;
  readonly owner: string | null;
  readonly amount: bigint;
}

/** Returns token accounts by address, from the balances before or after. */
export function tokenAccountBalances(balances: readonly TokenBalance[] | null): Map<string, TokenAccountBalance> {
  return new Map((balances ?? []).map(({ account, mint, owner, amount }) => [account, { mint, owner, amount }]));
}

/** Returns the decimals of the mints before a transaction, as far as its record has them: a mint may be made again in it. */
export function collectMintDecimals({
  preTokenBalances,
  postTokenBalances,
  instructions,
}: Transaction): Map<string, number> {
  const decimalsByMint = new Map(WRAPPED_SOL_MINTS.map((mint) => [mint, 9]));
  for (const { mint, decimals } of postTokenBalances ?? []) decimalsByMint.set(mint, decimals);
  for (const { parsed } of inExecutionOrder(instructions).toReversed()) {
    const { mint, decimals, tokenAmount } = parsed?.info ?? {};
    const { decimals: amountDecimals } = asObject(tokenAmount);
    const found = asDecimals(decimals) ?? asDecimals(amountDecimals);
    if (typeof mint === 'string' && found !== null) decimalsByMint.set(mint, found);
  }
  for (const { mint, decimals } of preTokenBalances ?? []) decimalsByMint.set(mint, decimals);
  return decimalsByMint;
}

/** Returns the account, mint and owner of a token account that the instruction initializes; null for other instructions. */
export function initializedTokenAccount({
  program,
  parsed,
}: Instruction): (TokenAccountBalance & { readonly account: string }) | null {
  if (program !== 'spl-token' || !parsed?.type.startsWith('initializeAccount')) return null;
  const { account, mint, owner } = parsed.info;
  if (typeof account !== 'string' || typeof mint !== 'string') return null;
  return { account, mint, owner: asString(owner), amount: 0n };
}

/**
 * Returns the wallets of which the transaction makes accounts of a program: each signed, and had what a wallet needs. Less is
 * what a stranger sent to a new address. An account that a former transaction made is assigned in none that follows.
 */
export const walletsBefore = oncePer((transaction: Transaction): ReadonlySet<string> => {
  const { accounts, preBalances, preTokenBalances, instructions } = transaction;
  const tokenAccounts = tokenAccountBalances(preTokenBalances);
  const assigned = new Set(
    inExecutionOrder(instructions).flatMap(({ program, parsed }) =>
      program === 'system' && parsed !== null && /^(assign|createAccount)/.test(parsed.type)
        ? [parsed.info['account'] ?? parsed.info['newAccount']]
        : [],
    ),
  );
  const wallets = accounts.filter(
    ({ address, signer }, index) =>
      signer && assigned.has(address) && (preBalances[index] ?? 0n) > rentOf(0n) && !tokenAccounts.has(address),
  );
  return new Set(wallets.map(({ address }) => address));
});
