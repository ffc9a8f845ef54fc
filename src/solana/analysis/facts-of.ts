import bs58 from 'bs58';
import { COMPUTE_BUDGET_PROGRAM } from '../../domain/well-known-addresses.ts';
import { decodeFailure } from '../errors/program-errors.ts';
import type { Instruction } from '../transactions/instruction.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { balanceChanges } from './balance-changes.ts';
import type { AccountData, Facts, ToldInstruction } from './facts.ts';
import { programName } from './known-programs.ts';
import { movesOf } from './moves.ts';

/** Reads the facts out of a transaction. What its record lacks is told as not having happened. */
export function factsOf(transaction: Transaction): Facts {
  const { err, logs, instructions } = transaction;
  const calls = instructions.map(({ programId, inner }) => ({ programId, calls: inner.length > 0 }));
  return {
    status: err === null ? 'success' : 'failed',
    fee: transaction.fee ?? 0n,
    feePayer: transaction.feePayer,
    signers: transaction.accounts.filter(({ signer }) => signer).map(({ address }) => address),
    signature: transaction.signatures[0] ?? '',
    slot: transaction.slot,
    timestamp: transaction.blockTime,
    computeUnitsConsumed: transaction.computeUnitsConsumed,
    priorityFee: priorityFee(instructions),
    ...movesOf(transaction),
    accountData: accountData(transaction),
    instructions: instructions.map(told),
    transactionError: err === null ? null : decodeFailure({ err, logs, instructions: calls }),
  };
}

function priorityFee(instructions: readonly Instruction[]): number | bigint {
  const price = instructions.find(
    ({ programId, parsed }) => programId === COMPUTE_BUDGET_PROGRAM && parsed?.type === 'setComputeUnitPrice',
  );
  const value = price?.parsed?.info['microLamports'];
  return typeof value === 'bigint' || typeof value === 'number' ? value : 0;
}

function told({ programId, parsed, accounts, data, inner, index, innerIndex }: Instruction): ToldInstruction {
  return {
    index: innerIndex ?? index,
    programId,
    programName: programName(programId),
    type: parsed?.type ?? null,
    info: parsed?.info ?? null,
    accounts,
    data: data === null ? null : bs58.encode(data),
    innerInstructions: inner.map(told),
  };
}

function accountData(transaction: Transaction): AccountData[] {
  return balanceChanges(transaction).map(({ account, lamports, tokens }) => ({
    account,
    nativeBalanceChange: `${lamports}`,
    tokenBalanceChanges: tokens.map(({ mint, owner, amount, decimals }) => ({
      userAccount: owner ?? account,
      tokenAccount: account,
      mint,
      rawTokenAmount: { tokenAmount: `${amount}`, decimals },
    })),
  }));
}
