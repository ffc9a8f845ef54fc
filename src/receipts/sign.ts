import { type KeyObject, sign } from 'node:crypto';
import bs58 from 'bs58';
import { digestOf } from './digest.ts';
import { publicBytes } from './keys/key-format.ts';
import { type Succession, successionText } from './keys/succession.ts';
import { receiptText } from './receipt.ts';
import { headText, type Statement, statementText } from './statement.ts';
import { leafHash, pathTo, rootOf, treeOf } from './tree.ts';

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
export function signingKey(secret: KeyObject): SigningKey {
  const raw = publicBytes(secret);
  return { secret, publicKey: bs58.encode(raw), kid: kidOf(raw) };
}

/** The receipts of at least one statement, in order, all under a single signature. */
export function signAll(statements: readonly Statement[], { secret, publicKey, kid }: SigningKey): string[] {
  const size = statements.length;
  const tree = treeOf(statements.map((statement) => leafHash(statementText(publicKey, statement))));
  const sig = sign(null, Buffer.from(headText(size, rootOf(tree)), 'latin1'), secret).toString('hex');
  return statements.map((statement, index) =>
    receiptText({ v: 1, kid, ...statement, size, index, path: pathTo(tree, index), sig }),
  );
}

/** Names the key that takes over, from `notBeforeMs` on. */
export function succeed(old: SigningKey, newKey: string, notBeforeMs: number): Succession {
  const text = Buffer.from(successionText(old.publicKey, newKey, notBeforeMs), 'latin1');
  return { kid: old.kid, sig: sign(null, text, old.secret).toString('hex') };
}
