import { COMPUTE_BUDGET_PROGRAM } from '../../domain/well-known-addresses.ts';
import { decodeFailure } from '../errors/decode-failure.ts';
import { programName } from '../programs/known-programs.ts';
import type { Instruction } from '../transactions/instruction.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { type AuthorityChange, authorityChangeReader } from './authority-changes.ts';
import { balanceChangesOf } from './balance-changes.ts';
import { type ConfidentialTransfer, confidentialTransferOf } from './confidential-transfers.ts';
import { extractTransfers } from './extract-transfers.ts';
import { heliusTransfersOf } from './helius-transfers.ts';
import type { AccountData, ParsedInstruction, ParsedTransaction } from './parsed-transaction.ts';

/** Parses a transaction. Effects that its record lacks count as not having happened. */
export function parseTransaction(transaction: Transaction): ParsedTransaction {
  const { err, logs, instructions } = transaction;
  const { transfers, authorityChanges, confidentialTransfers } = readMovements(transaction);
  return {
    status: err === null ? 'success' : 'failed',
    fee: transaction.fee ?? 0n,
    feePayer: transaction.feePayer,
    signers: transaction.accounts.filter(({ signer }) => signer).map(({ address }) => address),
    signature: transaction.signatures[0] ?? '',
    slot: transaction.slot,
    timestamp: transaction.blockTime,
    computeUnitsConsumed: transaction.computeUnitsConsumed,
    priorityFee: priorityFeeOf(instructions),
    ...heliusTransfersOf(transaction, transfers),
    confidentialTransfers,
    authorityChanges,
    accountData: accountDataOf(transaction),
    instructions: instructions.map(toParsedInstruction),
    transactionError: err === null ? null : decodeFailure({ err, logs, instructions: callersOf(instructions) }),
  };
}

/** Reads all that moved or changed hands, in one walk over the instructions. */
function readMovements(transaction: Transaction) {
  const authorityChanges: AuthorityChange[] = [];
  const confidentialTransfers: ConfidentialTransfer[] = [];
  const readAuthorityChange = authorityChangeReader(transaction);
  const transfers = extractTransfers(transaction, (call, balances) => {
    const change = readAuthorityChange(call, balances);
    if (change !== null) authorityChanges.push(change);
    const confidential = confidentialTransferOf(call, balances);
    if (confidential !== null) confidentialTransfers.push(confidential);
  });
  return { transfers, authorityChanges, confidentialTransfers };
}

/** Returns the program of each recorded top-level instruction: those of one batch are one there. */
function callersOf(instructions: readonly Instruction[]): { programId: string; hasInnerCalls: boolean }[] {
  const callers = new Map<number, { programId: string; hasInnerCalls: boolean }>();
  for (const { index, programId, inner } of instructions) {
    const hasInnerCalls = inner.length > 0 || callers.get(index)?.hasInnerCalls === true;
    callers.set(index, { programId, hasInnerCalls });
  }
  return [...callers.values()];
}

function priorityFeeOf(instructions: readonly Instruction[]): number | bigint {
  const setPrice = instructions.find(
    ({ programId, parsed }) => programId === COMPUTE_BUDGET_PROGRAM && parsed?.type === 'setComputeUnitPrice',
  );
  const value = setPrice?.parsed?.info['microLamports'];
  return typeof value === 'bigint' || typeof value === 'number' ? value : 0;
}

function toParsedInstruction({
  programId,
  parsed,
  accounts,
  data,
  inner,
  index,
  innerIndex,
}: Instruction): ParsedInstruction {
  return {
    index: innerIndex ?? index,
    programId,
    programName: programName(programId),
    type: parsed?.type ?? null,
    info: parsed?.info ?? null,
    accounts,
    data,
    innerInstructions: inner.map(toParsedInstruction),
  };
}

function accountDataOf(transaction: Transaction): AccountData[] {
  return balanceChangesOf(transaction).map(({ account, lamports, tokens }) => ({
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
