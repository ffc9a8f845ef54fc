import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { asBigInt, asDecimals, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, accountAddressAt } from './account-keys.ts';
import { type Instruction, inExecutionOrder } from './instruction.ts';

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

/** Token accounts of a record; null where it has none. */
export interface TokenBalances {
  readonly before: TokenBalance[] | null;
  readonly after: TokenBalance[] | null;
}

/**
 * Leaves out accounts that a record has on one side alone though no call opened or closed them: it was cut. Those of wrapped
 * SOL stay, of which lamports show as much.
 */
export function withoutCut(balances: TokenBalances, instructions: readonly Instruction[]): TokenBalances {
  const { before, after } = balances;
  if (before === null || after === null) return balances;
  const [had, has] = [before, after].map((list) => new Set(list.map(({ account }) => account)));
  const isOnBoth = ({ account }: TokenBalance): boolean => had?.has(account) === true && has?.has(account) === true;
  if (before.every(isOnBoth) && after.every(isOnBoth)) return balances;
  const made = new Set(
    inExecutionOrder(instructions).map(({ parsed }) =>
      /^(initializeAccount|closeAccount)/.test(parsed?.type ?? '') ? parsed?.info['account'] : null,
    ),
  );
  const isWhole = (balance: TokenBalance): boolean =>
    isWrappedSol(balance.mint) || isOnBoth(balance) || made.has(balance.account);
  return { before: before.filter(isWhole), after: after.filter(isWhole) };
}

/**
 * Gives all balances of a mint the same decimals, which some may lack, but for a mint that the transaction makes: one that was
 * closed may have had others.
 */
export function withOneScale(balances: TokenBalances, instructions: readonly Instruction[]): TokenBalances {
  const all = [...(balances.before ?? []), ...(balances.after ?? [])];
  const known = new Map<string, number>();
  for (const { mint, decimals } of all) known.set(mint, known.get(mint) || decimals);
  if (all.every(({ mint, decimals }) => known.get(mint) === decimals)) return balances;
  const made = new Set(
    inExecutionOrder(instructions).map(({ parsed }) =>
      /^initializeMint2?$/.test(parsed?.type ?? '') ? parsed?.info['mint'] : null,
    ),
  );
  const scaled = (balance: TokenBalance): TokenBalance =>
    made.has(balance.mint) ? balance : { ...balance, decimals: known.get(balance.mint) ?? balance.decimals };
  return { before: balances.before?.map(scaled) ?? null, after: balances.after?.map(scaled) ?? null };
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
