import { sign } from 'node:crypto';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from './merkle-tree.ts';
import { formatReceipt } from './receipt.ts';
import type { SigningKey } from './signing-key.ts';
import { formatStatement, type Statement, treeHeadText } from './statement.ts';

/** Signs at least one statement; returns their receipts in order, all under a single signature. */
export function signBatch(statements: readonly Statement[], { secret, publicKey, kid }: SigningKey): string[] {
  const size = statements.length;
  const tree = buildMerkleTree(statements.map((statement) => leafHash(formatStatement(publicKey, statement))));
  const sig = sign(null, Buffer.from(treeHeadText(size, merkleRoot(tree)), 'latin1'), secret).toString('hex');
  return statements.map((statement, index) =>
    formatReceipt({ v: 1, kid, ...statement, size, index, path: inclusionPath(tree, index), sig }),
  );
}
