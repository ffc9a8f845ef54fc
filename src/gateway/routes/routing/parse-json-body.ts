import secureJson from 'secure-json-parse';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';

/** Maximum nesting. No request needs more, and parsers recurse once per level. */
const MAX_DEPTH = 64;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a request body as JSON. Throws `invalid_json` if it isn't, nests too deep, or has a member `__proto__`, and
 * `invalid_request` for more than `maxValues` values: short ones in great number take long to parse.
 */
export function parseJsonBody(body: Buffer, maxValues = Number.POSITIVE_INFINITY): unknown {
  const { depth, values } = measureJson(body);
  if (depth > MAX_DEPTH) throw new GatewayError('invalid_json', `the body nests deeper than ${MAX_DEPTH} levels`);
  if (values > maxValues) throw new GatewayError('invalid_request', `the body has more than ${maxValues} values`);
  try {
    const text = decoder.decode(body);
    if (text.startsWith('\ufeff')) throw new SyntaxError('byte order mark');
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' });
  } catch (cause) {
    throw new GatewayError('invalid_json', 'the body is not JSON', { cause });
  }
}

/** Returns the nesting and the number of values, from the brackets and commas outside of strings, without recursion. */
function measureJson(body: Buffer): { readonly depth: number; readonly values: number } {
  let level = 0;
  let depth = 0;
  let values = 1;
  let isInString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (isInString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) isInString = false;
    } else if (byte === 0x22) isInString = true;
    else if (byte === 0x2c) values++;
    else if (byte === 0x5b || byte === 0x7b) {
      depth = Math.max(depth, ++level);
      values++;
    } else if (byte === 0x5d || byte === 0x7d) level--;
  }
  return { depth, values };
}
