import { getCompiledTransactionMessageCodec, getTransactionCodec } from '@solana/web3.js';
import bs58 from 'bs58';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { decodeVersionedMessage, type VersionedMessage } from '../../transactions/index.ts';
import { TransactionRefused } from './svm-transaction-error.ts';

/** A decoded transaction with its bytes. */
export interface WireTransaction {
  readonly bytes: Uint8Array;
  /** Base58; {@link MISSING_SIGNATURE} where one is missing. The first one identifies the transaction. */
  readonly signatures: readonly string[];
  readonly message: VersionedMessage;
}

export const SIGNATURE_BYTES = 64;

/** Accounts that the byte of an index can name. */
const MAX_ACCOUNTS = 256;

/** Placeholder of a missing signature: 64 zero bytes. */
export const MISSING_SIGNATURE = '1'.repeat(SIGNATURE_BYTES);

const transactionCodec = getTransactionCodec();
const messageCodec = getCompiledTransactionMessageCodec();

/**
 * Returns whether these are the only valid bytes of a transaction. LiteSVM ends the process on some others that are decoded
 * here, such as a length in more bytes than it needs.
 */
export function isTransaction(bytes: Uint8Array): boolean {
  const rewritten = tryOrUndefined(() => {
    const transaction = transactionCodec.decode(bytes);
    const message = messageCodec.decode(transaction.messageBytes);
    return Buffer.concat([
      Uint8Array.from(transactionCodec.encode(transaction)).subarray(0, bytes.length - transaction.messageBytes.length),
      Uint8Array.from(messageCodec.encode(message)),
    ]);
  });
  return rewritten?.equals(bytes) === true;
}

/** Returns a transaction with another blockhash, which its signatures do not cover. Throws {@link TransactionRefused} on malformed bytes. */
export function withBlockhash(bytes: Uint8Array, blockhash: string): Uint8Array {
  return decodeOrRefuse(() => {
    const { messageBytes } = transactionCodec.decode(bytes);
    const message = messageCodec.encode({ ...messageCodec.decode(messageBytes), lifetimeToken: blockhash });
    return Buffer.concat([bytes.subarray(0, bytes.length - messageBytes.length), Uint8Array.from(message)]);
  });
}

/**
 * Decodes a signed transaction. Throws {@link TransactionRefused} on malformed bytes. Kit's decoder of the whole decodes the
 * addresses of the message once more.
 */
export function decodeTransaction(bytes: Uint8Array): WireTransaction {
  const [count = 0] = bytes;
  const messageAt = 1 + count * SIGNATURE_BYTES;
  const message = decodeMessage(bytes.subarray(messageAt));
  if (message.header.numRequiredSignatures !== count) throw new TransactionRefused('SanitizeFailure');
  const signatures = Array.from({ length: count }, (_, i) => {
    const at = 1 + i * SIGNATURE_BYTES;
    return ownText(bs58.encode(bytes.subarray(at, at + SIGNATURE_BYTES)));
  });
  return { bytes, signatures, message };
}

/** Decodes a message alone, as `getFeeForMessage` gets it. Throws {@link TransactionRefused} on malformed bytes. */
export function decodeMessage(bytes: Uint8Array): VersionedMessage {
  const message = decodeOrRefuse(() => decodeVersionedMessage(bytes));
  if (message.version === 1) throw new TransactionRefused('UnsupportedVersion');
  if (!isSound(message)) throw new TransactionRefused('SanitizeFailure');
  return message;
}

/** Returns whether the parts of a message fit together, which a node finds out before it verifies signatures (agave, `sanitize`). */
function isSound({ header, accountKeys, addressTableLookups, instructions }: VersionedMessage): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  const loaded = addressTableLookups.map((lookup) => lookup.writableIndexes.length + lookup.readonlyIndexes.length);
  const count = loaded.reduce((sum, each) => sum + each, accountKeys.length);
  return (
    numRequiredSignatures + numReadonlyUnsignedAccounts <= accountKeys.length &&
    numReadonlySignedAccounts < numRequiredSignatures &&
    !loaded.includes(0) &&
    count <= MAX_ACCOUNTS &&
    instructions.every(
      ({ programIdIndex, accounts }) =>
        programIdIndex > 0 && programIdIndex < accountKeys.length && accounts.every((index) => index < count),
    )
  );
}

function decodeOrRefuse<T>(decode: () => T): T {
  const decoded = tryOrUndefined(decode);
  if (decoded === undefined) throw new TransactionRefused('SanitizeFailure');
  return decoded;
}

export function isStaticWritable({ header, accountKeys }: VersionedMessage, index: number): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = header;
  return index < numRequiredSignatures
    ? index < numRequiredSignatures - numReadonlySignedAccounts
    : index < accountKeys.length - numReadonlyUnsignedAccounts;
}

/** Returns the nonce account that a message depends on, if its first instruction advances one. */
export function nonceAccountOf({ accountKeys, instructions }: VersionedMessage): string | undefined {
  const [first] = instructions;
  if (first === undefined || accountKeys[first.programIdIndex] !== SYSTEM_PROGRAM) return undefined;
  const isAdvanceNonce = first.data.length === 4 && Buffer.from(first.data).readUInt32LE() === 4;
  const account = first.accounts[0];
  return isAdvanceNonce && account !== undefined ? accountKeys[account] : undefined;
}
