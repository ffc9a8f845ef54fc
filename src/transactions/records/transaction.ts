import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';
import { decodeBase58 } from '../codec/base58.ts';
import { asArray, asBigInt, asInteger, asObject, asString, type JsonObject } from '../codec/json-fields.ts';
import { type AccountKey, compiledAccountKeys, jsonAccountKeys } from './account-keys.ts';
import { inferOwners } from './infer-owners.ts';
import { type Instruction, readInstructions } from './instruction.ts';
import { withLoggedDepths } from './logged-depths.ts';
import { completeBalances, readTokenBalances, type TokenBalance, withOneScale } from './token-balance.ts';
import { findExceededBound } from './transaction-bounds.ts';
import { decodeVersionedTransaction, type VersionedTransaction } from './versioned-transaction.ts';

/** A transaction in one shape, whatever encoding, version and age the record has. */
export interface Transaction {
  /** Signatures in base58; the first one identifies the transaction. */
  readonly signatures: readonly string[];
  /** Null if the record is an entry of a block and the caller passed no slot. */
  readonly slot: number | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly version: 'legacy' | number;
  /** A blockhash, or the value of a nonce account. */
  readonly recentBlockhash: string | null;
  readonly feePayer: string;
  readonly accounts: readonly AccountKey[];
  readonly instructions: readonly Instruction[];
  /** Whether the record has the calls that programs made. */
  readonly hasInnerCalls: boolean;
  /** The fee in lamports. Null if the node kept no record of the effects; then nothing below is known. */
  readonly fee: bigint | null;
  /** The node's error: a name, or an object such as `{ InstructionError: [0, { Custom: 1 }] }`; null if there is none. */
  readonly err: TransactionError | null;
  /** Whether the record says that there was no error, or which: without it nothing is known to have happened. */
  readonly hasOutcome: boolean;
  /** Lamports of every account, in the order of `accounts`. Empty if not recorded. */
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  /** Token accounts that existed before the transaction. Null if not recorded. */
  readonly preTokenBalances: readonly TokenBalance[] | null;
  /** Token accounts that exist after the transaction. Null if not recorded. */
  readonly postTokenBalances: readonly TokenBalance[] | null;
  readonly logs: readonly string[] | null;
  readonly computeUnitsConsumed: number | null;
  readonly returnData: ReturnData | null;
}

export type TransactionError = string | JsonObject;

/** Whether a transaction succeeded; null if its record does not say. */
export const statusOf = ({ err, hasOutcome }: Pick<Transaction, 'err' | 'hasOutcome'>): 'success' | 'failed' | null =>
  err !== null ? 'failed' : hasOutcome ? 'success' : null;

export interface ReturnData {
  readonly programId: string;
  readonly data: Uint8Array;
}

/** Slot and time of a block, for entries of the block that lack them. */
export interface BlockContext {
  readonly slot: number | null;
  readonly blockTime: number | null;
}

/**
 * Reads the JSON text of a `getTransaction` result. Throws SyntaxError if the text is not JSON, TypeError if it is no
 * transaction or exceeds a bound of the protocol, so that no node's record costs more than a transaction can.
 */
export function readTransaction(json: string): Transaction {
  const record = parseExactJson(json);
  const exceeded = findExceededBound(record);
  if (exceeded !== undefined) throw new TypeError(exceeded);
  return normalizeTransaction(record);
}

/**
 * Normalizes a `getTransaction` result or an entry of a full block: `json`, `jsonParsed`, `base64` or `base58`; legacy,
 * version 0 or later. `value` comes from {@link parseExactJson}. Throws TypeError if it is not a transaction.
 */
