import { parseReceipt, type Receipt } from '../receipt.ts';
import { judge } from './judge.ts';
import { must } from './receipt-error.ts';
import { mustBeSigned } from './signed.ts';
import { type TrustedKey, trustedKey } from './trusted-key.ts';

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
  const key = trustedKey(publicKey);
  const [first, second] = [signedBy(key, a), signedBy(key, b)];
  const isSame = SAME.every((member) => first[member] === second[member]);
  return isSame && isFinal(first) && isFinal(second) && first.digest !== second.digest;
}

/** Reads a receipt that the key signed. Its `kid` is not looked at: it's a hint, and nobody signed it. */
function signedBy(key: TrustedKey, evidence: Receipt | string): Receipt {
  const receipt = parseReceipt(typeof evidence === 'string' ? evidence : JSON.stringify(evidence));
  must(receipt !== undefined, 'malformed');
  mustBeSigned(receipt, key, judge());
  return receipt;
}

const SAME = ['cluster', 'request', 'status', 'slot', 'claim'] as const;

const isFinal = ({ claim, commitment }: Receipt): boolean => claim.startsWith('exact/') && commitment === 'finalized';
