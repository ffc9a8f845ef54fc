import { CLOCK_SYSVAR } from '../../src/shared/domain/well-known-addresses.ts';

const CLOCK_BYTES = 40;

export function clockData(slot: number): Buffer {
  const data = Buffer.alloc(CLOCK_BYTES);
  data.writeBigUInt64LE(BigInt(slot));
  return data;
}

/** Returns a node's JSON of the Clock sysvar at a slot, its data in base64. */
export const clockText = (slot: number): string =>
  `{"lamports":1169280,"data":["${clockData(slot).toString('base64')}","base64"],"owner":"Sysvar1111111111111111111111111111111111111","executable":false,"rentEpoch":0,"space":${CLOCK_BYTES}}`;

/** Returns the Clock at the end of a finalized read's answer, as that names it last; nothing for other reads. */
export const clockAtEnd = (addresses: readonly string[], slot: number): string[] =>
  addresses.at(-1) === CLOCK_SYSVAR ? [clockText(slot)] : [];
