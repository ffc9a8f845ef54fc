import { sign } from 'node:crypto';
import {
  type CommonFields,
  formatReceiptOf,
  formatReceiptParts,
  formatStatementOf,
  formatStatementParts,
  haveCommonFields,
  type Statement,
  treeHeadText,
} from '../../client/verify/index.ts';
import { ownText } from '../../shared/runtime/own-text.ts';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from './merkle-tree.ts';
import type { SigningKey } from './signing-key.ts';

/** Signs at least one statement; returns their receipts in order, all under a single signature. */
export function signBatch(statements: readonly Statement[], { secret, publicKey, kid }: SigningKey): string[] {
  const size = statements.length;
  const statementPartsOf = onceForAlike((fields) => formatStatementParts(publicKey, fields));
  const leaves = statements.map((one) => leafHash(formatStatementOf(statementPartsOf(one), one)));
  const tree = buildMerkleTree(leaves);
  const sig = sign(null, Buffer.from(treeHeadText(size, merkleRoot(tree)), 'latin1'), secret).toString('hex');
  const receiptPartsOf = onceForAlike((fields) => formatReceiptParts(fields, { kid, size, sig }));
  return statements.map((one, index) =>
    formatReceiptOf(receiptPartsOf(one), one, { index, path: inclusionPath(tree, index) }),
  );
}

/** Returns a function that calls `format` once for statements that follow each other and have these fields in common. */
function onceForAlike<T extends readonly string[]>(format: (fields: CommonFields) => T): (statement: Statement) => T {
  let last: { readonly fields: CommonFields; readonly parts: T } | undefined;
  return (fields) => {
    if (last === undefined || !haveCommonFields(fields, last.fields)) last = { fields, parts: flat(format(fields)) };
    return last.parts;
  };
}

/** Returns the texts in one piece each: V8 keeps those that it puts together as trees, and walks these at each use. */
const flat = <T extends readonly string[]>(texts: T): T => texts.map(ownText) as readonly string[] as T; // as many texts
