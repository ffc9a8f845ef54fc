import type { Agreement } from '../../../shared/domain/agreement.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  canonicalJson,
  canonicalJsonYielding,
  elements,
  isNull,
  member,
  membersYielding,
  parseIntegerOrNull,
  parseSafeInteger,
  parseString,
  pickMembers,
} from '../json/raw-json.ts';
import { digestOf, type Facts } from '../rpc/facts.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { translateRpcError } from '../rpc/translate-rpc-error.ts';
import { callWithMaxSupportedVersion, comparisonBy, type VersionedReadOptions } from './max-supported-version.ts';

export interface TransactionRead {
  /** Latest slot of the node when the request was sent; the transaction's slot is in its record. */
  readonly slot: Slot;
  /** `jsonParsed` record of the node, or null for an unknown transaction. */
  readonly record: Buffer | null;
  /** The operators that gave it; undefined over one operator. */
  readonly agreement?: Agreement | undefined;
}

export interface TransactionRecord {
  readonly slot: Slot;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Index in the block, where the node names it. */
  readonly transactionIndex: number | null;
  readonly version: 'legacy' | number | null;
  /** Canonical JSON. */
  readonly transaction: string;
  /** Canonical JSON; `null` where the node kept no status. */
  readonly meta: string;
}

export async function readTransactionRecord(
  rpc: RpcCaller,
  signature: string,
  options: VersionedReadOptions,
): Promise<TransactionRead> {
  const config = { encoding: 'jsonParsed' };
  const compare = comparisonBy(digestOfRecord, factsOfRecord);
  const request = { ...options, method: 'getTransaction', subject: signature, config, compare } as const;
  const read = await callWithMaxSupportedVersion(rpc, request).catch(translateRpcError({}));
  const { slot, result, agreement } = read;
  return { slot, record: isNull(result) ? null : result, agreement };
}

/** Digests a whole record, as all of it is shown. */
const digestOfRecord = async (record: Buffer): Promise<string> => digestOf([await canonicalJsonYielding(record)]);

/**
 * Returns what every honest node has alike: slot, signatures, blockhash, accounts; and fee, balances and whether it succeeded. How
 * an error is written depends on the version of the node.
 */
async function factsOfRecord(record: Buffer): Promise<Facts> {
  const parts = await membersYielding(record);
  const [transaction, meta] = [parts.get('transaction'), parts.get('meta')];
  if (transaction === undefined) throw malformed();
  const [signatures, message] = pickMembers(transaction, ['signatures', 'message']);
  const named = message === undefined ? [] : pickMembers(message, ['recentBlockhash', 'accountKeys']);
  const [blockhash, keys = Buffer.from('[]')] = named;
  const keyTexts = elements(keys).map((key) => (key[0] === QUOTE ? key : member(key, 'pubkey')));
  const facts = new Map([['message', digestOf([parts.get('slot'), signatures, blockhash, ...keyTexts].map(textOf))]]);
  if (meta === undefined || isNull(meta)) return facts;
  const [err, ...outcome] = pickMembers(meta, ['err', 'fee', 'preBalances', 'postBalances']);
  return facts.set('outcome', digestOf([`${isNull(err)}`, ...outcome.map(textOf)]));
}

const textOf = (part: Buffer | undefined): string | undefined => part && canonicalJson(part);

/** Parses a record, a long one in turns of the event loop. Throws `upstream_error` for anything else. */
export async function parseTransactionRecord(record: Buffer): Promise<TransactionRecord> {
  const parts = await membersYielding(record);
  const transaction = parts.get('transaction');
  if (transaction === undefined) throw malformed();
  return {
    slot: parseSafeInteger(parts.get('slot')),
    blockTime: parseIntegerOrNull(parts.get('blockTime')),
    transactionIndex: parseIntegerOrNull(parts.get('transactionIndex')),
    version: versionOf(parts.get('version')),
    transaction: await canonicalJsonYielding(transaction),
    meta: await canonicalJsonYielding(parts.get('meta') ?? Buffer.from('null')),
  };
}

/** Parses the version, which old records leave out. */
function versionOf(bytes: Buffer | undefined): TransactionRecord['version'] {
  if (bytes?.[0] !== QUOTE) return parseIntegerOrNull(bytes);
  if (parseString(bytes) !== 'legacy') throw malformed();
  return 'legacy';
}

const QUOTE = 0x22;
