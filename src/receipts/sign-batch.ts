import { type KeyObject, sign } from 'node:crypto';
import bs58 from 'bs58';
import { digestOf } from './digest.ts';
import { publicBytesOf } from './keys/private-key-format.ts';
import { type Succession, successionText } from './keys/succession.ts';
import { buildMerkleTree, inclusionPath, leafHash, merkleRoot } from './merkle-tree.ts';
import { formatReceipt } from './receipt.ts';
import { formatStatement, type Statement, treeHeadText } from './statement.ts';

const KID_DIGITS = 16;

/** A private key with the names by which the world knows it. */
export interface SigningKey {
  /** An Ed25519 private key. */
  readonly secret: KeyObject;
  /** The 32 public bytes, base58. */
  readonly publicKey: string;
  readonly kid: string;
}

/** The id of a public key, of its 32 bytes. */
export const kidOf = (publicKey: Uint8Array): string => digestOf(publicKey).slice(0, KID_DIGITS);

/** Names an Ed25519 private key. */
export function signingKeyOf(secret: KeyObject): SigningKey {
  const raw = publicBytesOf(secret);
  return { secret, publicKey: bs58.encode(raw), kid: kidOf(raw) };
}

/** The receipts of at least one statement, in order, all under a single signature. */
export function signBatch(statements: readonly Statement[], { secret, publicKey, kid }: SigningKey): string[] {
  const size = statements.length;
  const tree = buildMerkleTree(statements.map((statement) => leafHash(formatStatement(publicKey, statement))));
  const sig = sign(null, Buffer.from(treeHeadText(size, merkleRoot(tree)), 'latin1'), secret).toString('hex');
  return statements.map((statement, index) =>
    formatReceipt({ v: 1, kid, ...statement, size, index, path: inclusionPath(tree, index), sig }),
  );
}

/** Names the key that takes over, from `notBeforeMs` on. */
export function signSuccession(predecessor: SigningKey, newKey: string, notBeforeMs: number): Succession {
  const text = Buffer.from(successionText(predecessor.publicKey, newKey, notBeforeMs), 'latin1');
  return { kid: predecessor.kid, sig: sign(null, text, predecessor.secret).toString('hex') };
}
