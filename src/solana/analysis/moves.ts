import { TOKEN_2022_PROGRAM } from '../../domain/well-known-addresses.ts';
import { WRAPPED_SOL } from '../accounts/known-mints.ts';
import { decimalText } from '../codec/decimal.ts';
import type { Transaction } from '../transactions/transaction.ts';
import type { NativeTransfer, TokenTransfer } from './facts.ts';
import type { Transfer } from './transfer.ts';
import { transfersOf } from './transfers.ts';

export interface Moves {
  readonly nativeTransfers: readonly NativeTransfer[];
  readonly tokenTransfers: readonly TokenTransfer[];
}

/**
 * What Helius counts as transfers: of SOL every transfer and every deposit of a new account that the System program
 * made, and what a closed account of wrapped SOL paid out; of tokens every transfer, mint and burn.
 */
export function movesOf(transaction: Transaction): Moves {
  const rows = transfersOf(transaction);
  const wrapped = new Set(
    rows
      .filter(({ mint }) => mint === WRAPPED_SOL)
      .flatMap(({ fromTokenAccount, toTokenAccount }) => [fromTokenAccount, toTokenAccount]),
  );
  const native = rows.filter((row) =>
    row.type === 'closeAccount' ? wrapped.has(row.fromTokenAccount) : bySystemProgram(row, transaction),
  );
  return {
    nativeTransfers: native.flatMap((row) => nativeTransfer(row, rows)),
    tokenTransfers: rows.flatMap(tokenTransfer),
  };
}

/** Helius leaves out what other native programs move, and accounts whose address comes from a seed. */
function bySystemProgram(
  { asset, type, instructionIdx, innerInstructionIdx }: Transfer,
  { instructions }: Transaction,
): boolean {
  const own = instructions[instructionIdx];
  const call = innerInstructionIdx === null ? own : own?.inner[innerInstructionIdx];
  return (
    asset === 'SOL' &&
    (type === 'transfer' || type === 'createAccount') &&
    call?.program === 'system' &&
    call.parsed?.type !== 'createAccountWithSeed'
  );
}

function nativeTransfer(
  { type, amount, fromUserAccount, toUserAccount, fromTokenAccount, instructionIdx, innerInstructionIdx }: Transfer,
  rows: readonly Transfer[],
): NativeTransfer[] {
  if (fromUserAccount === null || toUserAccount === null) return [];
  const same = (row: Transfer): boolean =>
    row.instructionIdx === instructionIdx && row.innerInstructionIdx === innerInstructionIdx;
  const unwrapped = type === 'closeAccount' ? rows.find((row) => row.type === 'unwrap' && same(row)) : undefined;
  return [
    {
      fromUserAccount: fromTokenAccount ?? fromUserAccount,
      toUserAccount,
      amount: `${amount + (unwrapped?.amount ?? 0n)}`,
    },
  ];
}

function tokenTransfer({ asset, type, mint, programId, amount, decimals, ...parties }: Transfer): TokenTransfer[] {
  if (asset !== 'token' || mint === null || !['transfer', 'mint', 'burn'].includes(type)) return [];
  const { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount } = parties;
  const program = programId === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const accounts = { fromUserAccount, toUserAccount, fromTokenAccount, toTokenAccount };
  return [{ ...accounts, mint, amount: `${amount}`, decimals, uiAmount: decimalText(amount, decimals), program }];
}
