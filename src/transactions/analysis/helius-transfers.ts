import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { TOKEN_2022_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { formatUnits } from '../codec/format-decimal.ts';
import { type Instruction, inExecutionOrder } from '../transactions/instruction.ts';
import type { Transaction } from '../transactions/transaction.ts';
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
export function heliusTransfersOf(
  { instructions }: Pick<Transaction, 'instructions'>,
  transfers: readonly Transfer[],
): HeliusTransfers {
  const wrappedSolAccounts = new Set(
    transfers
      .filter(({ mint }) => mint === WRAPPED_SOL)
      .flatMap(({ fromTokenAccount, toTokenAccount }) => [fromTokenAccount, toTokenAccount]),
  );
  const systemTransfers = findSystemTransfers(instructions);
  const nativeTransfers = transfers.flatMap((transfer, place): NativeTransfer[] => {
    const { type, fromTokenAccount } = transfer;
    if (type === 'unwrap') return isOfClosing(transfer, transfers[place + 1]) ? [] : toNativeTransfers(transfer, 0n);
    if (type === 'closeAccount') {
      const before = transfers[place - 1];
      const unwrapped = before !== undefined && isOfClosing(before, transfer) ? before.amount : 0n;
      return wrappedSolAccounts.has(fromTokenAccount) ? toNativeTransfers(transfer, unwrapped) : [];
    }
    const isCounted = type === 'transfer' || type === 'createAccount';
    return isCounted && systemTransfers.has(instructionKey(transfer)) ? toNativeTransfers(transfer, 0n) : [];
  });
  return { nativeTransfers, tokenTransfers: transfers.flatMap(toTokenTransfers) };
}

/** Finds the System program's calls that Helius counts: it omits those of accounts with a seed. */
const findSystemTransfers = (instructions: readonly Instruction[]): ReadonlySet<string> =>
  new Set(
    inExecutionOrder(instructions)
      .filter(({ program, parsed }) => program === 'system' && parsed?.type !== 'createAccountWithSeed')
      .map(({ index, innerIndex }) => `${index}.${innerIndex}`),
  );

/** Returns whether an unwrapping is that of an account which closes: the same instruction pays both out. */
export const isOfClosing = (unwrap: Transfer, next: Transfer | undefined): boolean =>
  unwrap.type === 'unwrap' &&
  next?.type === 'closeAccount' &&
  next.fromTokenAccount === unwrap.fromTokenAccount &&
  next.toUserAccount === unwrap.toUserAccount &&
  instructionKey(next) === instructionKey(unwrap);

/** Returns a text that names the instruction of a transfer. */
const instructionKey = ({ instructionIdx, innerInstructionIdx }: Transfer): string =>
  `${instructionIdx}.${innerInstructionIdx}`;

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
  const { asset, type, mint, programId, amount, feeAmount: fee, decimals } = transfer;
  if (asset !== 'token' || mint === null || !['transfer', 'mint', 'burn'].includes(type)) return [];
  const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = transfer;
  const program = programId === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const accounts = { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount };
  const feeAmount = fee === null ? null : `${fee}`;
  const uiAmount = formatUnits(amount, decimals);
  return [{ ...accounts, mint, amount: `${amount}`, decimals, uiAmount, feeAmount, program }];
}
