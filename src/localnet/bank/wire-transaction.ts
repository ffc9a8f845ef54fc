import { getCompiledTransactionMessageCodec, getTransactionCodec, type ReadonlyUint8Array } from '@solana/web3.js';
import bs58 from 'bs58';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { TransactionRefused } from './svm-transaction-error.ts';

/** A decoded transaction with its bytes. */
export interface WireTransaction {
  readonly bytes: Uint8Array;
  /** Base58; {@link MISSING_SIGNATURE} where one is missing. The first one identifies the transaction. */
  readonly signatures: readonly string[];
  readonly message: TransactionMessage;
}

export interface TransactionMessage {
  readonly version: 'legacy' | 0;
  readonly header: {
    readonly numSignerAccounts: number;
    readonly numReadonlySignerAccounts: number;
    readonly numReadonlyNonSignerAccounts: number;
  };
  /** Addresses that the message itself contains, the fee payer first. */
  readonly staticKeys: readonly string[];
  readonly addressTableLookups: readonly AddressTableLookup[];
  readonly instructions: readonly CompiledInstruction[];
  /** A blockhash, or the value of a nonce account. Base58. */
  readonly recentBlockhash: string;
}

interface AddressTableLookup {
  readonly accountKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

/** An instruction. Indices refer to the transaction's account keys: static, loaded writable, loaded read-only. */
export interface CompiledInstruction {
  readonly programIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

export const SIGNATURE_BYTES = 64;

/** Accounts that the byte of an index can name. */
const MAX_ACCOUNTS = 256;

/** Placeholder of a missing signature: 64 zero bytes. */
export const MISSING_SIGNATURE = '1'.repeat(SIGNATURE_BYTES);

const transactionCodec = getTransactionCodec();
const messageCodec = getCompiledTransactionMessageCodec();
type CompiledTransactionMessage = ReturnType<typeof messageCodec.decode>;

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
  if (message.header.numSignerAccounts !== count) throw new TransactionRefused('SanitizeFailure');
  const signatures = Array.from({ length: count }, (_, i) => {
    const at = 1 + i * SIGNATURE_BYTES;
    return ownText(bs58.encode(bytes.subarray(at, at + SIGNATURE_BYTES)));
  });
  return { bytes, signatures, message };
}

/** Decodes a message alone, as `getFeeForMessage` gets it. Throws {@link TransactionRefused} on malformed bytes. */
export function decodeMessage(bytes: ReadonlyUint8Array): TransactionMessage {
  const message = toMessage(decodeOrRefuse(() => messageCodec.decode(bytes)));
  if (!isSound(message)) throw new TransactionRefused('SanitizeFailure');
  return message;
}

/** Returns whether the parts of a message fit together, which a node finds out before it verifies signatures (agave, `sanitize`). */
function isSound({ header, staticKeys, addressTableLookups, instructions }: TransactionMessage): boolean {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const loaded = addressTableLookups.map((lookup) => lookup.writableIndexes.length + lookup.readonlyIndexes.length);
  const count = loaded.reduce((sum, each) => sum + each, staticKeys.length);
  return (
    numSignerAccounts + numReadonlyNonSignerAccounts <= staticKeys.length &&
    numReadonlySignerAccounts < numSignerAccounts &&
    !loaded.includes(0) &&
    count <= MAX_ACCOUNTS &&
    instructions.every(
      ({ programIndex, accounts }) =>
        programIndex > 0 && programIndex < staticKeys.length && accounts.every((index) => index < count),
    )
  );
}

function toMessage(message: CompiledTransactionMessage): TransactionMessage {
  if (message.version === 1) throw new TransactionRefused('UnsupportedVersion');
  return {
    version: message.version,
    header: message.header,
    staticKeys: message.staticAccounts,
    addressTableLookups: (('addressTableLookups' in message && message.addressTableLookups) || []).map((lookup) => ({
      accountKey: lookup.lookupTableAddress,
      writableIndexes: lookup.writableIndexes,
      readonlyIndexes: lookup.readonlyIndexes,
    })),
    instructions: message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
      programIndex: programAddressIndex,
      accounts: accountIndices,
      data: Uint8Array.from(data ?? []),
    })),
    recentBlockhash: message.lifetimeToken,
  };
}

function decodeOrRefuse<T>(decode: () => T): T {
  const decoded = tryOrUndefined(decode);
  if (decoded === undefined) throw new TransactionRefused('SanitizeFailure');
  return decoded;
}

export function isStaticWritable({ header, staticKeys }: TransactionMessage, index: number): boolean {
  return index < header.numSignerAccounts
    ? index < header.numSignerAccounts - header.numReadonlySignerAccounts
    : index < staticKeys.length - header.numReadonlyNonSignerAccounts;
}

/** Returns the nonce account that a message depends on, if its first instruction advances one. */
export function nonceAccountOf({ staticKeys, instructions }: TransactionMessage): string | undefined {
  const [first] = instructions;
  if (first === undefined || staticKeys[first.programIndex] !== SYSTEM_PROGRAM) return undefined;
  const isAdvanceNonce = first.data.length === 4 && Buffer.from(first.data).readUInt32LE() === 4;
  const account = first.accounts[0];
  return isAdvanceNonce && account !== undefined ? staticKeys[account] : undefined;
}
