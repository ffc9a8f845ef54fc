import { asBigInt, asDecimals, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';

/** A token account before or after a transaction. */
export interface TokenBalance {
  /** The token account. */
  readonly account: string;
  readonly mint: string;
  /** The owner. In records from before nodes wrote owners it follows from the instructions, or is null. */
  readonly owner: string | null;
  /** Null in those records. */
  readonly programId: string | null;
  readonly amount: bigint;
  readonly decimals: number;
}

/** Reads the token balances of a record; null if it has none. */
export function readTokenBalances(accounts: readonly AccountKey[], balances: unknown): TokenBalance[] | null {
  return Array.isArray(balances) ? balances.flatMap((balance) => readTokenBalance(accounts, asObject(balance))) : null;
}

function readTokenBalance(
  accounts: readonly AccountKey[],
  { accountIndex, mint, owner, programId, uiTokenAmount }: JsonObject,
): TokenBalance[] {
  const account = accountAddressAt(accounts, accountIndex);
  const { amount, decimals } = asObject(uiTokenAmount);
  const rawAmount = asBigInt(amount);
  if (account === null || typeof mint !== 'string' || rawAmount === null) return [];
  const safeDecimals = asDecimals(decimals) ?? 0;
  return [
    {
      account,
      mint,
      owner: asString(owner),
      programId: asString(programId),
      amount: rawAmount,
      decimals: safeDecimals,
    },
  ];
}
