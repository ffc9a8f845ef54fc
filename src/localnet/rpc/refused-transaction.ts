import type { LandedTransaction } from '../bank/produced-block.ts';
import { describeTransactionError, type TransactionError, TransactionRefused } from '../bank/svm-transaction-error.ts';
import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { encodeReturnData } from '../encode/ui-transaction.ts';

/** Converts the chain's refusal of a transaction to the JSON-RPC error of a node. */
export function withRefusals<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof TransactionRefused ? preflightFailure(thrown) : thrown;
  }
}

interface FailedTransaction extends Partial<Pick<LandedTransaction, 'computeUnits' | 'fee' | 'returnData'>> {
  readonly error: TransactionError;
  readonly logs: readonly string[];
}

/** Returns the error of a transaction that would fail, or could not even run. */
export function preflightFailure(failed: FailedTransaction): JsonRpcError {
  const { error, logs, computeUnits = 0n, fee = 0n } = failed;
  const text = describeTransactionError(error);
  if (isSanitizeError(error)) return invalidParams(`invalid transaction: ${text}`);
  return new JsonRpcError(-32002, `Transaction simulation failed: ${text}`, {
    accounts: null,
    err: error,
    fee: fee || null,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: encodeReturnData(failed) ?? null,
    unitsConsumed: computeUnits,
  });
}

/** Returns whether a node finds the error before it simulates, or sends without preflight: in agave's `RuntimeTransaction`. */
export function isSanitizeError(error: TransactionError): boolean {
  return typeof error === 'string' ? SANITIZE_ERRORS.has(error) : 'DuplicateInstruction' in error;
}

const SANITIZE_ERRORS: ReadonlySet<string> = new Set([
  'SanitizeFailure',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
]);
