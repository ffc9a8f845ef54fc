import { parseReceipt, type Receipt } from './receipt.ts';
import { ensure } from './receipt-error.ts';
import { createSignatureBackend } from './signature-backend.ts';
import { parseTrustedKey, type TrustedKey } from './trusted-key.ts';
import { ensureSigned } from './verify-signature.ts';

/**
 * Returns true if two receipts prove that their signer signed two different truths: with one key, for one cluster, request
 * and slot, two different results, both finalized and both `exact` under the same revision, that is, determined by the
 * ledger alone. The two texts convince anybody; the bodies are not needed. Results that are `observed` or not finalized
 * may rightly differ, so they convict nobody.
 *
 * A receipt is its JSON text, or the value that JSON.parse made of it. Throws a ReceiptError if that key did not sign
 * one of them, as then they say nothing about its owner.
 */
export function equivocation(a: Receipt | string, b: Receipt | string, publicKey: string): boolean {
  const key = parseTrustedKey(publicKey);
  const [first, second] = [parseSigned(key, a), parseSigned(key, b)];
  const isSameStatement = EQUAL_MEMBERS.every((member) => first[member] === second[member]);
  return isSameStatement && isExactFinalized(first) && isExactFinalized(second) && first.digest !== second.digest;
}

/** Parses a receipt that the key signed. Its `kid` is ignored: it's a hint that nobody signed. */
function parseSigned(key: TrustedKey, evidence: Receipt | string): Receipt {
  const receipt = parseReceipt(typeof evidence === 'string' ? evidence : JSON.stringify(evidence));
  ensure(receipt !== undefined, 'malformed');
  ensureSigned(receipt, key, createSignatureBackend());
  return receipt;
}

const EQUAL_MEMBERS = ['cluster', 'request', 'status', 'slot', 'claim'] as const;

const isExactFinalized = ({ claim, commitment }: Receipt): boolean =>
  claim.startsWith('exact/') && commitment === 'finalized';
