import ipaddr from 'ipaddr.js';
import { StartError } from '../../../shared/domain/start-error.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [base: Address, bits: number];

const IPV4_MAPPED_PREFIX_BITS = 96; // ::ffff:0:0/96, the IPv4-mapped addresses (RFC 4291 2.5.5.2)

/** The header lines of a request, names in lower case. A proxy may add a second line of the same name. */
export interface HeaderList {
  forEach(visit: (name: string, value: string) => void): void;
}

export interface ConnectionPeer {
  /** 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  /** Returns the address of a PROXY protocol v2 header before the request, 4 or 16 bytes; empty if there was none. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

export type ClientIpResolver = ReturnType<typeof createClientIpResolver>;

/**
 * Creates the resolver of client addresses. The address is the socket's peer, unless it is in one of the
 * `trustedProxies` (addresses or CIDRs): then the hops before it (the one in a PROXY header and those of
 * `X-Forwarded-For`) are walked from right to left up to the first that isn't, because only hops written by trusted
 * proxies can be believed. Throws a StartError for a network that can't be parsed.
 */
export function createClientIpResolver(trustedProxies: readonly string[]) {
  const trustsProxies = trustedProxies.length > 0;
  const networks = trustedProxies.map(parseNetwork);
  const isTrusted = (address: Address): boolean => networks.some((network) => contains(network, address));
  const isTrustedProxy = (bytes: ArrayBuffer): boolean => {
    const address = trustsProxies ? fromBytes(bytes) : undefined;
    return address !== undefined && isTrusted(address);
  };
  return {
    trustsProxies,
    /** Returns 4 or 16 bytes. */
    resolve(peer: ConnectionPeer, headers: HeaderList): ArrayBuffer {
      const bytes = peer.getRemoteAddress();
      if (!trustsProxies) return bytes;
      let hop = fromBytes(bytes);
      if (hop === undefined || !isTrusted(hop)) return bytes;
      hop = fromBytes(peer.getProxiedRemoteAddress()) ?? hop;
      if (!isTrusted(hop)) return toBytes(hop);
      for (const text of valuesIn(headers, 'x-forwarded-for').reverse()) {
        const before = parseHop(text);
        if (before === undefined) break; // anybody may have written the hops left of an invalid one
        hop = before;
        if (!isTrusted(hop)) break;
      }
      return toBytes(hop);
    },
    /** Returns the address of the peer itself: the resolved one where no proxy is trusted, which saves a system call. */
    peerOf: (peer: ConnectionPeer, resolved: ArrayBuffer): ArrayBuffer =>
      trustsProxies || resolved.byteLength === 0 ? peer.getRemoteAddress() : resolved,
    /** Of several headers callers may have sent the later ones: such a connection must be closed after the answer. */
    hasProxyHeader: (peer: ConnectionPeer): boolean =>
      trustsProxies && peer.getProxiedRemoteAddress().byteLength > 0 && isTrustedProxy(peer.getRemoteAddress()),
    /** The address has 4 or 16 bytes. */
    isTrustedProxy,
  };
}

/** Returns whether an address of 4 or 16 bytes is one of this machine's loopback interface. */
export const isLoopback = (address: ArrayBuffer): boolean => fromBytes(address)?.range() === 'loopback';

export const addressText = (address: ArrayBuffer): string => fromBytes(address)?.toString() ?? '';

/** Returns the values between commas in all lines of a header. */
export function valuesIn(headers: HeaderList, wanted: string): string[] {
  const values: string[] = [];
  headers.forEach((name, value) => {
    if (name === wanted) values.push(...value.split(','));
  });
  return values;
}

/** Parses `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1` or `[2001:db8::1]:567`. */
function parseHop(text: string): Address | undefined {
  const withoutPort = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1');
  const address = parse(withoutPort);
  return address && unmapIpv4(address);
}

function parseNetwork(text: string): Network {
  const [, base = '', prefix] = /^([^/]*)(?:\/(\d+))?$/.exec(text) ?? [];
  const address = parse(base);
  const maxBits = address?.kind() === 'ipv4' ? 32 : 128;
  const bits = prefix === undefined ? maxBits : Number(prefix);
  if (address === undefined || bits > maxBits)
    throw new StartError(78, `trustedProxies: ${text} is neither an address nor a network such as 10.0.0.0/8`);
  const native = unmapIpv4(address);
  return native === address ? [address, bits] : [native, Math.max(0, bits - IPV4_MAPPED_PREFIX_BITS)];
}

const contains = ([network, bits]: Network, address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

function fromBytes(bytes: ArrayBuffer): Address | undefined {
  if (bytes.byteLength !== 4 && bytes.byteLength !== 16) return undefined;
  return unmapIpv4(ipaddr.fromByteArray([...new Uint8Array(bytes)]));
}

const toBytes = (address: Address): ArrayBuffer => Uint8Array.from(address.toByteArray()).buffer;

/** Accepts only the usual spellings: none of the short, octal or hexadecimal ones that tools read in different ways. */
function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

const unmapIpv4 = (address: Address): Address =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
