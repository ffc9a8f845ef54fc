import { SOL_DECIMALS } from '../../shared/domain/sol-amount.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import type { TokenBalance } from '../records/token-balance.ts';
import { statusOf, type Transaction } from '../records/transaction.ts';
import type { AssetAmount } from './asset-amount.ts';
import { sumByMint } from './payments.ts';
import type { TransferRowContext } from './transfer-row.ts';

/**
 * A row of `/address/:addr/history?type=transfers`: all that a transaction changed for the address. The sum of these rows
 * is the change of its balances, whatever the transfers beside them explain.
 */
export interface NetRow {
  readonly type: 'net';
  readonly signature: string;
  readonly slot: number | null;
  readonly blockTime: number | null;
  readonly confirmationStatus: 'confirmed' | 'finalized';
  /** Null if the record does not say. */
  readonly status: 'success' | 'failed' | null;
  /** The fee in lamports that the address paid, which its change of SOL includes; null if another one paid it. */
  readonly fee: string | null;
  /** SOL first, then tokens in the order of the record. What did not change is left out. */
  readonly changes: readonly NetChange[];
}

export interface NetChange {
  readonly asset: 'SOL' | 'token';
  /** Null for SOL. */
  readonly mint: string | null;
  readonly symbol: string | null;
  /** Signed amount in smallest units. */
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: string;
}

/** A net row with the transaction in one sentence, in which the address is `you`; null if it can't be described. */
export type DescribedNetRow = NetRow & { readonly description: string | null };

/**
 * Returns what a transaction changed for an address: its own lamports, and the tokens in the accounts that it owns before
 * or after, so that an account whose owner changes counts for both owners. A token account's own tokens count for the
 * account, too.
 */
export function netRowOf(address: string, transaction: Transaction, context: TransferRowContext): NetRow {
  const { signatures, slot, blockTime, fee, feePayer } = transaction;
  const sol = lamportChange(address, transaction);
  const tokens = tokenChanges(address, transaction);
  return {
    type: 'net',
    signature: signatures[0] ?? '',
    slot,
    blockTime,
    confirmationStatus: context.confirmationStatus,
    status: statusOf(transaction),
    fee: fee !== null && feePayer === address ? `${fee}` : null,
    changes: [
      ...(sol === 0n ? [] : [changeOf('SOL', null, null, sol, SOL_DECIMALS)]),
      ...tokens.map(({ mint, amount, decimals }) => changeOf('token', mint, context.symbolOf(mint), amount, decimals)),
    ],
  };
}

const changeOf = (
  asset: NetChange['asset'],
  mint: string | null,
  symbol: string | null,
  amount: bigint,
  decimals: number,
): NetChange => ({ asset, mint, symbol, amount: `${amount}`, decimals, uiAmount: formatUnits(amount, decimals) });

/** Returns the change of the address' own lamports. A missing record counts as no change. */
function lamportChange(address: string, { accounts, preBalances, postBalances }: Transaction): bigint {
  const place = accounts.findIndex((account) => account.address === address);
  const [before, after] = [preBalances[place], postBalances[place]];
  return before === undefined || after === undefined ? 0n : after - before;
}

/** Sums the changes of an owner's tokens by mint. Where the node recorded no balances, no change is known. */
function tokenChanges(address: string, { preTokenBalances, postTokenBalances }: Transaction): readonly AssetAmount[] {
  if (preTokenBalances === null || postTokenBalances === null) return [];
  const isOwn = ({ account, owner }: TokenBalance): boolean => account === address || owner === address;
  const before = preTokenBalances.filter(isOwn).map((balance) => ({ ...balance, amount: -balance.amount }));
  return sumByMint([...before, ...postTokenBalances.filter(isOwn)]).filter(({ amount }) => amount !== 0n);
}
