import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseExactJson } from '../../src/shared/domain/parse-exact-json.ts';
import { type EnhancedTransaction, enhanceTransaction } from '../../src/transactions/explain/enhanced-transaction.ts';
import { normalizeTransaction, type Transaction } from '../../src/transactions/records/transaction.ts';

// from dist/test/support to test/support
const folder = new URL('../../../test/support/recorded/', import.meta.url);

/** Reads a packed recording: one JSON object a line, `name` first. */
export function readRecordings(name: string): string[] {
  return gunzipSync(readFileSync(new URL(`${name}.ndjson.gz`, folder)))
    .toString()
    .trimEnd()
    .split('\n');
}

/** A recorded transaction: its source, the node's result, and our parsed form. */
export interface RecordedTransaction {
  /**
   * Name, such as `tx/<start of the signature>_<encoding>` or `block/<slot>…#<place>`. Names under `tx-rebuilt/` were
   * not recorded.
   */
  readonly name: string;
  readonly cluster: string;
  readonly result: unknown;
  readonly transaction: Transaction;
}

const packs = new Map<string, readonly RecordedTransaction[]>();

/** Returns the recorded transactions of a pack, such as `transactions` or `mainnet-block`. They are parsed once in a process. */
export function recordedTransactions(name: string): readonly RecordedTransaction[] {
  const known = packs.get(name);
  if (known !== undefined) return known;
  const parsed = readRecordings(name).map(parseRecording);
  packs.set(name, parsed);
  return parsed;
}

/** Returns the recorded transactions of a pack that have these names. Only they are parsed. */
export function recordedByName(name: string, names: readonly string[]): ReadonlyMap<string, RecordedTransaction> {
  const starts = names.map((each) => `{"name":${JSON.stringify(each)},`);
  const lines = readRecordings(name).filter((line) => starts.some((start) => line.startsWith(start)));
  return new Map(lines.map(parseRecording).map((recording) => [recording.name, recording]));
}

const views = new WeakMap<Transaction, EnhancedTransaction>();

/** Returns the enhanced view of a recorded transaction. Each is made once in a process. */
export function enhancedOf(recorded: Transaction): EnhancedTransaction {
  const view = views.get(recorded) ?? enhanceTransaction(recorded);
  views.set(recorded, view);
  return view;
}

function parseRecording(line: string): RecordedTransaction {
  // shape of the packed files
  const { name, cluster, result } = parseExactJson(line) as Omit<RecordedTransaction, 'transaction'>;
  return { name, cluster, result, transaction: normalizeTransaction(result) };
}
