import ipaddr from 'ipaddr.js';
import { StartError } from '../domain/start-error.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** What is needed of a request: every header line, names in lower case. A proxy may add a line of its own. */
export interface HeaderLines {
  forEach(visit: (name: string, value: string) => void): void;
}

/** The address (4 or 16 bytes) of who asked, given the socket's peer. */
export type ClientIp = (peer: ArrayBuffer, headers: HeaderLines) => ArrayBuffer;

/**
 * Decides whose address counts. The socket's peer, unless it is in one of the `trustedProxies` (addresses or CIDRs):
 * then `X-Forwarded-For` is walked from the right to the first hop that isn't, as only what trusted proxies wrote
 * can be believed. Throws StartError for a network that can't be read.
 */
export function clientIp(trustedProxies: readonly string[]): ClientIp {
  if (trustedProxies.length === 0) return (peer) => peer;
  const networks = trustedProxies.map(parseNetwork);
  const isTrusted = (address: Address): boolean => networks.some((network) => contains(network, address));
  return (peer, headers) => {
    let hop = fromBytes(peer);
    if (hop === undefined || !isTrusted(hop)) return peer;
    for (const text of forwardedFor(headers).reverse()) {
      const before = parseHop(text);
      if (before === undefined) break; // what stands left of garbage is anybody's invention
      hop = before;
      if (!isTrusted(hop)) break;
    }
    return toBytes(hop);
  };
}

function forwardedFor(headers: HeaderLines): string[] {
  const hops: string[] = [];
  headers.forEach((name, value) => {
    if (name === 'x-forwarded-for') hops.push(...value.split(','));
  });
  return hops;
}

/** Reads `1.2.3.4`, `1.2.3.4:567`, `2001:db8::1` or `[2001:db8::1]:567`. */
function parseHop(text: string): Address | undefined {
  const hop = text.trim();
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(hop) ?? [];
  const [, dotted] = /^([\d.]+)(?::\d+)?$/.exec(hop) ?? [];
  const address = bracketed ?? dotted ?? hop;
  const valid = dotted === undefined ? ipaddr.IPv6.isValid(address) : ipaddr.IPv4.isValidFourPartDecimal(address);
  return valid ? ipaddr.process(address) : undefined;
}

function parseNetwork(text: string): Network {
  try {
    const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : whole(ipaddr.parse(text));
    // Addresses are compared as IPv4 where they are that, so a network of theirs must be too.
    return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96
      ? [address.toIPv4Address(), bits - 96]
      : [address, bits];
  } catch (cause) {
    throw new StartError(78, `trustedProxies: ${text} is neither an address nor a network such as 10.0.0.0/8`, cause);
  }
}

const whole = (address: Address): Network => [address, address.kind() === 'ipv4' ? 32 : 128];

const contains = ([network, bits]: Network, address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

function fromBytes(bytes: ArrayBuffer): Address | undefined {
  if (bytes.byteLength !== 4 && bytes.byteLength !== 16) return undefined;
  const address = ipaddr.fromByteArray([...new Uint8Array(bytes)]);
  return ipaddr.process(address.toString());
}

const toBytes = (address: Address): ArrayBuffer => Uint8Array.from(address.toByteArray()).buffer;
