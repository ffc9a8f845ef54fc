import { getCompiledTransactionMessageDecoder, getTransactionDecoder, type ReadonlyUint8Array } from '@solana/web3.js';
import bs58 from 'bs58';

/** A message in JSON-RPC's names. Indexes refer to the account list: static accounts, then loaded ones. */
export interface VersionedMessage {
  readonly version: 'legacy' | number;
  /** The static accounts' addresses. */
  readonly accountKeys: readonly string[];
  readonly header: MessageHeader;
  /** A blockhash, or the value of a nonce account. */
  readonly recentBlockhash: string;
  readonly addressTableLookups: readonly AddressTableLookup[];
  readonly instructions: readonly CompiledInstruction[];
}

/** A signed transaction as sent. */
export interface VersionedTransaction extends VersionedMessage {
  /** Signatures in base58; the first one identifies the transaction. */
  readonly signatures: readonly string[];
}

/** Counts of signers and of readonly accounts among signers and others. */
export interface MessageHeader {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
}

interface AddressTableLookup {
  readonly accountKey: string;
  readonly writableIndexes: readonly number[];
  readonly readonlyIndexes: readonly number[];
}

export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

const transactionDecoder = getTransactionDecoder();
const messageDecoder = getCompiledTransactionMessageDecoder();

/** Decodes a signed transaction of any version. Throws if the bytes are not one. */
export function decodeVersionedTransaction(bytes: Uint8Array): VersionedTransaction {
  const { messageBytes, signatures } = transactionDecoder.decode(bytes);
  return {
    ...decodeVersionedMessage(messageBytes),
    signatures: Object.values(signatures).map((signature) => bs58.encode(signature ?? new Uint8Array(64))),
  };
}

/** Decodes the message of a transaction, which its signers have signed. Throws if the bytes are not one. */
export function decodeVersionedMessage(bytes: ReadonlyUint8Array): VersionedMessage {
  const message = messageDecoder.decode(bytes);
  const { header } = message;
  const lookups = ('addressTableLookups' in message && message.addressTableLookups) || [];
  return {
    version: message.version,
    accountKeys: message.staticAccounts,
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    recentBlockhash: message.lifetimeToken,
    addressTableLookups: lookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
      accountKey: lookupTableAddress,
      writableIndexes,
      readonlyIndexes,
    })),
    instructions:
      message.version === 1
        ? message.instructionHeaders.map(({ programAccountIndex }, index) => ({
            programIdIndex: programAccountIndex,
            accounts: message.instructionPayloads[index]?.instructionAccountIndices ?? [],
            data: Uint8Array.from(message.instructionPayloads[index]?.instructionData ?? []),
          }))
        : message.instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
            programIdIndex: programAddressIndex,
            accounts: accountIndices,
            data: Uint8Array.from(data ?? []),
          })),
  };
}
