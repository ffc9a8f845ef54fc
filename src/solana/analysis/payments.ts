import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import type { ParsedTransaction } from './parsed-transaction.ts';
import { type AssetAmount, findOpenedAccounts, findTokenAccountOwners } from './wallet-changes.ts';

/** An amount that one wallet sent to another, whatever accounts it was in. */
export interface Payment extends AssetAmount {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the transfers that a person would call payments: no deposits of new accounts, no wrapping or unwrapping of
 * SOL.
 */
export function findPayments(parsed: ParsedTransaction): readonly Payment[] {
  const owners = findTokenAccountOwners(parsed);
  const opened = findOpenedAccounts(parsed);
  const sol = parsed.nativeTransfers
    .filter(({ toUserAccount }) => !opened.has(toUserAccount))
    .filter(
      ({ fromUserAccount, toUserAccount }) =>
        owners.get(fromUserAccount) !== toUserAccount && owners.get(toUserAccount) !== fromUserAccount,
    )
    .map(({ fromUserAccount, toUserAccount, amount }) => ({
      from: fromUserAccount,
      to: toUserAccount,
      mint: WRAPPED_SOL,
      amount: BigInt(amount),
      decimals: 9,
    }));
  const tokens = parsed.tokenTransfers.flatMap(
    ({ fromTokenAccount, toTokenAccount, fromUserAccount, toUserAccount, mint, amount, decimals }) => {
      const from = fromUserAccount ?? fromTokenAccount;
      const to = toUserAccount ?? toTokenAccount;
      return fromTokenAccount === null || toTokenAccount === null || from === null || to === null
        ? []
        : [{ from, to, mint, amount: BigInt(amount), decimals }];
    },
  );
  return [...sol, ...tokens];
}

/** Returns the amounts minted, or those burned. */
export function findSupplyChanges(parsed: ParsedTransaction, side: 'minted' | 'burned'): readonly AssetAmount[] {
  return parsed.tokenTransfers
    .filter((transfer) => (side === 'minted' ? transfer.fromTokenAccount : transfer.toTokenAccount) === null)
    .map(({ mint, amount, decimals }) => ({ mint, amount: BigInt(amount), decimals }));
}

/** Sums amounts by mint, in order of appearance. */
export function sumByMint(quantities: readonly AssetAmount[]): readonly AssetAmount[] {
  const sums = new Map<string, AssetAmount>();
  for (const { mint, amount, decimals } of quantities)
    sums.set(mint, { mint, amount: amount + (sums.get(mint)?.amount ?? 0n), decimals });
  return [...sums.values()];
}

/** Returns whether an amount is one indivisible token: an NFT, as far as a transaction shows. */
export const isNftAmount = ({ amount, decimals }: Pick<AssetAmount, 'amount' | 'decimals'>): boolean =>
  decimals === 0 && amount === 1n;
