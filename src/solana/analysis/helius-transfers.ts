import { TOKEN_2022_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { extractTransfers } from './extract-transfers.ts';
import type { NativeTransfer, TokenTransfer } from './parsed-transaction.ts';
import type { Transfer } from './transfer.ts';

export interface HeliusTransfers {
  readonly nativeTransfers: readonly NativeTransfer[];
  readonly tokenTransfers: readonly TokenTransfer[];
}

/**
 * Returns what Helius counts as transfers: of SOL, the System program's transfers and deposits of new accounts, and
 * payouts of closed wrapped SOL accounts; of tokens, all transfers, mints and burns.
 */
export function heliusTransfersOf(transaction: Transaction): HeliusTransfers {
  const transfers = extractTransfers(transaction);
  const wrappedSolAccounts = new Set(
    transfers
      .filter(({ mint }) => mint === WRAPPED_SOL)
      .flatMap(({ fromTokenAccount, toTokenAccount }) => [fromTokenAccount, toTokenAccount]),
  );
  const unwrappedAmounts = new Map(
    transfers
      .filter(({ type }) => type === 'unwrap')
      .map((transfer) => [instructionKey(transfer), transfer.amount] as const),
  );
  const nativeMovements = transfers.filter((transfer) =>
    transfer.type === 'closeAccount'
      ? wrappedSolAccounts.has(transfer.fromTokenAccount)
      : isSystemProgramTransfer(transfer, transaction),
  );
  return {
    nativeTransfers: nativeMovements.flatMap((transfer) =>
      toNativeTransfers(transfer, unwrappedAmounts.get(instructionKey(transfer)) ?? 0n),
    ),
    tokenTransfers: transfers.flatMap(toTokenTransfers),
  };
}

/** Returns whether Helius counts a transfer of SOL: it omits those of other native programs and of accounts with a seed. */
function isSystemProgramTransfer(
  { asset, type, instructionIdx, innerInstructionIdx }: Transfer,
  { instructions }: Transaction,
): boolean {
  const topLevel = instructions[instructionIdx];
  const call = innerInstructionIdx === null ? topLevel : topLevel?.inner[innerInstructionIdx];
  return (
    asset === 'SOL' &&
    (type === 'transfer' || type === 'createAccount') &&
    call?.program === 'system' &&
    call.parsed?.type !== 'createAccountWithSeed'
  );
}

/** Returns a text that names the instruction of a transfer. */
const instructionKey = ({ instructionIdx, innerInstructionIdx }: Transfer): string =>
  `${instructionIdx}.${innerInstructionIdx}`;

/** Converts a transfer of SOL; that of a closed account includes the wrapped SOL which it paid out. */
function toNativeTransfers(
  { type, amount, fromUserAccount, toUserAccount, fromTokenAccount }: Transfer,
  unwrapped: bigint,
): NativeTransfer[] {
  if (fromUserAccount === null || toUserAccount === null) return [];
  return [
    {
      fromUserAccount: fromTokenAccount ?? fromUserAccount,
      toUserAccount,
      amount: `${type === 'closeAccount' ? amount + unwrapped : amount}`,
    },
  ];
}

function toTokenTransfers({ asset, type, mint, programId, amount, decimals, ...parties }: Transfer): TokenTransfer[] {
  if (asset !== 'token' || mint === null || !['transfer', 'mint', 'burn'].includes(type)) return [];
  const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = parties;
  const program = programId === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const accounts = { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount };
  return [{ ...accounts, mint, amount: `${amount}`, decimals, uiAmount: formatUnits(amount, decimals), program }];
}
