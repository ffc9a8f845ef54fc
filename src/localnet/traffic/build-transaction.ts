import {
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  type Instruction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import { SIGNATURE_BYTES } from '../bank/wire-transaction.ts';
import type { Keypair } from './demo-keypair.ts';

export interface TransactionDraft {
  readonly payer: Keypair;
  /** Instructions with {@link Keypair}s as signers, which sign the transaction. */
  readonly instructions: readonly Instruction[];
  /** A recent blockhash, or the value of the nonce that the first instruction advances. */
  readonly blockhash: string;
  /** Lookup tables to use where they help; makes the transaction version 0. */
  readonly lookupTables?: AddressesByLookupTableAddress;
}

/** Builds and signs a transaction; returns its wire format. */
export function buildTransaction({ payer, instructions, blockhash, lookupTables }: TransactionDraft): Uint8Array {
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n }; // the height is not sent
  const calls =
    lookupTables === undefined
      ? appendTransactionMessageInstructions(instructions, createTransactionMessage({ version: 'legacy' }))
      : compressTransactionMessageUsingAddressLookupTables(
          appendTransactionMessageInstructions(instructions, createTransactionMessage({ version: 0 })),
          lookupTables,
        );
  const { messageBytes, signatures } = compileTransaction(
    setTransactionMessageLifetimeUsingBlockhash(lifetime, setTransactionMessageFeePayer(payer.address, calls)),
  );
  const bytes = Uint8Array.from(messageBytes);
  const keypairs = [payer, ...instructions.flatMap(signersOf)];
  const signed = Object.keys(signatures).map(
    (signer) => keypairs.find(({ address }) => address === signer)?.sign(bytes) ?? new Uint8Array(SIGNATURE_BYTES),
  );
  return Buffer.concat([Uint8Array.of(signed.length), ...signed, bytes]);
}

const signersOf = ({ accounts = [] }: Instruction): Keypair[] =>
  accounts.flatMap((account) => ('signer' in account && isKeypair(account.signer) ? [account.signer] : []));

const isKeypair = (signer: unknown): signer is Keypair =>
  typeof signer === 'object' && signer !== null && 'sign' in signer;
