import { GatewayError } from './gateway-error.ts';

export const API_PREFIX = '/api/v1';

/** The message for a path that no route has. */
export const ROUTE_NOT_FOUND = `no route has this path; GET ${API_PREFIX}/openapi.json describes them all`;

/** The longest canonical request that the grammar of receipts allows, in bytes. */
const MAX_REQUEST_BYTES = 2045;
/** The bytes that a target may have for each of the canonical request, as in `%41`. */
const BYTES_PER_BYTE = 3;
/** More than any route has: to decode and to sort thousands takes milliseconds. */
const MAX_PARAMETERS = 64;
const PATH_GRAMMAR = /^(\/[A-Za-z0-9._~-]+)+$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export interface RequestTarget {
  /** The path from the first `/api/v1` on, byte for byte. */
  readonly path: string;
  /** Decoded query parameters, sorted by the bytes of their names. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Path and query in the spelling that is signed: equal requests have equal texts. */
  readonly canonical: string;
}

/**
 * Parses a request target by the grammar of receipts, without knowledge of routes.
 * Throws `route_not_found` for a path outside the grammar, `invalid_query` for a query that can't be decoded or
 * repeats or leaves out a name, `uri_too_long` when the canonical request is over 2,045 bytes.
 */
export function parseTarget(target: string): RequestTarget {
  if (target.length > BYTES_PER_BYTE * MAX_REQUEST_BYTES) throw tooLong();
  const fragment = target.indexOf('#');
  const text = fragment < 0 ? target : target.slice(0, fragment);
  const queryStart = text.indexOf('?');
  const fullPath = queryStart < 0 ? text : text.slice(0, queryStart);
  const path = fullPath.slice(Math.max(0, fullPath.indexOf(API_PREFIX)));
  const query = queryStart < 0 ? [] : parseQuery(text.slice(queryStart + 1));
  const pairs = query.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
  const canonical = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
  if (canonical.length + 'GET '.length > MAX_REQUEST_BYTES) throw tooLong();
  if (!PATH_GRAMMAR.test(path)) throw new GatewayError('route_not_found', ROUTE_NOT_FOUND);
  return { path, query, canonical };
}

const tooLong = (): GatewayError =>
  new GatewayError(
    'uri_too_long',
    `a receipt names at most ${MAX_REQUEST_BYTES} bytes of a request: request less at a time`,
  );

const repeatedMessage = (name: string): string =>
  `the query parameter ${name} is repeated: send it once; a list is one value with commas, as in ${name}=A,B`;

/** Returns the line of a receipt's statement that names the request. `SUB` is for stream frames. */
export const canonicalRequest = (method: 'GET' | 'SUB', target: string): string =>
  `${method} ${parseTarget(target).canonical}`;

function parseQuery(text: string): [string, string][] {
  const pieces = text.split('&').filter((piece) => piece !== '');
  if (pieces.length > MAX_PARAMETERS)
    throw new GatewayError('invalid_query', `a query has at most ${MAX_PARAMETERS} parameters`);
  const pairs = pieces
    .map((piece): [string, string] => {
      const equals = piece.indexOf('=');
      return equals < 0
        ? [percentDecode(piece), '']
        : [percentDecode(piece.slice(0, equals)), percentDecode(piece.slice(equals + 1))];
    })
    .sort(([a], [b]) => compareBytes(a, b));
  pairs.forEach(([name], index) => {
    if (name === '') throw new GatewayError('invalid_query', 'a query parameter has no name: write name=value');
    if (name === pairs[index + 1]?.[0]) throw new GatewayError('invalid_query', repeatedMessage(percentEncode(name)));
  });
  return pairs;
}

function percentDecode(text: string): string {
  const source = encoder.encode(text);
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] as number; // i is below length
    if (byte === 0x2b) bytes[length++] = 0x20;
    else if (byte === 0x25) {
      const hex = String.fromCharCode(source[i + 1] ?? 0, source[i + 2] ?? 0);
      if (!/^[0-9A-Fa-f]{2}$/.test(hex))
        throw new GatewayError(
          'invalid_query',
          'the query has a % without two hex digits: write a percent sign as %25',
        );
      bytes[length++] = Number.parseInt(hex, 16);
      i += 2;
    } else bytes[length++] = byte;
  }
  try {
    return decoder.decode(bytes.subarray(0, length));
  } catch (cause) {
    throw new GatewayError('invalid_query', 'the query is not UTF-8: percent-encode its bytes', { cause });
  }
}

/** Percent-encodes every byte outside `A-Za-z0-9-._~`, in upper case (`encodeURIComponent` spares five more). */
const percentEncode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Compares by UTF-8 bytes, which differs from JavaScript's order by UTF-16 units beyond the BMP. */
function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const left = encoder.encode(a);
  const right = encoder.encode(b);
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) {
    const difference = (left[i] as number) - (right[i] as number); // i is below both lengths
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