export function normalizeTransaction(
  value: unknown,
  block: BlockContext = { slot: null, blockTime: null },
): Transaction {
  const { transaction, meta, version, slot, blockTime } = asObject(value);
  const versioned = decodeEncodedTransaction(transaction);
  const { signatures, message } = asObject(transaction);
  const { recentBlockhash, instructions, addressTableLookups, ...json } = asObject(message);
  const { fee, err, preBalances, postBalances, preTokenBalances, postTokenBalances, ...effects } = asObject(meta);
  const { loadedAddresses, innerInstructions, logMessages, computeUnitsConsumed, returnData } = effects;
  const loadedAddressLists = asObject(loadedAddresses);
  const accounts =
    versioned === null
      ? jsonAccountKeys(json, loadedAddressLists)
      : compiledAccountKeys(versioned.accountKeys, versioned.header, loadedAddressLists);
  const signatureList = versioned?.signatures ?? asStrings(signatures);
  const [payer] = accounts;
  if (payer === undefined || signatureList.length === 0) throw new TypeError('not a transaction');
  const recorded = readInstructions(accounts, versioned?.instructions ?? asArray(instructions), innerInstructions);
  const calls = withLoggedDepths(recorded, logMessages);
  const signers = accounts.filter(({ signer }) => signer).map(({ address }) => address);
  const scaled = withOneScale(
    readTokenBalances(accounts, preTokenBalances),
    readTokenBalances(accounts, postTokenBalances),
    calls,
  );
  const error = readTransactionError(err);
  const done = error === null ? calls : []; // what failed moved nothing
  const [lamportsBefore, lamportsAfter] = [readLamports(preBalances), readLamports(postBalances)];
  const lamportsGained = (): ReadonlyMap<string, bigint> =>
    new Map(
      accounts.flatMap(({ address }, place): [string, bigint][] => {
        const [had, has] = [lamportsBefore[place], lamportsAfter[place]];
        return had === undefined || has === undefined ? [] : [[address, has - had]];
      }),
    );
  const tokens = Array.isArray(innerInstructions) ? completeBalances(scaled, done, lamportsGained) : scaled;
  const tokenBalances = inferOwners(tokens, calls, signers);
  return {
    signatures: signatureList,
    slot: asInteger(slot) ?? block.slot,
    blockTime: asInteger(blockTime) ?? block.blockTime,
    // nodes omit the version for callers that did not pass maxSupportedTransactionVersion; then the message decides
    version: versioned?.version ?? asInteger(version) ?? (asArray(addressTableLookups).length > 0 ? 0 : 'legacy'),
    recentBlockhash: versioned?.recentBlockhash ?? asString(recentBlockhash),
    feePayer: payer.address,
    accounts,
    instructions: calls,
    hasInnerCalls: Array.isArray(innerInstructions),
    fee: asBigInt(fee),
    err: error,
    hasOutcome: err !== undefined,
    preBalances: lamportsBefore,
    postBalances: lamportsAfter,
    preTokenBalances: tokenBalances.before,
    postTokenBalances: tokenBalances.after,
    logs: Array.isArray(logMessages) ? asStrings(logMessages) : null,
    computeUnitsConsumed: asInteger(computeUnitsConsumed),
    returnData: readReturnData(returnData),
  };
}

const asStrings = (values: unknown): string[] => asArray(values).filter((value) => typeof value === 'string');
const readLamports = (balances: unknown): bigint[] => asArray(balances).map((balance) => asBigInt(balance) ?? 0n);

/** Decodes a transaction given as `[text, encoding]` or as base58 text alone; null if it is JSON. */
function decodeEncodedTransaction(transaction: unknown): VersionedTransaction | null {
  const [encoded, encoding] = typeof transaction === 'string' ? [transaction, 'base58'] : asArray(transaction);
  if (typeof encoded !== 'string') return null;
  const bytes = encoding === 'base64' ? Buffer.from(encoded, 'base64') : decodeBase58(encoded);
  if (bytes === undefined) throw new TypeError('not base58');
  return decodeVersionedTransaction(bytes);
}

function readTransactionError(err: unknown): TransactionError | null {
  if (typeof err === 'string') return err;
  return err === undefined || err === null ? null : asObject(err);
}

function readReturnData(recorded: unknown): ReturnData | null {
  const { programId, data } = asObject(recorded);
  const [encoded] = asArray(data);
  if (typeof programId !== 'string' || typeof encoded !== 'string') return null;
  return { programId, data: Buffer.from(encoded, 'base64') };
}
