import { isWrappedSol } from '../../shared/domain/known-mints.ts';
import { TOKEN_2022_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import type { NativeTransfer, TokenTransfer } from './parsed-transaction.ts';
import type { Transfer } from './transfer.ts';

export interface HeliusTransfers {
  readonly nativeTransfers: readonly NativeTransfer[];
  readonly tokenTransfers: readonly TokenTransfer[];
}

/**
 * Returns what Helius counts as transfers: of SOL, the System program's transfers and deposits of new accounts, and
 * payouts of wrapped SOL; of tokens, all transfers, mints and burns.
 */
export function heliusTransfersOf(transfers: readonly Transfer[]): HeliusTransfers {
  const wrappedSolAccounts = new Set(
    transfers
      .filter(({ mint }) => isWrappedSol(mint))
      .flatMap(({ fromTokenAccount, toTokenAccount }) => [fromTokenAccount, toTokenAccount]),
  );
  const nativeTransfers = transfers.flatMap((transfer, place): NativeTransfer[] => {
    const { type, fromTokenAccount, call } = transfer;
    if (type === 'unwrap') return isOfClosing(transfer, transfers[place + 1]) ? [] : toNativeTransfers(transfer, 0n);
    if (type === 'closeAccount') {
      const before = transfers[place - 1];
      const unwrapped = before !== undefined && isOfClosing(before, transfer) ? before.amount : 0n;
      return wrappedSolAccounts.has(fromTokenAccount) ? toNativeTransfers(transfer, unwrapped) : [];
    }
    const isCounted = type === 'transfer' || type === 'createAccount';
    const isOfSystem = call.program === 'system' && call.parsed?.type !== 'createAccountWithSeed'; // which Helius omits
    return isCounted && isOfSystem ? toNativeTransfers(transfer, 0n) : [];
  });
  return { nativeTransfers, tokenTransfers: transfers.flatMap(toTokenTransfers) };
}

/** Returns whether an unwrapping is that of an account which closes: the same instruction pays both out. */
export const isOfClosing = (unwrap: Transfer, next: Transfer | undefined): boolean =>
  unwrap.type === 'unwrap' &&
  next?.type === 'closeAccount' &&
  next.fromTokenAccount === unwrap.fromTokenAccount &&
  next.toUserAccount === unwrap.toUserAccount &&
  next.call === unwrap.call;

/** Converts a transfer of SOL; that of a closed account includes the wrapped SOL which it paid out. */
function toNativeTransfers(
  { amount, fromUserAccount, toUserAccount, fromTokenAccount }: Transfer,
  unwrapped: bigint,
): NativeTransfer[] {
  const from = fromTokenAccount ?? fromUserAccount;
  if (from === null || toUserAccount === null) return [];
  return [{ fromUserAccount: from, toUserAccount, amount: `${amount + unwrapped}` }];
}

function toTokenTransfers(transfer: Transfer): TokenTransfer[] {
  const { asset, type, mint, call, amount, feeAmount: fee, decimals } = transfer;
  if (asset !== 'token' || mint === null || !['transfer', 'mint', 'burn'].includes(type)) return [];
  const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
  const program = call.programId === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const accounts = { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount };
  const feeAmount = fee === null ? null : `${fee}`;
  const uiAmount = formatUnits(amount, decimals);
  return [{ ...accounts, mint, amount: `${amount}`, decimals, uiAmount, feeAmount, program }];
}
