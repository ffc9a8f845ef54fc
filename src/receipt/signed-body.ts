import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Slot } from '../domain/answer.ts';
import { parseReceipt, type Receipt } from './receipt.ts';
import { must, ReceiptError } from './receipt-error.ts';

/** The two parts of an enveloped answer, taken apart. Nothing of it is proven yet. */
export interface SignedBody {
  /** The result as it was sent, whose digest is the receipt's. */
  readonly result: string;
  readonly receipt: Receipt;
}

/**
 * Takes a body apart at the one place where it can be, as the receipt's grammar holds no `{`, and compares the digest.
 * Throws a ReceiptError: `utf8`, `envelope`, `malformed` or `digest`.
 */
export function takeApart(body: Uint8Array | string): SignedBody {
  const text = textOf(body);
  const start = text.lastIndexOf('{');
  must(start >= 0 && text.endsWith('}'), 'envelope');
  const receipt = parseReceipt(text.slice(start, -1));
  must(receipt !== undefined, 'malformed');
  const result = framed(text.slice(0, start), receipt.slot);
  must(bytesToHex(sha256(utf8ToBytes(result))) === receipt.digest, 'digest');
  return { result, receipt };
}

/** Cuts the result's text from between the fixed words around it. */
function framed(beforeReceipt: string, slot: Slot): string {
  const before = '{"result":';
  const after = `,"slot":${slot},"receipt":`;
  must(beforeReceipt.startsWith(before) && beforeReceipt.endsWith(after), 'envelope');
  must(beforeReceipt.length > before.length + after.length, 'envelope');
  return beforeReceipt.slice(before.length, -after.length);
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
