import { createHash } from 'node:crypto';
import t from 'tap';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from '../../../src/receipts/merkle-tree.ts';
import { rootOfPath } from '../../../src/receipts/verify/inclusion-path.ts';

const sha256 = (...parts: (string | Buffer)[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** RFC 9162 2.1.1, word for word: split at the largest power of two below n. */
function mth(leaves: readonly string[]): Buffer {
  if (leaves.length === 1) return sha256('\0', leaves[0] ?? '');
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return sha256('\x01', mth(leaves.slice(0, k)), mth(leaves.slice(k)));
}

const leaves = Array.from({ length: 130 }, (_, i) => `leaf ${i}\n`);
const trees = leaves.map((_, i) => buildMerkleTree(leaves.slice(0, i + 1).map(leafHash)));
const hex = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString('hex');

t.test('the root is the one RFC 9162 defines, for 1 to 130 leaves', async (t) => {
  for (const [i, tree] of trees.entries()) t.equal(merkleRoot(tree), hex(mth(leaves.slice(0, i + 1))));
});

t.test('every path leads its own leaf to the root, and no other leaf or index', async (t) => {
  const wrong: string[] = [];
  for (const size of [1, 2, 3, 5, 8, 13, 21, 33, 64, 65]) {
    const tree = trees[size - 1] ?? [];
    for (let index = 0; index < size; index++) {
      const path = inclusionPath(tree, index);
      const leads = (leaf: number, place: number): boolean =>
        hex(rootOfPath(leaves[leaf] ?? '', place, size, path)) === merkleRoot(tree);
      if (!leads(index, index)) wrong.push(`${index} of ${size}`);
      if (leads((index + 1) % 130, index)) wrong.push(`leaf ${index + 1} in place of ${index} of ${size}`);
      if (size > 1 && leads(index, (index + 1) % size)) wrong.push(`${index} moved on, of ${size}`);
    }
  }
  t.same(wrong, []);
});

t.test('a path that is too short or too long leads nowhere', async (t) => {
  const path = inclusionPath(trees[63] ?? [], 5);
  t.equal(rootOfPath(leaves[5] ?? '', 5, 64, path.slice(1)), undefined);
  t.equal(rootOfPath(leaves[5] ?? '', 5, 64, [...path, '0'.repeat(64)]), undefined);
  t.equal(rootOfPath('alone', 0, 1, ['0'.repeat(64)]), undefined);
});

t.test('a node can not pass for a leaf', async (t) => {
  const [left, right] = [leafHash('a'), leafHash('b')];
  const root = merkleRoot(buildMerkleTree([left, right]));
  t.not(leafHash(Buffer.from(left + right, 'hex').toString('latin1')), root);
  t.not(leafHash(Buffer.from(`01${left}${right}`, 'hex').toString('latin1')), root);
});
