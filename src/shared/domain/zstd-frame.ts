const MAGIC = 0xfd2fb528;
const SINGLE_SEGMENT = 0x20;
const SIZE_IN_FOUR_BYTES = 0x80;
/** Maximum size of a block (RFC 8878). */
const MAX_BLOCK_BYTES = 128 * 1024;

/**
 * Wraps bytes in a Zstandard frame (RFC 8878) without compression: valid for any reader, and Node 20 has no compressor.
 */
export function wrapInZstdFrame(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += MAX_BLOCK_BYTES) {
    const block = bytes.subarray(at, at + MAX_BLOCK_BYTES);
    const last = at + MAX_BLOCK_BYTES >= bytes.length ? 1 : 0;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | last, 0, 3);
    blocks.push(header, block);
  }
  const short = bytes.length < 256;
  const header = Buffer.alloc(short ? 6 : 9);
  header.writeUInt32LE(MAGIC);
  header.writeUInt8(short ? SINGLE_SEGMENT : SINGLE_SEGMENT | SIZE_IN_FOUR_BYTES, 4);
  header.writeUIntLE(bytes.length, 5, short ? 1 : 4);
  return Buffer.concat([header, ...blocks]);
}
