import { COMPUTE_BUDGET_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { decodeFailure } from '../errors/decode-failure.ts';
import { loggedNamesOf } from '../programs/called-names.ts';
import { programName } from '../programs/known-programs.ts';
import { discriminatorOf } from '../programs/program-instruction.ts';
import type { Instruction } from '../records/instruction.ts';
import { statusOf, type Transaction } from '../records/transaction.ts';
import { type AuthorityChange, authorityChangeReader } from './authority-changes.ts';
import { accountDataOf, isIncomplete } from './balance-changes.ts';
import { type ConfidentialTransfer, confidentialTransferOf } from './confidential-transfers.ts';
import { extractTransfers } from './extract-transfers.ts';
import { heliusTransfersOf } from './helius-transfers.ts';
import { readLedger } from './ledger.ts';
import { assetActions, findAssetCalls } from './nft-asset.ts';
import type { ParsedInstruction, ParsedTransaction } from './parsed-transaction.ts';

/** Names of instructions by the start of their data in hex, by program: those of an IDL. */
export type IdlNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Parses a transaction. Effects that its record lacks count as not having happened. */
export function parseTransaction(transaction: Transaction, idlNames: IdlNames = new Map()): ParsedTransaction {
  const { logs, instructions } = transaction;
  const status = statusOf(transaction);
  const programIds: string[] = [];
  for (const { index, programId } of instructions) programIds[index] = programId; // those of a batch have one index
  const names = loggedNamesOf(logs ?? [], programIds);
  const { transfers, authorityChanges, confidentialTransfers } = readMovements(transaction);
  const parsedInstructions = instructions.map((call) => toParsedInstruction(call, names, idlNames));
  const assets = status === 'success' ? findAssetCalls(parsedInstructions) : [];
  const signers = transaction.accounts.filter(({ signer }) => signer).map(({ address }) => address);
  const { actions, unaccounted } = readLedger(transaction, transfers);
  return {
    status,
    fee: transaction.fee ?? 0n,
    feePayer: transaction.feePayer,
    signers,
    signature: transaction.signatures[0] ?? '',
    slot: transaction.slot,
    timestamp: transaction.blockTime,
    computeUnitsConsumed: transaction.computeUnitsConsumed,
    priorityFee: priorityFeeOf(instructions),
    ...heliusTransfersOf(transfers),
    actions: [...actions, ...assetActions(assets, signers)],
    unaccounted,
    confidentialTransfers,
    authorityChanges,
    accountData: accountDataOf(transaction),
    isIncomplete: isIncomplete(transaction),
    instructions: parsedInstructions,
    transactionError: status === 'failed' ? decodeFailure(transaction) : null,
  };
}

/** Reads all movements and changes of owner in one walk over the instructions. */
function readMovements(transaction: Transaction) {
  const authorityChanges: AuthorityChange[] = [];
  const confidentialTransfers: ConfidentialTransfer[] = [];
  const readAuthorityChanges = authorityChangeReader(transaction);
  const transfers = extractTransfers(transaction, (call, balances) => {
    for (const change of readAuthorityChanges(call, balances)) if (change !== null) authorityChanges.push(change);
    const confidential = confidentialTransferOf(call, balances);
    if (confidential !== null) confidentialTransfers.push(confidential);
  });
  return { transfers, authorityChanges, confidentialTransfers };
}

function priorityFeeOf(instructions: readonly Instruction[]): number | bigint {
  const setPrice = instructions.find(
    ({ programId, parsed }) => programId === COMPUTE_BUDGET_PROGRAM && parsed?.type === 'setComputeUnitPrice',
  );
  const value = setPrice?.parsed?.info['microLamports'];
  return typeof value === 'bigint' || typeof value === 'number' ? value : 0;
}

function toParsedInstruction(
  call: Instruction,
  loggedNames: ReadonlyMap<number, string>,
  idlNames: IdlNames,
): ParsedInstruction {
  const { programId, parsed, accounts, data, inner, index, innerIndex } = call;
  const logged = innerIndex === null ? loggedNames.get(index) : undefined;
  return {
    index: innerIndex ?? index,
    programId,
    programName: programName(programId),
    type: parsed?.type ?? null,
    name: parsed === null ? (logged ?? nameInIdl(idlNames.get(programId), data)) : null,
    info: parsed?.info ?? null,
    accounts,
    data,
    innerInstructions: inner.map((innerCall) => toParsedInstruction(innerCall, loggedNames, idlNames)),
  };
}

/** Finds the name of a call in an IDL: an Anchor program recognizes instructions by eight bytes, others by one. */
function nameInIdl(names: ReadonlyMap<string, string> | undefined, data: string | null): string | null {
  if (names === undefined) return null;
  const hex = discriminatorOf(data);
  return names.get(hex) ?? names.get(hex.slice(0, 2)) ?? null;
}
