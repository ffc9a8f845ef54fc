import { sign } from 'node:crypto';
import { formatReceipt, formatStatement, type Statement, treeHeadText } from '../../client/verify/index.ts';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from './merkle-tree.ts';
import type { SigningKey } from './signing-key.ts';

/** Signs at least one statement; returns their receipts in order, all under a single signature. */
export function signBatch(statements: readonly Statement[], { secret, publicKey, kid }: SigningKey): string[] {
  const size = statements.length;
  const tree = buildMerkleTree(statements.map((one) => leafHash(formatStatement(publicKey, one))));
  const sig = sign(null, Buffer.from(treeHeadText(size, merkleRoot(tree)), 'latin1'), secret).toString('hex');
  return statements.map((one, index) =>
    formatReceipt(one, { kid, size, index, path: inclusionPath(tree, index), sig }),
  );
}
