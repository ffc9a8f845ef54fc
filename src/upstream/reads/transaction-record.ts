import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import { canonicalJson, isNull, members, parseIntegerOrNull, parseSafeInteger, parseString } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { translateRpcError } from '../rpc/translate-rpc-error.ts';
import { callWithMaxSupportedVersion } from './max-supported-version.ts';

type RpcCaller = Pick<Mesh, 'call'>;

export interface TransactionReadOptions {
  readonly commitment: Commitment;
  /** The answer must not be older than this. */
  readonly minSlot: Slot | undefined;
}

export interface TransactionRead {
  /** What the node had reached when it was asked; the transaction's own slot is in its record. */
  readonly slot: Slot;
  /** The node's `jsonParsed` record, or null when it knows of no such transaction. */
  readonly record: Buffer | null;
}

/** A transaction's record as a node shows it, in its own digits. */
export interface TransactionRecord {
  readonly slot: Slot;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Its place in the block, where the node tells it. */
  readonly transactionIndex: number | null;
  readonly version: 'legacy' | number | null;
  /** Compact JSON, members by name. */
  readonly transaction: string;
  /** The same; null where the node kept no record of what the transaction did. */
  readonly meta: string;
}

/** A page of history asks for many; more at a time would crowd out the other readers of the node. */
const MAX_CONCURRENT_READS = 8;

/** Reads a transaction in the words of the node's parsers. */
export async function readTransactionRecord(
  mesh: RpcCaller,
  signature: string,
  { commitment, minSlot }: TransactionReadOptions,
): Promise<TransactionRead> {
  const config = { encoding: 'jsonParsed' };
  const request = { method: 'getTransaction', subject: signature, config, commitment, minSlot } as const;
  const { slot, result } = await callWithMaxSupportedVersion(mesh, request).catch(translateRpcError({}));
  return { slot, record: isNull(result) ? null : result };
}

/** Reads many transactions, a few at a time, in the order of their signatures. */
export async function readTransactionRecords(
  mesh: RpcCaller,
  signatures: readonly string[],
  options: TransactionReadOptions,
): Promise<TransactionRead[]> {
  const transactions: TransactionRead[] = [];
  const queue = signatures.entries(); // shared: each worker takes the next one
  const worker = async (): Promise<void> => {
    for (const [index, signature] of queue) transactions[index] = await readTransactionRecord(mesh, signature, options);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_READS }, worker));
  return transactions;
}

/** Takes a record apart. Throws `upstream_error` for what is none. */
export function parseTransactionRecord(record: Buffer): TransactionRecord {
  const parts = members(record);
  const transaction = parts.get('transaction');
  if (transaction === undefined) throw malformed();
  return {
    slot: parseSafeInteger(parts.get('slot')),
    blockTime: parseIntegerOrNull(parts.get('blockTime')),
    transactionIndex: parseIntegerOrNull(parts.get('transactionIndex')),
    version: versionOf(parts.get('version')),
    transaction: canonicalJson(transaction),
    meta: canonicalJson(parts.get('meta') ?? Buffer.from('null')),
  };
}

/** Old records leave it out. */
function versionOf(bytes: Buffer | undefined): TransactionRecord['version'] {
  if (bytes?.[0] !== QUOTE) return parseIntegerOrNull(bytes);
  if (parseString(bytes) !== 'legacy') throw malformed();
  return 'legacy';
}

const QUOTE = 0x22;
