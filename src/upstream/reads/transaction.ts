import type { Commitment } from '../../domain/commitment.ts';
import type { Slot } from '../../domain/slot.ts';
import { malformed } from '../json/json-scanner.ts';
import { canonicalText, integerOrNull, isNull, members, safeInteger, text } from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { refusedAs } from '../rpc/refused.ts';
import { readAnyVersion } from './any-version.ts';

type Reader = Pick<Mesh, 'call'>;

export interface RecordBounds {
  readonly commitment: Commitment;
  /** The answer must not be older than this. */
  readonly minSlot: Slot | undefined;
}

export interface TransactionReading {
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
const AT_A_TIME = 8;

/** Reads a transaction in the words of the node's parsers. */
export async function readRecord(
  mesh: Reader,
  signature: string,
  { commitment, minSlot }: RecordBounds,
): Promise<TransactionReading> {
  const config = { encoding: 'jsonParsed' };
  const read = { method: 'getTransaction', subject: signature, config, commitment, minSlot } as const;
  const { slot, result } = await readAnyVersion(mesh, read).catch(refusedAs({}));
  return { slot, record: isNull(result) ? null : result };
}

/** Reads many transactions, a few at a time, in the order of their signatures. */
export async function readRecords(
  mesh: Reader,
  signatures: readonly string[],
  bounds: RecordBounds,
): Promise<TransactionReading[]> {
  const readings: TransactionReading[] = [];
  const waiting = signatures.entries(); // shared: each worker takes the next one
  const work = async (): Promise<void> => {
    for (const [place, signature] of waiting) readings[place] = await readRecord(mesh, signature, bounds);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return readings;
}

/** Takes a record apart. Throws `upstream_error` for what is none. */
export function transactionRecord(record: Buffer): TransactionRecord {
  const parts = members(record);
  const transaction = parts.get('transaction');
  if (transaction === undefined) throw malformed();
  return {
    slot: safeInteger(parts.get('slot')),
    blockTime: integerOrNull(parts.get('blockTime')),
    transactionIndex: integerOrNull(parts.get('transactionIndex')),
    version: versionOf(parts.get('version')),
    transaction: canonicalText(transaction),
    meta: canonicalText(parts.get('meta') ?? Buffer.from('null')),
  };
}

/** Old records leave it out. */
function versionOf(bytes: Buffer | undefined): TransactionRecord['version'] {
  if (bytes?.[0] !== QUOTE) return integerOrNull(bytes);
  if (text(bytes) !== 'legacy') throw malformed();
  return 'legacy';
}

const QUOTE = 0x22;
