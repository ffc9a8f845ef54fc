import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parseExactJson } from '../../src/domain/parse-exact-json.ts';
import { normalizeTransaction, type Transaction } from '../../src/solana/transactions/transaction.ts';

// from dist/test/support to test/support
const folder = new URL('../../../test/support/recorded/', import.meta.url);

/** The lines of a packed recording: one JSON object each, `name` first. */
export function readRecordings(name: string): string[] {
  return gunzipSync(readFileSync(new URL(`${name}.ndjson.gz`, folder)))
    .toString()
    .trimEnd()
    .split('\n');
}

/** A recorded transaction: where it is from, what the node said, and what we make of it. */
export interface RecordedTransaction {
  /** Such as `tx/<start of the signature>_<encoding>`, `block/<slot>…#<place>`. Those under `tx-rebuilt/` were not recorded. */
  readonly name: string;
  readonly cluster: string;
  readonly result: unknown;
  readonly transaction: Transaction;
}

/** Reads one line of `transactions` or `mainnet-block`. */
export function parseRecording(line: string): RecordedTransaction {
  // the pack's own shape, made with the recordings
  const { name, cluster, result } = parseExactJson(line) as Omit<RecordedTransaction, 'transaction'>;
  return { name, cluster, result, transaction: normalizeTransaction(result) };
}
