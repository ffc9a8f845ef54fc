/** Whose requests are counted together: a number for an IPv4 address, a bigint for an IPv6 /64, else a name. */
export type RateLimitKey = number | bigint | string;

const UNKNOWN_KEY = 'unknown';
const IPV4_MAPPED_WORD = 0x0000_ffff; // third word of ::ffff:0:0/96, an IPv4 address in IPv6 clothes

/** The identity behind a socket's address of 4 or 16 bytes. Any other length is one identity for all. */
export function addressKeyOf(address: ArrayBuffer): RateLimitKey {
  const length = address.byteLength;
  if (length !== 4 && length !== 16) return UNKNOWN_KEY;
  const view = new DataView(address);
  if (length === 4) return view.getInt32(0); // signed, since such numbers are looked up fastest
  const mapped = view.getInt32(0) === 0 && view.getInt32(4) === 0 && view.getInt32(8) === IPV4_MAPPED_WORD;
  return mapped ? view.getInt32(12) : view.getBigUint64(0);
}

/** The /48 that an IPv6 /64 lies in, apart from every other identity; undefined where there is none. */
export const siteKeyOf = (identity: RateLimitKey): RateLimitKey | undefined =>
  typeof identity === 'bigint' ? ~(identity >> 16n) : undefined;
