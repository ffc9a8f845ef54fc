import { digestOf } from './digest.ts';

/** The levels of a Merkle tree, from the leaves up to the root. Hashes are lower-case hex. */
export type MerkleTree = readonly (readonly string[])[];

/** Prefixes that separate leaves from nodes: data that looks like a node can never be hashed as one. */
const LEAF_PREFIX = '\0';
const NODE_PREFIX = 1;

const nodeBuffer = Buffer.alloc(65, NODE_PREFIX); // one buffer for all: it is filled and hashed synchronously

export const leafHash = (statement: string): string => digestOf(LEAF_PREFIX + statement);

function nodeHash(left: string, right: string): string {
  nodeBuffer.write(left, 1, 'hex');
  nodeBuffer.write(right, 33, 'hex');
  return digestOf(nodeBuffer);
}

/** RFC 9162 2.1.1: lifting the odd node unchanged gives the same root as splitting at the largest power of two. */
export function buildMerkleTree(leaves: readonly string[]): MerkleTree {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; ) {
    const parents: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as string; // i is below length
      const right = level[i + 1];
      parents.push(right === undefined ? left : nodeHash(left, right));
    }
    levels.push(parents);
    level = parents;
  }
  return levels;
}

export const merkleRoot = (tree: MerkleTree): string => tree.at(-1)?.[0] ?? '';

export function inclusionPath(tree: MerkleTree, leafIndex: number): string[] {
  const path: string[] = [];
  let index = leafIndex;
  for (const level of tree) {
    const sibling = level[index ^ 1];
    if (sibling !== undefined) path.push(sibling);
    index >>= 1;
  }
  return path;
}
