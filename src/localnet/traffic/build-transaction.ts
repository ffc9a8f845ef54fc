import {
  AccountRole,
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getAddressComparator,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import { decodeKey } from '../../transactions/index.ts';
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

interface CompiledMessage {
  readonly bytes: Uint8Array;
  /** The addresses that sign, in the order of their signatures. */
  readonly signers: readonly string[];
}

/** Builds and signs a transaction; returns its wire format. */
export function buildTransaction({ lookupTables, ...draft }: TransactionDraft): Uint8Array {
  const { bytes, signers } =
    lookupTables === undefined ? compileLegacy(draft) : compileWithTables({ ...draft, lookupTables });
  const keypairs = [draft.payer, ...draft.instructions.flatMap(signersOf)];
  const signatures = signers.map(
    (signer) => keypairs.find(({ address }) => address === signer)?.sign(bytes) ?? new Uint8Array(SIGNATURE_BYTES),
  );
  return Buffer.concat([Uint8Array.of(signers.length), ...signatures, bytes]);
}

const compareAddresses = getAddressComparator();

/** Compiles what kit compiles, byte for byte, in a small part of its time: a cluster makes thousands. */
function compileLegacy({ payer, instructions, blockhash }: TransactionDraft): CompiledMessage {
  const roles = new Map<string, number>([[payer.address, AccountRole.WRITABLE_SIGNER]]);
  const roleOf = (address: string): number => roles.get(address) ?? AccountRole.READONLY;
  for (const { programAddress, accounts = [] } of instructions)
    for (const { address, role } of [{ address: programAddress, role: AccountRole.READONLY }, ...accounts])
      roles.set(address, roleOf(address) | role); // a bit for each right: to write, to sign
  const others = [...roles.keys()].filter((address) => address !== payer.address);
  others.sort((one, other) => roleOf(other) - roleOf(one) || compareAddresses(one, other));
  const keys = [payer.address, ...others];
  const count = (counted: AccountRole): number => keys.filter((key) => roleOf(key) === counted).length;
  const readonlySigners = count(AccountRole.READONLY_SIGNER);
  const signers = keys.slice(0, count(AccountRole.WRITABLE_SIGNER) + readonlySigners);
  const calls = instructions.flatMap(({ programAddress, accounts = [], data = new Uint8Array() }) => [
    Uint8Array.of(keys.indexOf(programAddress), accounts.length),
    Uint8Array.from(accounts, ({ address }) => keys.indexOf(address)),
    lengthBytes(data.length),
    Uint8Array.from(data),
  ]);
  const header = Uint8Array.of(signers.length, readonlySigners, count(AccountRole.READONLY), keys.length);
  const hashes = [...keys, blockhash].map(bytesOf);
  return { bytes: Buffer.concat([header, ...hashes, Uint8Array.of(instructions.length), ...calls]), signers };
}

/** Returns the 32 bytes of an address or a hash. */
function bytesOf(text: string): Uint8Array {
  const bytes = decodeKey(text);
  if (bytes === undefined) throw new RangeError(`${text} is not the base58 of 32 bytes`);
  return bytes;
}

/** Formats a length of less than 2^14 bytes as a transaction has it. */
const lengthBytes = (length: number): Uint8Array =>
  length < 128 ? Uint8Array.of(length) : Uint8Array.of((length & 127) | 128, length >> 7);

function compileWithTables({
  payer,
  instructions,
  blockhash,
  lookupTables,
}: TransactionDraft & Required<Pick<TransactionDraft, 'lookupTables'>>): CompiledMessage {
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n }; // the height is not sent
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(payer.address, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
  );
  const { messageBytes, signatures } = compileTransaction(
    compressTransactionMessageUsingAddressLookupTables(message, lookupTables),
  );
  return { bytes: Uint8Array.from(messageBytes), signers: Object.keys(signatures) };
}

const signersOf = ({ accounts = [] }: Instruction): Keypair[] =>
  accounts.flatMap((account) => ('signer' in account && isKeypair(account.signer) ? [account.signer] : []));

const isKeypair = (signer: unknown): signer is Keypair =>
  typeof signer === 'object' && signer !== null && 'sign' in signer;
