/** The key under which requests are counted: a number for an IPv4 address, a bigint for an IPv6 /64, else a name. */
export type RateLimitKey = number | bigint | string;

/** What an IPv6 /48 may use, which one customer usually has, in multiples of what a /64 may. */
export const SITE_FACTOR = 8;

const UNKNOWN_KEY = 'unknown';
const IPV4_MAPPED_WORD = 0x0000_ffff; // third word of ::ffff:0:0/96, the IPv4-mapped addresses

/** Returns the key of a socket's address of 4 or 16 bytes. All addresses of any other length share one key. */
export function addressKeyOf(address: ArrayBuffer): RateLimitKey {
  const length = address.byteLength;
  if (length !== 4 && length !== 16) return UNKNOWN_KEY;
  const view = new DataView(address);
  if (length === 4) return view.getInt32(0); // signed: small integers are the fastest Map keys
  const mapped = view.getInt32(0) === 0 && view.getInt32(4) === 0 && view.getInt32(8) === IPV4_MAPPED_WORD;
  return mapped ? view.getInt32(12) : view.getBigUint64(0);
}

/** Returns the key of the /48 around an IPv6 /64, which differs from every other key; undefined for other keys. */
export const siteKeyOf = (identity: RateLimitKey): RateLimitKey | undefined =>
  typeof identity === 'bigint' ? ~(identity >> 16n) : undefined;

/** All of an IPv6 /48, which one customer usually has, is one caller where shares of what all use are counted. */
export function callerNameOf(key: RateLimitKey): string {
  if (typeof key === 'string') return key;
  const siteKey = siteKeyOf(key);
  return siteKey === undefined ? `ipv4 ${key}` : `ipv6 site ${siteKey}`;
}

/** The same in all processes. */
export const textOfKey = (key: RateLimitKey): string =>
  typeof key === 'string' ? `k${key}` : typeof key === 'bigint' ? `6${key}` : `4${key}`;

export function keyOfText(text: string): RateLimitKey {
  const value = text.slice(1);
  return text[0] === 'k' ? value : text[0] === '6' ? BigInt(value) : Number(value);
}
