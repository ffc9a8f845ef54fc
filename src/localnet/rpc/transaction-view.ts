import { invalidParams } from '../encode/json-rpc-error.ts';
import { TRANSACTION_ENCODINGS, type TransactionView } from '../encode/ui-transaction.ts';
import { type RpcConfig, readConfig, readOptional, readU64, readVariant } from './json-rpc-params.ts';

/** Reads the last parameter of methods that return transactions: an object, or the encoding alone. */
export function readBlockConfig(value: unknown): RpcConfig {
  const options = typeof value === 'string' ? { encoding: value } : readConfig(value);
  const { encoding } = options;
  if (typeof encoding !== 'string' || TRANSACTION_ENCODINGS.some((known) => known === encoding)) return options;
  throw invalidParams('Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.');
}

/** Reads the encoding of transactions that the caller requests. */
export function readTransactionView({ encoding, maxSupportedTransactionVersion, rewards }: RpcConfig): TransactionView {
  return {
    encoding: readOptional(encoding, (name) => readVariant(name, TRANSACTION_ENCODINGS)) ?? 'json',
    maxVersion: readOptional(maxSupportedTransactionVersion, readU64),
    rewards: rewards !== false,
  };
}
