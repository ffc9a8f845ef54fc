import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
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

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** By RFC 9162 2.1.3.2. Undefined if the path's length doesn't fit index and size. */
export function rootOfPath(data: string, index: number, size: number, path: readonly string[]): Uint8Array | undefined {
  let node = sha256(concatBytes(LEAF_PREFIX, utf8ToBytes(data)));
  let position = index;
  let last = size - 1;
  for (const hex of path) {
    if (last === 0) return undefined;
    const sibling = hexToBytes(hex);
    if (position % 2 === 1 || position === last) {
      node = sha256(concatBytes(NODE_PREFIX, sibling, node));
      while (position % 2 === 0 && position !== 0) {
        position >>= 1;
        last >>= 1;
      }
    } else node = sha256(concatBytes(NODE_PREFIX, node, sibling));
    position >>= 1;
    last >>= 1;
  }
  return last === 0 ? node : undefined;
}
