import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/** Returns the eight-byte discriminator of an SPL interface's instruction, in hex. */
export const splDiscriminator = (name: string): string =>
  bytesToHex(sha256(new TextEncoder().encode(name)).subarray(0, 8));
