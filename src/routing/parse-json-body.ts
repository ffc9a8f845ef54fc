import secureJson from 'secure-json-parse';
import { GatewayError } from '../domain/gateway-error.ts';

/** Maximum nesting. No request needs more, and parsers recurse once per level. */
const MAX_DEPTH = 64;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses a request body as JSON. Throws `invalid_json` if it isn't, nests too deep, or has a member `__proto__`. */
export function parseJsonBody(body: Buffer): unknown {
  if (isTooDeep(body)) throw new GatewayError('invalid_json', `the body nests deeper than ${MAX_DEPTH} levels`);
  try {
    const text = decoder.decode(body);
    if (text.startsWith('\ufeff')) throw new SyntaxError('byte order mark');
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' });
  } catch (cause) {
    throw new GatewayError('invalid_json', 'the body is not JSON', { cause });
  }
}

/** Returns true for deeper nesting than {@link MAX_DEPTH}. Counts brackets outside of strings, without recursion. */
function isTooDeep(body: Buffer): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (isInString) {
      if (byte === 0x5c) i++;
      else if (byte === 0x22) isInString = false;
    } else if (byte === 0x22) isInString = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}
