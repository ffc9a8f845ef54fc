import { type Entry, rememberDigest } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

/** Returns the digest of the entry's result. It is computed once, with the ETag, however often the entry is signed. */
export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') rememberDigest(entry, digestOf(entry.result));
  return entry.digest;
}
