import bs58 from 'bs58';

/** The longest text of 32 bytes in base58. */
const MAX_ADDRESS_LENGTH = 44;

/**
 * Returns the bytes of an address that a node may have named. Throws for a text that is longer than any: the time of
 * decoding grows with the square of the length, and a node's text of 80,000 characters blocked the event loop for six
 * seconds.
 */
export function addressBytes(address: string): Uint8Array {
  if (address.length > MAX_ADDRESS_LENGTH) throw new RangeError('an address has at most 44 characters');
  return bs58.decode(address);
}
