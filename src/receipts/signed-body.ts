import type { Slot } from '../domain/slot.ts';

const OPENING = '{"result":';

/** A result with its proof, as it is sent. */
export const formatSignedBody = (result: string, slot: Slot, receipt: string): string =>
  `${OPENING}${result}${separatorFor(slot)}${receipt}}`;

/** A text or a Buffer of it: what has no Buffer can take a body apart, too. */
interface TextLike {
  lastIndexOf(part: string): number;
  slice(start: number, end: number): { toString(): string };
}

/** The text of the receipt in a signed body: it begins at the last `{`, as its grammar holds no other. */
export const receiptTextIn = (body: TextLike): string => body.slice(body.lastIndexOf('{'), -1).toString();

/** The text of the result in a body signed for this slot; undefined when the words around it are others. */
export function resultTextIn(body: string, slot: Slot): string | undefined {
  const separator = separatorFor(slot);
  const end = body.lastIndexOf('{') - separator.length;
  const isFramed = body.startsWith(OPENING) && end > OPENING.length && body.startsWith(separator, end);
  return isFramed ? body.slice(OPENING.length, end) : undefined;
}

const separatorFor = (slot: Slot): string => `,"slot":${slot},"receipt":`;
