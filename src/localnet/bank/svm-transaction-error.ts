import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';
import { readTables } from '../../shared/runtime/files/read-tables.ts';

/** Reason why a transaction failed, as the JSON of a Solana node. */
export type TransactionError = string | { readonly [variant: string]: unknown };

/** Names by number of the variants without members: the bindings ship no names at run time. */
const [TRANSACTION_ERRORS = [], INSTRUCTION_ERRORS = []] = readTables(
  new URL('data/svm-errors.tsv', import.meta.url),
  'enum',
).map(({ rows }) => rows.flat());

/** Converts an error of LiteSVM. */
export function toTransactionError(error: ReturnType<FailedTransactionMetadata['err']>): TransactionError {
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? 'CommitCancelled';
  if ('err' in error) return { InstructionError: [error.index, toInstructionError(error.err())] };
  if ('index' in error) return { DuplicateInstruction: error.index };
  const variant = error.constructor.name.replace('TransactionError', '');
  return { [variant]: { account_index: error.accountIndex } };
}

function toInstructionError(error: number | { readonly code: number } | { readonly msg: string }): unknown {
  if (typeof error === 'number') return INSTRUCTION_ERRORS[error] ?? 'GenericError';
  return 'code' in error ? { Custom: error.code } : 'BorshIoError';
}

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
