import { Packr } from 'msgpackr';
import type { NetworkSnapshot } from '../../domain/network-snapshot.ts';

/** Plain maps, readable by every MessagePack library. */
const packr = new Packr({ useRecords: false });

/** The frame as MessagePack: the same members as the text, integers as integers. */
export const packFrame = (snapshot: NetworkSnapshot): Buffer =>
  packr.pack({ result: packableObject(snapshot), slot: packableNumber(snapshot.slot) });

const packableObject = (members: object): object =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, packable(value)]));

function packable(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return packableNumber(value);
  return typeof value === 'object' && value !== null ? packableObject(value) : value;
}

/** The packer writes numbers beyond 32 bits as doubles, and any bigint in 64 bits. */
function packableNumber(value: number | bigint): number | bigint {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0xffff_ffff ? BigInt(value) : value;
  return value <= 0xffff_ffffn ? Number(value) : value;
}
