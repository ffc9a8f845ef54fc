import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { parseReceipt, type Receipt } from '../receipt.ts';
import { receiptTextIn, resultTextIn } from '../signed-body.ts';
import { ensure, ReceiptError } from './receipt-error.ts';

/** The two parts of an enveloped answer, taken apart. Nothing of it is proven yet. */
export interface ParsedSignedBody {
  /** The result as it was sent, whose digest is the receipt's. */
  readonly result: string;
  readonly receipt: Receipt;
}

/**
 * Takes a body apart and compares the digest.
 * Throws a ReceiptError: `utf8`, `envelope`, `malformed` or `digest`.
 */
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

/** A body as text. Throws a ReceiptError, `utf8`, when it is none. */
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

/** A lone surrogate has no UTF-8 bytes, so it can't be what was signed. */
function ensureWellFormed(body: string): string {
  ensure(!/\p{Surrogate}/u.test(body), 'utf8');
  return body;
}
