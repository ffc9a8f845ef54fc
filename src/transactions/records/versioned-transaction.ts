import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';
import bs58 from 'bs58';

/** A signed transaction as sent. Indexes refer to the account list: static accounts, then loaded ones. */
export interface VersionedTransaction {
  readonly version: 'legacy' | number;
  /** Signatures in base58; the first one identifies the transaction. */
  readonly signatures: readonly string[];
  /** The static accounts' addresses. */
  readonly accountKeys: readonly string[];
  readonly header: MessageHeader;
  /** A blockhash, or the value of a nonce account. */
  readonly recentBlockhash: string;
  readonly instructions: readonly CompiledInstruction[];
}

/** Counts of signers and of readonly accounts among signers and others, in JSON-RPC's names. */
export interface MessageHeader {
  readonly numRequiredSignatures: number;
  readonly numReadonlySignedAccounts: number;
  readonly numReadonlyUnsignedAccounts: number;
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
  const message = messageDecoder.decode(messageBytes);
  const { header } = message;
  return {
    version: message.version,
    signatures: Object.values(signatures).map((signature) => bs58.encode(signature ?? new Uint8Array(64))),
    accountKeys: message.staticAccounts,
    header: {
      numRequiredSignatures: header.numSignerAccounts,
      numReadonlySignedAccounts: header.numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
    },
    recentBlockhash: message.lifetimeToken,
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
