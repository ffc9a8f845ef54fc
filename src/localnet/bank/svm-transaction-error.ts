import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';
import { readTables, type Table } from '../../shared/runtime/files/read-tables.ts';

/** Reason why a transaction failed, as the JSON of a Solana node. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [index: number, InstructionError] }
  | { readonly DuplicateInstruction: number }
  | { readonly InsufficientFundsForRent: AccountOfTransaction }
  | { readonly ProgramExecutionTemporarilyRestricted: AccountOfTransaction };

type InstructionError = string | { readonly Custom: number };

interface AccountOfTransaction {
  readonly account_index: number;
}

/** Names and texts by number of the variants without members: the bindings ship neither at run time. */
const [TRANSACTION_ERRORS = [], INSTRUCTION_ERRORS = []] = readTables(
  new URL('data/svm-errors.tsv', import.meta.url),
  'enum',
).map(({ rows }) => rows);

/** Converts an error of LiteSVM. */
export function toTransactionError(error: ReturnType<FailedTransactionMetadata['err']>): TransactionError {
  if (typeof error === 'number') return TRANSACTION_ERRORS[error]?.[0] ?? 'CommitCancelled';
  if ('err' in error) return { InstructionError: [error.index, toInstructionError(error.err())] };
  if ('index' in error) return { DuplicateInstruction: error.index };
  const account = { account_index: error.accountIndex };
  return error.constructor.name === 'TransactionErrorInsufficientFundsForRent'
    ? { InsufficientFundsForRent: account }
    : { ProgramExecutionTemporarilyRestricted: account };
}

function toInstructionError(error: number | { readonly code: number } | { readonly msg: string }): InstructionError {
  if (typeof error === 'number') return INSTRUCTION_ERRORS[error]?.[0] ?? 'GenericError';
  return 'code' in error ? { Custom: error.code } : 'BorshIoError';
}

/** Describes an error as a node does: by `Display` of the crate solana-transaction-error. */
export function describeTransactionError(error: TransactionError): string {
  if (typeof error === 'string') return textIn(TRANSACTION_ERRORS, error);
  if ('DuplicateInstruction' in error)
    return `Transaction contains a duplicate instruction (${error.DuplicateInstruction}) that is not allowed`;
  if ('InsufficientFundsForRent' in error)
    return `Transaction results in an account (${error.InsufficientFundsForRent.account_index}) with insufficient funds for rent`;
  if ('ProgramExecutionTemporarilyRestricted' in error) {
    const { account_index: index } = error.ProgramExecutionTemporarilyRestricted;
    return `Execution of the program referenced by account at index ${index} is temporarily restricted.`;
  }
  const [index, cause] = error.InstructionError;
  const why =
    typeof cause === 'string'
      ? textIn(INSTRUCTION_ERRORS, cause)
      : `custom program error: 0x${cause.Custom.toString(16)}`;
  return `Error processing Instruction ${index}: ${why}`;
}

const textIn = (rows: Table['rows'], name: string): string => rows.find(([each]) => each === name)?.[1] ?? name;

/** Refusal of a transaction by the cluster: it is in no block and costs nothing. */
export class TransactionRefused extends Error {
  override readonly name = 'TransactionRefused';
  readonly error: TransactionError;
  readonly logs: readonly string[];

  constructor(error: TransactionError, logs: readonly string[] = []) {
    super(`transaction refused: ${JSON.stringify(error)}`);
    this.error = error;
    this.logs = logs;
  }
}
