import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { receiptIn, resultIn } from '../body.ts';
import { parseReceipt, type Receipt } from '../receipt.ts';
import { must, ReceiptError } from './receipt-error.ts';

/** The two parts of an enveloped answer, taken apart. Nothing of it is proven yet. */
export interface SignedBody {
  /** The result as it was sent, whose digest is the receipt's. */
  readonly result: string;
  readonly receipt: Receipt;
}

/**
 * Takes a body apart and compares the digest.
 * Throws a ReceiptError: `utf8`, `envelope`, `malformed` or `digest`.
 */
export function takeApart(body: Uint8Array | string): SignedBody {
  const text = textOf(body);
  must(text.includes('{') && text.endsWith('}'), 'envelope');
  const receipt = parseReceipt(receiptIn(text));
  must(receipt !== undefined, 'malformed');
  const result = resultIn(text, receipt.slot);
  must(result !== undefined, 'envelope');
  must(bytesToHex(sha256(utf8ToBytes(result))) === receipt.digest, 'digest');
  return { result, receipt };
}

/** A body as text. Throws a ReceiptError, `utf8`, when it is none. */
export const textOf = (body: Uint8Array | string): string =>
  typeof body === 'string' ? wellFormed(body) : decode(body);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(body: Uint8Array): string {
  try {
    return decoder.decode(body);
  } catch {
    throw new ReceiptError('utf8');
  }
}

/** A lone surrogate has no UTF-8 bytes, so it can't be what was signed. */
function wellFormed(body: string): string {
  must(!/\p{Surrogate}/u.test(body), 'utf8');
  return body;
}
