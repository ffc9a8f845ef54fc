import { createHash } from 'node:crypto';
import { type Entry, wholeResultOf } from '../cache/entry.ts';
import { concatInTurns } from '../domain/concat-in-turns.ts';
import { ownTurn } from '../domain/own-turn.ts';
import { signedBodyFrame } from '../receipts/signed-body.ts';

/** The length from which a result is hashed and copied in slices: an account may have 14 MB. */
const LONG_RESULT = 512 * 1024;

/** Characters handled in one turn of the event loop: about a millisecond's work. */
const SLICE_LENGTH = 512 * 1024;

/** Returns true for a result that would hold the event loop if it were hashed or copied in one turn. */
export const hasLongResult = ({ result }: Entry): boolean =>
  typeof result === 'string' ? result.length > LONG_RESULT : Buffer.isBuffer(result);

/** The hashing of long results under way, so that each result is hashed once. */
const hashing = new WeakMap<Entry, Promise<void>>();

/** Computes the digest of a long result in slices. */
export function hashInTurns(entry: Entry): Promise<void> {
  const underWay = hashing.get(entry) ?? hash(entry);
  hashing.set(entry, underWay);
  return underWay;
}

async function hash(entry: Entry): Promise<void> {
  const digest = createHash('sha256');
  for (const slice of slicesOf(wholeResultOf(entry))) {
    await ownTurn();
    digest.update(slice);
  }
  entry.digest = digest.digest('hex');
}

/** Formats the body of a long result, whose digest is known, as `formatSignedBody` does, in slices. */
export async function formatInTurns(entry: Entry, receipt: string): Promise<Buffer> {
  const [before, after] = signedBodyFrame(entry.slot, receipt);
  const end = before.length + entry.resultBytes;
  const result = wholeResultOf(entry);
  if (typeof result !== 'string') return concatInTurns([Buffer.from(before), result, Buffer.from(after)]);
  const body = Buffer.allocUnsafeSlow(end + after.length);
  let at = body.write(before);
  for (const text of slicesOfText(result)) {
    await ownTurn();
    at += body.write(text, at);
  }
  body.write(after, at);
  return body;
}

function* slicesOf(result: string | Buffer): Generator<string | Buffer> {
  if (typeof result === 'string') yield* slicesOfText(result);
  else for (let at = 0; at < result.length; at += SLICE_LENGTH) yield result.subarray(at, at + SLICE_LENGTH);
}

/** Cuts a text into slices. None ends between the two halves of a character. */
function* slicesOfText(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = Math.min(start + SLICE_LENGTH, text.length);
    const isInCharacter = end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00;
    yield text.slice(start, isInCharacter ? end - 1 : end);
    start = isInCharacter ? end - 1 : end;
  }
}
