import { type Entry, wholeResultOf } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

/** Returns the digest of the entry's result. It is computed once, however often the entry is signed. */
export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') entry.digest = digestOf(wholeResultOf(entry));
  return entry.digest;
}
