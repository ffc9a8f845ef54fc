import { ed25519 } from '@noble/curves/ed25519.js';
import { equalBytes } from '@noble/curves/utils.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import bs58 from 'bs58';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { addressBytes } from './address-bytes.ts';

/** Size of the parent, owner and class before the content of each name service account. */
const NAME_HEADER_BYTES = 96;

/** Returns the 32-byte owner of a name; undefined if the data is not a name service account. */
export const nameOwnerOf = (data: Uint8Array): Uint8Array | undefined =>
  data.length < NAME_HEADER_BYTES ? undefined : data.subarray(32, 64);

/** The verdict on a record: an address to pay to, a record without effect, or a record that forbids paying at all. */
export type RecordVerdict =
  | { readonly verdict: 'valid'; readonly address: string }
  | { readonly verdict: 'ignored' }
  | { readonly verdict: 'refused' };

const IGNORED: RecordVerdict = { verdict: 'ignored' };
const REFUSED: RecordVerdict = { verdict: 'refused' };

/** Size of a record's two ids by their kind of validation. */
const VALIDATION_ID_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 32, 2: 20, 3: 32 };
const SOLANA_VALIDATION = 1;

/**
 * Validates the SOL record of version 2. It counts while its staleness id is the name's owner (its author still owns
 * the name), and only with the right of association of the address that it names.
 * https://github.com/SolanaNameService/sns-sdk/blob/main/js/src/resolve/resolve.ts
 */
export const validateRecordV2 = (data: Uint8Array, owner: Uint8Array): RecordVerdict =>
  tryDecode(data, (reader) => validateRecordV2Fields(reader, owner)) ?? REFUSED;

function validateRecordV2Fields(reader: ByteReader, owner: Uint8Array): RecordVerdict {
  reader.bytes(NAME_HEADER_BYTES);
  const stalenessValidation = reader.u16();
  const associationValidation = reader.u16();
  reader.u32(); // the content's length: the content runs to the end
  const stalenessId = reader.bytes(validationIdBytes(stalenessValidation));
  const associationId = reader.bytes(validationIdBytes(associationValidation));
  const content = reader.remainingBytes();
  if (content.length !== 32 || stalenessValidation !== SOLANA_VALIDATION || associationValidation !== SOLANA_VALIDATION)
    return REFUSED;
  if (!equalBytes(stalenessId, owner)) return IGNORED;
  return equalBytes(associationId, content) ? { verdict: 'valid', address: bs58.encode(content) } : REFUSED;
}

function validationIdBytes(validation: number): number {
  const length = VALIDATION_ID_BYTES[validation];
  if (length === undefined) throw new RangeError(`${validation} is no kind of validation`);
  return length;
}

/**
 * Validates the SOL record of version 1: an address, and a signature by the name's owner over the hex digits of that
 * address and of the record's address.
 */
export function validateRecordV1(data: Uint8Array, owner: Uint8Array, record: string): RecordVerdict {
  const address = data.subarray(NAME_HEADER_BYTES, NAME_HEADER_BYTES + 32);
  const signature = data.subarray(NAME_HEADER_BYTES + 32, NAME_HEADER_BYTES + 96);
  if (signature.length !== 64) return IGNORED;
  const signedMessage = utf8ToBytes(bytesToHex(concatBytes(address, addressBytes(record))));
  const isGenuine = ed25519.verify(signature, signedMessage, owner, { zip215: false });
  return isGenuine ? { verdict: 'valid', address: bs58.encode(address) } : IGNORED;
}
