import bs58 from 'bs58';

/** Returns the address whose last bytes are a number: as many different ones as a test needs. */
export function addressOfNumber(number: number): string {
  const bytes = new Uint8Array(32).fill(1);
  new DataView(bytes.buffer).setUint32(28, number);
  return bs58.encode(bytes);
}
