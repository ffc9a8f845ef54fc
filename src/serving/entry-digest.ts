import type { Entry } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

/** The number of hex digits of the digest in an `ETag`: enough to tell two results of one request apart. */
const ETAG_DIGITS = 16;

/** Returns the digest of the entry's result. It is computed once, with the ETag, however often the entry is signed. */
export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') rememberDigest(entry, digestOf(entry.result));
  return entry.digest;
}

/** Keeps the digest of the entry's result, with the ETag that follows from it. */
export function rememberDigest(entry: Entry, digest: string): void {
  entry.digest = digest;
  entry.etag = digest.slice(0, ETAG_DIGITS);
}
