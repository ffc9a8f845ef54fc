import { Packr } from 'msgpackr/pack';
import type { NetworkSnapshot } from '../../../shared/domain/network-snapshot.ts';

/** A packer of plain maps, readable by every MessagePack library. */
const packr = new Packr({ useRecords: false });

/** Encodes a frame as MessagePack: the same members as its JSON, integers as integers. */
export const packFrame = (snapshot: NetworkSnapshot): Buffer =>
  packr.pack({ result: packableObject(snapshot), slot: packableNumber(snapshot.slot) });

const packableObject = (members: object): object =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, packable(value)]));

function packable(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return packableNumber(value);
  return typeof value === 'object' && value !== null ? packableObject(value) : value;
}

/** Returns an integer as the type that the packer writes as an integer: it writes numbers beyond 32 bits as doubles. */
function packableNumber(value: number | bigint): number | bigint {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0xffff_ffff ? BigInt(value) : value;
  return value <= 0xffff_ffffn ? Number(value) : value;
}
