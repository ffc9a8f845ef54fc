import { ed25519 } from '@noble/curves/ed25519.js';
import { equalBytes } from '@noble/curves/utils.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { type ByteReader, readBytes } from '../codec/byte-reader.ts';

/** Parent, owner and class stand before the content of each account of the name service. */
const REGISTRY_HEADER = 96;

/** The owner of a name, as 32 bytes; undefined when the data is no account of the name service. */
export const nameOwner = (data: Uint8Array): Uint8Array | undefined =>
  data.length < REGISTRY_HEADER ? undefined : data.subarray(32, 64);

/** What a record says: an address to pay to, nothing that still counts, or something that forbids to pay at all. */
export type RecordVerdict =
  | { readonly verdict: 'valid'; readonly address: string }
  | { readonly verdict: 'ignored' }
  | { readonly verdict: 'refused' };

const IGNORED: RecordVerdict = { verdict: 'ignored' };
const REFUSED: RecordVerdict = { verdict: 'refused' };

/** How the two ids of a record are vouched for, and how long each kind of id is. */
const ID_LENGTHS: Readonly<Record<number, number>> = { 0: 0, 1: 32, 2: 20, 3: 32 };
const SIGNED_BY_SOLANA_KEY = 1;

/**
 * Judges the SOL record of version 2. It counts while the staleness id is the name's owner (who wrote it still owns the name),
 * and only with the right of association of the very address it names.
 * https://github.com/SolanaNameService/sns-sdk/blob/main/js/src/resolve/resolve.ts
 */
export const judgeRecordV2 = (data: Uint8Array, owner: Uint8Array): RecordVerdict =>
  readBytes(data, (from) => readRecordV2(from, owner)) ?? REFUSED;

function readRecordV2(from: ByteReader, owner: Uint8Array): RecordVerdict {
  from.bytes(REGISTRY_HEADER);
  const staleness = from.u16();
  const association = from.u16();
  from.u32(); // the content's length: the content runs to the end
  const stalenessId = from.bytes(idLength(staleness));
  const associationId = from.bytes(idLength(association));
  const content = from.rest();
  if (content.length !== 32 || staleness !== SIGNED_BY_SOLANA_KEY || association !== SIGNED_BY_SOLANA_KEY)
    return REFUSED;
  if (!equalBytes(stalenessId, owner)) return IGNORED;
  return equalBytes(associationId, content) ? { verdict: 'valid', address: bs58.encode(content) } : REFUSED;
}

function idLength(validation: number): number {
  const length = ID_LENGTHS[validation];
  if (length === undefined) throw new RangeError(`${validation} is no kind of validation`);
  return length;
}

/**
 * Judges the SOL record of version 1: an address, and the signature of the name's owner under the hex digits of that address
 * and of the record's own.
 */
export function judgeRecordV1(data: Uint8Array, owner: Uint8Array, record: string): RecordVerdict {
  const address = data.subarray(REGISTRY_HEADER, REGISTRY_HEADER + 32);
  const signature = data.subarray(REGISTRY_HEADER + 32, REGISTRY_HEADER + 96);
  if (signature.length !== 64) return IGNORED;
  const signed = utf8ToBytes(bytesToHex(concatBytes(address, bs58.decode(record))));
  const genuine = ed25519.verify(signature, signed, owner, { zip215: false });
  return genuine ? { verdict: 'valid', address: bs58.encode(address) } : IGNORED;
}
