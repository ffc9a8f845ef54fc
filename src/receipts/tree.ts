import { digestOf } from './digest.ts';

/** A Merkle tree by its levels, from the leaves up to the root. Hashes are lower-case hex. */
export type Tree = readonly (readonly string[])[];

/** What keeps leaves and nodes apart: data that looks like a node can never be hashed as one. */
const LEAF = '\0';
const NODE = 1;

const pair = Buffer.alloc(65, NODE); // one for all: it is filled and hashed without a break

/** The hash of a leaf's data. */
export const leafHash = (statement: string): string => digestOf(LEAF + statement);

function nodeHash(left: string, right: string): string {
  pair.write(left, 1, 'hex');
  pair.write(right, 33, 'hex');
  return digestOf(pair);
}

/**
 * The tree over at least one leaf, as RFC 9162 2.1.1 defines it: pairing from below and lifting the odd node
 * unchanged gives the same root as splitting at the largest power of two.
 */
export function treeOf(leaves: readonly string[]): Tree {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; ) {
    const above: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as string; // i is below length
      const right = level[i + 1];
      above.push(right === undefined ? left : nodeHash(left, right));
    }
    levels.push(above);
    level = above;
  }
  return levels;
}

/** The hash that stands for all leaves. */
export const rootOf = (tree: Tree): string => tree.at(-1)?.[0] ?? '';

/** The siblings from a leaf up to the root. */
export function pathTo(tree: Tree, leaf: number): string[] {
  const path: string[] = [];
  let index = leaf;
  for (const level of tree) {
    const sibling = level[index ^ 1];
    if (sibling !== undefined) path.push(sibling);
    index >>= 1;
  }
  return path;
}
