import bs58 from 'bs58';
import { parseExactJson } from '../../domain/parse-exact-json.ts';
import { decimalPlaces, integer, list, object, type Recorded, text, whole } from '../codec/recorded.ts';
import { type AccountKey, addressAt, jsonAccounts, wireAccounts } from './account-keys.ts';
import { type Instruction, readInstructions } from './instruction.ts';
import { readWireMessage, type WireMessage } from './wire-message.ts';

/** A transaction in one shape, whichever encoding, version and age of record it was read from. */
export interface Transaction {
  /** Base58; the first one names the transaction. */
  readonly signatures: readonly string[];
  /** Null where the record is an entry of a block and the caller named no slot. */
  readonly slot: number | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly version: 'legacy' | number;
  /** A blockhash, or the value of a nonce account. */
  readonly recentBlockhash: string | null;
  readonly feePayer: string;
  readonly accounts: readonly AccountKey[];
  readonly instructions: readonly Instruction[];
  /** Null when the node kept no record of what the transaction did; then nothing below is known. */
  readonly fee: bigint | null;
  /** As the node gives it: a name, or an object such as `{ InstructionError: [0, { Custom: 1 }] }`; null for success. */
  readonly err: TransactionError | null;
  /** Of every account, in the order of `accounts`. Lamports. Empty when not recorded. */
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  /** Of the token accounts that existed before. Null when not recorded. */
  readonly preTokenBalances: readonly TokenBalance[] | null;
  /** Of the token accounts that exist after. Null when not recorded. */
  readonly postTokenBalances: readonly TokenBalance[] | null;
  readonly logs: readonly string[] | null;
  readonly computeUnitsConsumed: number | null;
  readonly returnData: ReturnData | null;
}

export type TransactionError = string | Recorded;

export interface TokenBalance {
  /** The token account. */
  readonly account: string;
  readonly mint: string;
  /** Null in records from before nodes kept it, as is `programId`. */
  readonly owner: string | null;
  readonly programId: string | null;
  readonly amount: bigint;
  readonly decimals: number;
}

export interface ReturnData {
  readonly programId: string;
  readonly data: Uint8Array;
}

/** What a block says of all its transactions, for entries that don't say it themselves. */
export interface BlockPosition {
  readonly slot: number | null;
  readonly blockTime: number | null;
}

/** Reads the JSON text of a `getTransaction` result. Throws SyntaxError on text that is no JSON, else as {@link toTransaction}. */
export const readTransaction = (json: string): Transaction => toTransaction(parseExactJson(json));

/**
 * Brings a `getTransaction` result or an entry of a full block into one shape: `json`, `jsonParsed`, `base64` or
 * `base58`; legacy, version 0 or later. `value` comes from {@link parseExactJson}. Throws TypeError when it is no transaction.
 */
export function toTransaction(value: unknown, block: BlockPosition = { slot: null, blockTime: null }): Transaction {
  const { transaction, meta, version, slot, blockTime } = object(value);
  const wire = wireOf(transaction);
  const { signatures, message } = object(transaction);
  const { recentBlockhash, instructions, addressTableLookups, ...json } = object(message);
  const { fee, err, preBalances, postBalances, preTokenBalances, postTokenBalances, ...effects } = object(meta);
  const { loadedAddresses, innerInstructions, logMessages, computeUnitsConsumed, returnData } = effects;
  const loaded = object(loadedAddresses);
  const accounts = wire === null ? jsonAccounts(json, loaded) : wireAccounts(wire.accountKeys, wire.header, loaded);
  const signed = wire?.signatures ?? texts(signatures);
  const [payer] = accounts;
  if (payer === undefined || signed.length === 0) throw new TypeError('not a transaction');
  return {
    signatures: signed,
    slot: integer(slot) ?? block.slot,
    blockTime: integer(blockTime) ?? block.blockTime,
    // nodes leave the version out for callers who know none: then the message tells it
    version: wire?.version ?? integer(version) ?? (list(addressTableLookups).length > 0 ? 0 : 'legacy'),
    recentBlockhash: wire?.recentBlockhash ?? text(recentBlockhash),
    feePayer: payer.address,
    accounts,
    instructions: readInstructions(accounts, wire?.instructions ?? list(instructions), innerInstructions),
    fee: whole(fee),
    err: errorOf(err),
    preBalances: lamports(preBalances),
    postBalances: lamports(postBalances),
    preTokenBalances: tokenBalances(accounts, preTokenBalances),
    postTokenBalances: tokenBalances(accounts, postTokenBalances),
    logs: Array.isArray(logMessages) ? texts(logMessages) : null,
    computeUnitsConsumed: integer(computeUnitsConsumed),
    returnData: returnDataOf(returnData),
  };
}

const texts = (values: unknown): string[] => list(values).filter((value) => typeof value === 'string');
const lamports = (balances: unknown): bigint[] => list(balances).map((balance) => whole(balance) ?? 0n);

/** The bytes of a transaction given as `[text, encoding]`, or as text alone, which is base58; null when it is JSON. */
function wireOf(transaction: unknown): WireMessage | null {
  const [encoded, encoding] = typeof transaction === 'string' ? [transaction, 'base58'] : list(transaction);
  if (typeof encoded !== 'string') return null;
  return readWireMessage(encoding === 'base64' ? Buffer.from(encoded, 'base64') : bs58.decode(encoded));
}

function errorOf(err: unknown): TransactionError | null {
  if (typeof err === 'string') return err;
  return typeof err === 'object' && err !== null ? object(err) : null;
}

function tokenBalances(accounts: readonly AccountKey[], balances: unknown): TokenBalance[] | null {
  return Array.isArray(balances) ? balances.flatMap((balance) => tokenBalance(accounts, object(balance))) : null;
}

function tokenBalance(
  accounts: readonly AccountKey[],
  { accountIndex, mint, owner, programId, uiTokenAmount }: Recorded,
): TokenBalance[] {
  const account = addressAt(accounts, accountIndex);
  const { amount, decimals } = object(uiTokenAmount);
  const raw = whole(amount);
  if (account === null || typeof mint !== 'string' || raw === null) return [];
  const scale = decimalPlaces(decimals) ?? 0;
  return [{ account, mint, owner: text(owner), programId: text(programId), amount: raw, decimals: scale }];
}

function returnDataOf(recorded: unknown): ReturnData | null {
  const { programId, data } = object(recorded);
  const [encoded] = list(data);
  if (typeof programId !== 'string' || typeof encoded !== 'string') return null;
  return { programId, data: Buffer.from(encoded, 'base64') };
}
