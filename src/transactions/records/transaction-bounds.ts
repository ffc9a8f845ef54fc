import { maxBase58Length } from '../codec/base58.ts';
import { asArray, asObject } from '../codec/json-fields.ts';

/** Maximum number of accounts: an index is one byte. https://solana.com/docs/core/transactions */
export const MAX_ACCOUNTS = 256;
/** Maximum number of signers: the signatures of 64 bytes that fit into the 1,232 bytes of a transaction. */
export const MAX_SIGNERS = 19;
/**
 * Maximum number of instructions, inner ones included. The runtime allows 64 today; old transactions have more, as only
 * their compute units were limited.
 */
export const MAX_INSTRUCTIONS = 1024;
/** Longest address: 32 bytes in base58. */
const MAX_ADDRESS_LENGTH = 44;
/** Longest transaction, that of version 1. Those of other versions have at most 1,232 bytes. */
const MAX_TRANSACTION_BYTES = 4096;
/** Longest data of an instruction: a program can call another one with 10 KiB. */
const MAX_DATA_BYTES = 10_240;

/**
 * Finds the bound of Solana's protocol that a record from a caller exceeds, so that its cost is bounded before anything
 * is computed from it. Returns the reason for the caller; undefined if it could be a transaction's.
 */
export function findExceededBound(record: unknown): string | undefined {
  const { transaction, meta } = asObject(record);
  const { signatures, message } = asObject(transaction);
  const { accountKeys, header, instructions } = asObject(message);
  const { loadedAddresses, innerInstructions, preBalances, postBalances, preTokenBalances, postTokenBalances } =
    asObject(meta);
  const { writable, readonly } = asObject(loadedAddresses);
  const keys = [...asArray(accountKeys), ...asArray(writable), ...asArray(readonly)];
  const calls = [...asArray(instructions), ...asArray(innerInstructions).flatMap(innerCallsOf)];
  const balances = [preBalances, postBalances, preTokenBalances, postTokenBalances].map(asArray);
  const encoded = [transaction, asArray(transaction)[0]].filter((text) => typeof text === 'string');
  const signers = Math.max(asArray(signatures).length, signerCountOf(keys, asObject(header)['numRequiredSignatures']));

  if (keys.length > MAX_ACCOUNTS) return `a transaction has at most ${MAX_ACCOUNTS} accounts`;
  if (signers > MAX_SIGNERS) return `a transaction has at most ${MAX_SIGNERS} signers`;
  if (calls.length > MAX_INSTRUCTIONS) return `a transaction has at most ${MAX_INSTRUCTIONS} instructions`;
  if (balances.some(({ length }) => length > MAX_ACCOUNTS)) return `a transaction has at most ${MAX_ACCOUNTS} balances`;
  if (encoded.some(({ length }) => length > maxBase58Length(MAX_TRANSACTION_BYTES)))
    return `a transaction has at most ${MAX_TRANSACTION_BYTES} bytes`;
  if (!calls.every(hasShortData)) return `an instruction has at most ${MAX_DATA_BYTES} bytes of data`;
  if (!keys.every(isShortKey)) return `an address has at most ${MAX_ADDRESS_LENGTH} characters`;
  return calls.every((call) => asArray(asObject(call)['accounts']).length <= MAX_ACCOUNTS)
    ? undefined
    : `an instruction has at most ${MAX_ACCOUNTS} accounts`;
}

const hasShortData = (call: unknown): boolean => {
  const { data } = asObject(call);
  return typeof data !== 'string' || data.length <= maxBase58Length(MAX_DATA_BYTES);
};

const innerCallsOf = (entry: unknown): readonly unknown[] => asArray(asObject(entry)['instructions']);

/** Counts the signers: `json` names their number, `jsonParsed` marks them. */
const signerCountOf = (keys: readonly unknown[], required: unknown): number =>
  typeof required === 'number' ? required : keys.filter((key) => asObject(key)['signer'] === true).length;

const isShortKey = (key: unknown): boolean => {
  const text = typeof key === 'string' ? key : asObject(key)['pubkey'];
  return typeof text !== 'string' || text.length <= MAX_ADDRESS_LENGTH;
};
