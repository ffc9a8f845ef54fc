import { invalidParams } from '../encode/node-error.ts';
import { TRANSACTION_ENCODINGS, type TransactionView } from '../encode/ui-transaction.ts';
import { type Config, config, optional, u64, variant } from './params.ts';

/** The last parameter of methods that show transactions: members, or the encoding alone. */
export function blockConfig(value: unknown): Config {
  const options = typeof value === 'string' ? { encoding: value } : config(value);
  const { encoding } = options;
  if (typeof encoding !== 'string' || TRANSACTION_ENCODINGS.some((known) => known === encoding)) return options;
  throw invalidParams('Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.');
}

/** How the caller wants to see transactions. */
export function transactionView({ encoding, maxSupportedTransactionVersion, rewards }: Config): TransactionView {
  return {
    encoding: optional(encoding, (name) => variant(name, TRANSACTION_ENCODINGS)) ?? 'json',
    maxVersion: optional(maxSupportedTransactionVersion, u64),
    rewards: rewards !== false,
  };
}
