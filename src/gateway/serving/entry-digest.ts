import { type Entry, wholeResultOf } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') entry.digest = digestOf(wholeResultOf(entry));
  return entry.digest;
}
