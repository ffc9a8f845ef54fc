import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/**
 * The root that a leaf's data leads to along an inclusion path, by the steps of RFC 9162 2.1.3.2. Undefined when
 * the path isn't as long as index and size ask for.
 */
export function rootFrom(data: string, index: number, size: number, path: readonly string[]): Uint8Array | undefined {
  let node = sha256(concatBytes(LEAF, utf8ToBytes(data)));
  let place = index;
  let last = size - 1;
  for (const hex of path) {
    if (last === 0) return undefined;
    const sibling = hexToBytes(hex);
    if (place % 2 === 1 || place === last) {
      node = sha256(concatBytes(NODE, sibling, node));
      while (place % 2 === 0 && place !== 0) {
        place >>= 1;
        last >>= 1;
      }
    } else node = sha256(concatBytes(NODE, node, sibling));
    place >>= 1;
    last >>= 1;
  }
  return last === 0 ? node : undefined;
}
