import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import bs58 from 'bs58';
import type { Receipt } from '../../../src/client/verify/receipt.ts';
import type { Statement } from '../../../src/client/verify/statement.ts';

// A second implementation of the format, from its description and with node:crypto alone: it shares no code with
// src/gateway/receipts. It handles honest keys and bodies only.

const sha256 = (...parts: (string | Buffer)[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** The members of a statement, in their order: those of version 2 where it names operators. */
const membersOf = ({ agreed }: Statement) => {
  const [ofVersion2, ofEvents] = agreed === undefined ? [[], []] : [['agreed'] as const, ['previous'] as const];
  const before = ['cluster', 'request', 'status', 'slot', 'commitment', 'claim'] as const;
  return [...before, ...ofVersion2, ...(['digest', 'issuedAt', 'nonce'] as const), ...ofEvents];
};

const versionOf = ({ agreed }: Statement): number => (agreed === undefined ? 1 : 2);

const leafOf = (publicKey: string, statement: Statement): Buffer =>
  sha256(
    '\0',
    [
      `proof-of-serve/v${versionOf(statement)}`,
      publicKey,
      ...membersOf(statement).map((name) => statement[name] ?? '-'),
    ]
      .map((line) => `${line}\n`)
      .join(''),
  );

const split = (count: number): number => 2 ** Math.ceil(Math.log2(count) - 1);

/** RFC 9162 2.1.1 */
function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first = Buffer.alloc(0)] = leaves;
  if (leaves.length <= 1) return first;
  const k = split(leaves.length);
  return sha256('\x01', rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

/** RFC 9162 2.1.3.1 */
function pathOf(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k ? [...pathOf(index, left), rootOf(right)] : [...pathOf(index - k, right), rootOf(left)];
}

/** Computes the root by the path, from the top of the tree down to the leaf: not the loop of RFC 9162 2.1.3.2. */
function rootBy(leaf: Buffer, index: number, size: number, path: readonly Buffer[]): Buffer {
  const sibling = path.at(-1);
  if (sibling === undefined) return leaf;
  const k = split(size);
  return index < k
    ? sha256('\x01', rootBy(leaf, index, k, path.slice(0, -1)), sibling)
    : sha256('\x01', sibling, rootBy(leaf, index - k, size - k, path.slice(0, -1)));
}

const treeHeadOf = (size: number, root: Buffer): Buffer =>
  Buffer.from(`proof-of-serve/v1 tree\n${size}\n${root.toString('hex')}\n`);

/** Signs statements together with node:crypto and returns their receipts. `seed` is in hex. */
export function signWithNodeCrypto(seed: string, statements: readonly Statement[]): string[] {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicBytes = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
  const leaves = statements.map((statement) => leafOf(bs58.encode(publicBytes), statement));
  const size = leaves.length;
  return statements.map((statement, index) =>
    JSON.stringify({
      v: versionOf(statement),
      kid: sha256(publicBytes).toString('hex').slice(0, 16),
      ...Object.fromEntries(membersOf(statement).map((name) => [name, statement[name] ?? null])),
      size,
      index,
      path: pathOf(index, leaves).map((node) => node.toString('hex')),
      sig: sign(null, treeHeadOf(size, rootOf(leaves)), secret).toString('hex'),
    }),
  );
}

/** Whether node:crypto accepts a body's digest and signature. */
export function verifyWithNodeCrypto(body: string, publicKey: string): boolean {
  const start = body.lastIndexOf('{');
  const receipt = JSON.parse(body.slice(start, -1)) as Receipt; // of an honest body
  const { index, size, path, sig, slot, digest } = receipt;
  const result = body.slice('{"result":'.length, start - `,"slot":${slot},"receipt":`.length);
  const siblings = path.map((hex) => Buffer.from(hex, 'hex'));
  const key = createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bs58.decode(publicKey)]),
    format: 'der',
    type: 'spki',
  });
  const head = treeHeadOf(size, rootBy(leafOf(publicKey, receipt), index, size, siblings));
  return sha256(result).toString('hex') === digest && verify(null, head, key, Buffer.from(sig, 'hex'));
}
