import { parseReceipt, type Receipt } from '../receipt.ts';
import { ensure } from './receipt-error.ts';
import { createSignatureBackend } from './signature-backend.ts';
import { parseTrustedKey, type TrustedKey } from './trusted-key.ts';
import { ensureSigned } from './verify-signature.ts';

/**
 * True when two receipts are the whole proof that their signer told two truths: one key signed, of one cluster, request
 * and slot, two different results, both finalized and both `exact` under the same revision, that is as what nothing but
 * the ledger decides. Whoever has the two texts can show it to anybody; the bodies are not needed. What is `observed`
 * or not finalized may rightly differ, so it convicts nobody.
 *
 * A receipt is its JSON text, or what JSON.parse made of it. Throws ReceiptError when one of them is not signed by
 * that key, as then they say nothing about its owner.
 */
export function equivocation(a: Receipt | string, b: Receipt | string, publicKey: string): boolean {
  const key = parseTrustedKey(publicKey);
  const [first, second] = [parseSigned(key, a), parseSigned(key, b)];
  const isSameStatement = EQUAL_MEMBERS.every((member) => first[member] === second[member]);
  return isSameStatement && isExactFinalized(first) && isExactFinalized(second) && first.digest !== second.digest;
}

/** Reads a receipt that the key signed. Its `kid` is not looked at: it's a hint, and nobody signed it. */
function parseSigned(key: TrustedKey, evidence: Receipt | string): Receipt {
  const receipt = parseReceipt(typeof evidence === 'string' ? evidence : JSON.stringify(evidence));
  ensure(receipt !== undefined, 'malformed');
  ensureSigned(receipt, key, createSignatureBackend());
  return receipt;
}

const EQUAL_MEMBERS = ['cluster', 'request', 'status', 'slot', 'claim'] as const;

const isExactFinalized = ({ claim, commitment }: Receipt): boolean =>
  claim.startsWith('exact/') && commitment === 'finalized';
