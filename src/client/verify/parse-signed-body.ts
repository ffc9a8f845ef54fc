import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { parseReceipt, type Receipt } from './receipt.ts';
import { ensure, ReceiptError } from './receipt-error.ts';
import { receiptTextIn, resultTextIn } from './signed-body.ts';

export interface ParsedSignedBody {
  /** The result as it was sent; the receipt holds its digest. */
  readonly result: string;
  readonly receipt: Receipt;
}

/** Parses a body and compares the digest. Throws a ReceiptError: `utf8`, `envelope`, `malformed` or `digest`. */
export function parseSignedBody(body: Uint8Array | string): ParsedSignedBody {
  const text = bodyText(body);
  ensure(text.includes('{') && text.endsWith('}'), 'envelope');
  const receipt = parseReceipt(receiptTextIn(text));
  ensure(receipt !== undefined, 'malformed');
  const result = resultTextIn(text, receipt.slot);
  ensure(result !== undefined, 'envelope');
  ensure(bytesToHex(sha256(utf8ToBytes(result))) === receipt.digest, 'digest');
  return { result, receipt };
}

/** Returns a body as text. Throws a ReceiptError, `utf8`, if it is none. */
export const bodyText = (body: Uint8Array | string): string =>
  typeof body === 'string' ? ensureWellFormed(body) : decodeUtf8(body);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(body: Uint8Array): string {
  try {
    return decoder.decode(body);
  } catch {
    throw new ReceiptError('utf8');
  }
}

/** Returns the body unless it has a lone surrogate, which has no UTF-8 bytes and thus can't have been signed. */
function ensureWellFormed(body: string): string {
  ensure(!/\p{Surrogate}/u.test(body), 'utf8');
  return body;
}
