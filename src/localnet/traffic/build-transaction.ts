import {
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
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

const encoder = getTransactionEncoder();

/** Builds and signs a transaction; returns its wire format. */
export function buildTransaction({ payer, instructions, blockhash, lookupTables }: TransactionDraft): Uint8Array {
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n }; // the height is not sent
  const legacy = pipe(
    createTransactionMessage({ version: 'legacy' }),
    (message) => setTransactionMessageFeePayer(payer.address, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
  );
  const unsigned = compileTransaction(
    lookupTables === undefined
      ? legacy
      : compressTransactionMessageUsingAddressLookupTables({ ...legacy, version: 0 }, lookupTables),
  );
  const message = Uint8Array.from(unsigned.messageBytes);
  const signatures = Object.fromEntries(
    [payer, ...instructions.flatMap(signersOf)].map(({ address, sign }) => [address, sign(message) as SignatureBytes]),
  );
  return Uint8Array.from(encoder.encode({ ...unsigned, signatures: { ...unsigned.signatures, ...signatures } }));
}

const signersOf = ({ accounts = [] }: Instruction): Keypair[] =>
  accounts.flatMap((account) => ('signer' in account && isKeypair(account.signer) ? [account.signer] : []));

const isKeypair = (signer: unknown): signer is Keypair =>
  typeof signer === 'object' && signer !== null && 'sign' in signer;
