import type { Slot } from '../domain/slot.ts';

const OPENING = '{"result":';

/** A result with its proof, as it is sent. */
export const signedBody = (result: string, slot: Slot, receipt: string): string =>
  `${OPENING}${result}${between(slot)}${receipt}}`;

/** A text or a Buffer of it: what has no Buffer can take a body apart, too. */
interface Readable {
  lastIndexOf(part: string): number;
  slice(start: number, end: number): { toString(): string };
}

/** The text of the receipt in a signed body: it begins at the last `{`, as its grammar holds no other. */
export const receiptIn = (body: Readable): string => body.slice(body.lastIndexOf('{'), -1).toString();

/** The text of the result in a body signed for this slot; undefined when the words around it are others. */
export function resultIn(body: string, slot: Slot): string | undefined {
  const after = between(slot);
  const end = body.lastIndexOf('{') - after.length;
  const isFramed = body.startsWith(OPENING) && end > OPENING.length && body.startsWith(after, end);
  return isFramed ? body.slice(OPENING.length, end) : undefined;
}

const between = (slot: Slot): string => `,"slot":${slot},"receipt":`;
