import { bytesToHex } from '@noble/hashes/utils.js';
import { rootOfPath } from './inclusion-path.ts';
import type { Receipt } from './receipt.ts';
import { ensure } from './receipt-error.ts';
import type { SignatureBackend } from './signature-backend.ts';
import { formatStatement, treeHeadText } from './statement.ts';
import type { TrustedKey } from './trusted-key.ts';

/** Throws a ReceiptError unless the key's owner signed the receipt's statement. */
export function ensureSigned(receipt: Receipt, key: TrustedKey, backend: SignatureBackend): void {
  ensure(key.isStrong(), 'weak-key');
  const { index, size, path, sig } = receipt;
  const root = rootOfPath(formatStatement(key.base58, receipt), index, size, path);
  ensure(root !== undefined, 'path');
  ensure(backend.isSigned(treeHeadText(size, bytesToHex(root)), sig, key), 'signature');
}
