import { formatUnits } from '../codec/format-decimal.ts';
import type { Transaction } from '../records/transaction.ts';
import { extractTransfers } from './extract-transfers.ts';
import type { Transfer } from './transfer.ts';

/** A row of `/address/:addr/history?type=transfers`: one movement as the address sees it. */
export interface TransferRow extends Omit<Transfer, 'amount' | 'feeAmount' | 'lamports' | 'call'> {
  readonly signature: string;
  readonly slot: number | null;
  readonly blockTime: number | null;
  readonly confirmationStatus: 'confirmed' | 'finalized';
  readonly direction: 'in' | 'out' | 'self';
  /** The other party; null if there is none, or if it is not recorded. */
  readonly counterparty: string | null;
  readonly symbol: string | null;
  /** Amount in smallest units, as is `feeAmount`. */
  readonly amount: string;
  readonly uiAmount: string;
  readonly feeAmount: string | null;
  readonly instructionIdx: number;
  readonly innerInstructionIdx: number | null;
}

/** Values that are not in the transaction's record. */
export interface TransferRowContext {
  readonly confirmationStatus: 'confirmed' | 'finalized';
  /** Returns a mint's symbol, if known. */
  readonly symbolOf: (mint: string) => string | null;
}

/** Returns the transfers that involve an address, as owner or as the account itself, in execution order. */
export function transferRowsOf(address: string, transaction: Transaction, context: TransferRowContext): TransferRow[] {
  const { signatures, slot, blockTime } = transaction;
  const [signature = ''] = signatures;
  return extractTransfers(transaction).flatMap((transfer) => {
    const direction = directionOf(address, transfer);
    if (direction === null) return [];
    const { call, amount, feeAmount, lamports: _, mint, decimals, ...rest } = transfer;
    return {
      signature,
      slot,
      blockTime,
      confirmationStatus: context.confirmationStatus,
      ...rest,
      ...direction,
      mint,
      symbol: mint === null ? null : context.symbolOf(mint),
      amount: `${amount}`,
      decimals,
      uiAmount: formatUnits(amount, decimals),
      feeAmount: feeAmount === null ? null : `${feeAmount}`,
      instructionIdx: call.index,
      innerInstructionIdx: call.innerIndex,
    };
  });
}

/** Returns the transfer's direction as the address sees it; null if it isn't involved. */
function directionOf(address: string, transfer: Transfer): Pick<TransferRow, 'direction' | 'counterparty'> | null {
  const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
  const sends = address === fromUserAccount || address === fromTokenAccount;
  const receives = address === toUserAccount || address === toTokenAccount;
  if (sends && receives) return { direction: 'self', counterparty: null };
  if (sends) return { direction: 'out', counterparty: toUserAccount ?? toTokenAccount };
  return receives ? { direction: 'in', counterparty: fromUserAccount ?? fromTokenAccount } : null;
}
