import { ReceiptError, type ReceiptFault } from '../../../src/receipts/verify/receipt-error.ts';
import type { Expected, Verifier } from '../../../src/receipts/verify/verify-receipt.ts';

/** What a verifier says of a body: the fault that it finds, or `holds`. */
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

/** A text with one thing replaced, which must be there. */
export function replaceOnce(text: string, from: string | RegExp, to: string): string {
  const result = text.replace(from, to);
  if (result === text) throw new Error(`nothing to replace: ${from}`);
  return result;
}
