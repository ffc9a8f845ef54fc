import { ReceiptError, type ReceiptFault } from '../../../src/client/verify/receipt-error.ts';
import type { Expected, Verifier } from '../../../src/client/verify/verify-receipt.ts';

/** Returns the fault that a verifier finds in a body, or `holds`. */
export function verificationOutcome(
  verify: Verifier,
  body: string | Uint8Array,
  expected: Expected,
): ReceiptFault | 'holds' {
  try {
    verify(body, expected);
    return 'holds';
  } catch (thrown) {
    if (thrown instanceof ReceiptError) return thrown.code;
    throw thrown;
  }
}

/** Replaces one part of a text, which must occur. */
export function replaceOnce(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  if (result === text) throw new Error(`nothing to replace: ${from}`);
  return result;
}
