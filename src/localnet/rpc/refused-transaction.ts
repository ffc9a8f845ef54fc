import { describeTransactionError, type TransactionError, TransactionRefused } from '../bank/svm-transaction-error.ts';
import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { encodeSimulation, type SimulationOutcome } from '../encode/ui-transaction.ts';

/** Converts the chain's refusal of a transaction to the JSON-RPC error of a node. */
export function withRefusals<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof TransactionRefused ? preflightFailure(thrown) : thrown;
  }
}

type FailedTransaction = SimulationOutcome & { readonly error: TransactionError };

/** Returns the error of a transaction that would fail, or could not even run. It has no balances and no accounts. */
export function preflightFailure({ error, logs, computeUnits, fee, returnData }: FailedTransaction): JsonRpcError {
  const text = describeTransactionError(error);
  if (isSanitizeError(error)) return invalidParams(`invalid transaction: ${text}`);
  const outcome = { error, logs, computeUnits, fee, returnData };
  return new JsonRpcError(-32002, `Transaction simulation failed: ${text}`, encodeSimulation(outcome));
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
