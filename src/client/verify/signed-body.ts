import type { Slot } from '../../shared/domain/slot.ts';

const OPENING = '{"result":';

export function formatSignedBody(result: string, slot: Slot, receipt: string): string {
  const [before, after] = signedBodyFrame(slot, receipt);
  return before + result + after;
}

/** Returns what a body has before the result and after it, in ASCII. */
export const signedBodyFrame = (slot: Slot, receipt: string): readonly [before: string, after: string] => [
  OPENING,
  `${separatorFor(slot)}${receipt}}`,
];

/** Text or a Buffer of it: code without Buffer parses bodies too. */
interface TextLike {
  lastIndexOf(part: string): number;
  slice(start: number, end: number): { toString(): string };
}

/** Returns the text of the receipt in a signed body: it begins at the last `{`, as its grammar has no other. */
export const receiptTextIn = (body: TextLike): string => body.slice(body.lastIndexOf('{'), -1).toString();

/** Returns the text of the result in a body signed for this slot; undefined if the body has another form. */
export function resultTextIn(body: string, slot: Slot): string | undefined {
  const separator = separatorFor(slot);
  const end = body.lastIndexOf('{') - separator.length;
  const isFramed = body.startsWith(OPENING) && end > OPENING.length && body.startsWith(separator, end);
  return isFramed ? body.slice(OPENING.length, end) : undefined;
}

const separatorFor = (slot: Slot): string => `,"slot":${slot},"receipt":`;
