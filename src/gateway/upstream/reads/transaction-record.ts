import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  canonicalJsonYielding,
  isNull,
  membersYielding,
  parseIntegerOrNull,
  parseSafeInteger,
  parseString,
} from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';
import { translateRpcError } from '../rpc/translate-rpc-error.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

export interface TransactionReadOptions {
  readonly commitment: Commitment;
  readonly minSlot: Slot | undefined;
}

export interface TransactionRead {
  /** Latest slot of the node when the request was sent; the transaction's slot is in its record. */
  readonly slot: Slot;
  /** `jsonParsed` record of the node, or null for an unknown transaction. */
  readonly record: Buffer | null;
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
  { commitment, minSlot }: TransactionReadOptions,
): Promise<TransactionRead> {
  const config = { encoding: 'jsonParsed' };
  const request = { method: 'getTransaction', subject: signature, config, commitment, minSlot } as const;
  const { slot, result } = await callWithMaxSupportedVersion(rpc, request).catch(translateRpcError({}));
  return { slot, record: isNull(result) ? null : result };
}

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
