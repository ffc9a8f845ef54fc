import bs58 from 'bs58';
import { isTransaction } from '../bank/wire-transaction.ts';
import { invalidParams } from '../encode/json-rpc-error.ts';
import { readOptional, readString, readVariant } from './json-rpc-params.ts';

/** Maximum size of a transaction: what fits into a packet. */
const MAX_TRANSACTION_BYTES = 1232;
const ENCODINGS = ['base58', 'base64'] as const;
const TRANSACTION_TYPE = 'solana_transaction::versioned::VersionedTransaction';

/** Reads a whole transaction, by default in base58. */
export function readTransaction(transaction: unknown, encoding: unknown): Uint8Array {
  const text = readString(transaction);
  const bytes = decodeBytes(text, readOptional(encoding, (name) => readVariant(name, ENCODINGS)) ?? 'base58');
  if (!isTransaction(bytes)) throw invalidParams(`failed to deserialize ${TRANSACTION_TYPE}`);
  return bytes;
}

export const readMessage = (message: unknown): Uint8Array => decodeBytes(readString(message), 'base64');

function decodeBytes(text: string, encoding: (typeof ENCODINGS)[number]): Uint8Array {
  const bytes =
    encoding === 'base64' ? decodeBase64(text) : bs58.decodeUnsafe(text.slice(0, 2 * MAX_TRANSACTION_BYTES));
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  if (bytes.length <= MAX_TRANSACTION_BYTES) return bytes;
  throw invalidParams(
    `decoded ${TRANSACTION_TYPE} too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
  );
}

/** Returns the bytes of a text in base64; undefined for another text. */
export const decodeBase64 = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64') : undefined;
