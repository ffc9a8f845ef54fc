import { bytesToHex } from '@noble/hashes/utils.js';
import type { Receipt } from '../receipt.ts';
import { headText, statementText } from '../statement.ts';
import { rootFrom } from './inclusion.ts';
import type { Judge } from './judge.ts';
import { must } from './receipt-error.ts';
import type { TrustedKey } from './trusted-key.ts';

/** Throws a ReceiptError unless the key's owner signed what the receipt states. */
export function mustBeSigned(receipt: Receipt, key: TrustedKey, judge: Judge): void {
  must(key.isStrong(), 'weak-key');
  const { index, size, path, sig } = receipt;
  const root = rootFrom(statementText(key.text, receipt), index, size, path);
  must(root !== undefined, 'path');
  must(judge.isSigned(headText(size, bytesToHex(root)), sig, key), 'signature');
}
