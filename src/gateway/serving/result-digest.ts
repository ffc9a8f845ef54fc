import { createHash } from 'node:crypto';
import { signedBodyFrame } from '../../client/verify/index.ts';
import { concatInTurns } from '../../shared/runtime/concat-in-turns.ts';
import { ownTurn } from '../../shared/runtime/own-turn.ts';
import { type Entry, wholeResultOf } from '../cache/entry.ts';
import { digestOf } from '../receipts/digest.ts';

/** The length from which a result is hashed and copied in slices: an account may have 14 MB. */
const LONG_RESULT = 512 * 1024;

/** Characters handled in one turn of the event loop: about a millisecond's work. */
const SLICE_LENGTH = 512 * 1024;

/** Returns true for a result that would hold the event loop if it were hashed or copied in one turn. */
export const hasLongResult = ({ result }: Entry): boolean =>
  typeof result === 'string' ? result.length > LONG_RESULT : Buffer.isBuffer(result);

/** Returns the digest of a short result, which is made once. */
export function ensureDigest(entry: Entry): string {
  if (entry.digest === '') entry.digest = digestOf(wholeResultOf(entry));
  return entry.digest;
}

/** The hashing of long results under way, so that each result is hashed once. */
const hashing = new WeakMap<Entry, Promise<void>>();

export function hashInTurns(entry: Entry): Promise<void> {
  const underWay = hashing.get(entry) ?? hash(entry);
  hashing.set(entry, underWay);
  return underWay;
}

async function hash(entry: Entry): Promise<void> {
  const digest = createHash('sha256');
  for await (const slice of slicesInTurns(wholeResultOf(entry))) digest.update(slice);
  entry.digest = digest.digest('hex');
}

/** Formats the body of a long result, whose digest is known, as `formatSignedBody` does, in slices. */
export async function formatInTurns(entry: Entry, receipt: string): Promise<Buffer> {
  const [before, after] = signedBodyFrame(entry.slot, receipt);
  const result = wholeResultOf(entry);
  const parts: Buffer[] = [Buffer.from(before)];
  if (typeof result !== 'string') parts.push(result);
  else for await (const slice of slicesInTurns(result)) parts.push(slice);
  return concatInTurns([...parts, Buffer.from(after)]);
}

/** Returns the bytes of a result in slices, each in a turn of its own. None ends between the two halves of a character. */
async function* slicesInTurns(result: string | Buffer): AsyncGenerator<Buffer> {
  for (let start = 0, end = 0; start < result.length; start = end) {
    await ownTurn();
    end = start + SLICE_LENGTH;
    if (typeof result !== 'string') yield result.subarray(start, end);
    else {
      if ((result.charCodeAt(end) & 0xfc00) === 0xdc00) end--;
      yield Buffer.from(result.slice(start, end));
    }
  }
}
