import type { Entry } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

/** The number of hex digits of the digest in an `ETag`: enough to tell two results of one request apart. */
const ETAG_DIGITS = 16;

/** Returns the digest of the entry's result. It is computed once, with the ETag, however often the entry is signed. */
export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') {
    entry.digest = digestOf(entry.result);
    entry.etag = entry.digest.slice(0, ETAG_DIGITS);
  }
  return entry.digest;
}
