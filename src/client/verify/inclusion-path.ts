import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/**
 * Computes the root from a leaf's data along an inclusion path, by the steps of RFC 9162 2.1.3.2. Returns undefined if
 * the path's length doesn't fit index and size.
 */
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
