import { createHash, createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import t from 'tap';
import { parseKey, publicBytes } from '../../src/receipt/key-format.ts';
import { signsTruly } from '../../src/receipt/self-test.ts';
import { isSignature, isStrongKey } from '../../src/receipt/signature.ts';

const ORDER = ed25519.Point.Fn.ORDER;
const seed = randomBytes(32);
const secret = parseKey(seed.toString('hex'));
const publicKey = publicBytes(secret);
const message = Buffer.from('proof-of-serve/v1 tree\n1\n…');
const smallOrder = ED25519_TORSION_SUBGROUP.map((hex) => Buffer.from(hex, 'hex'));
const [, torsion = Buffer.alloc(0)] = smallOrder;

const little = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const scalar = (n: bigint): Buffer => Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse();
const challenge = (r: Uint8Array): bigint =>
  little(createHash('sha512').update(r).update(publicKey).update(message).digest()) % ORDER;

/** A signature by the key's owner with a chosen R, where `nonce` is R's discrete logarithm but for torsion. */
function craft(r: Uint8Array, nonce: bigint): Buffer {
  const { scalar: secretScalar } = ed25519.utils.getExtendedPublicKey(seed);
  return Buffer.concat([r, scalar((nonce + challenge(r) * secretScalar) % ORDER)]);
}

const opensslAccepts = (signature: Uint8Array): boolean => verify(null, message, createPublicKey(secret), signature);

t.test('an honest signature and an honest key pass, in both libraries', async (t) => {
  const signature = sign(null, message, secret);
  t.ok(isStrongKey(publicKey));
  t.ok(isSignature(signature, message, publicKey));
  t.ok(opensslAccepts(signature));
  t.ok(signsTruly(secret));
  t.notOk(isSignature(signature, Buffer.from('other'), publicKey));
  t.notOk(isSignature(signature.subarray(1), message, publicKey));
});

t.test('a hostile signer finds no signature on which the two libraries differ', async (t) => {
  const nonce = little(randomBytes(31));
  const point = ed25519.Point.BASE.multiply(nonce);
  const honest = craft(point.toBytes(), nonce);
  t.ok(isSignature(honest, message, publicKey), 'crafted by the rules');
  t.ok(opensslAccepts(honest));
  for (const bytes of smallOrder.slice(1)) {
    const twisted = craft(point.add(ed25519.Point.fromBytes(bytes, true)).toBytes(), nonce);
    t.notOk(isSignature(twisted, message, publicKey), 'R with torsion');
    t.notOk(opensslAccepts(twisted));
  }
  const highS = Buffer.concat([honest.subarray(0, 32), scalar(little(honest.subarray(32)) + ORDER)]);
  t.notOk(isSignature(highS, message, publicKey), 'S beyond the order');
  t.notOk(opensslAccepts(highS));
  const nonCanonical = scalar(2n ** 255n - 18n); // y = p + 1, a second spelling of the identity
  t.notOk(isSignature(craft(nonCanonical, 0n), message, publicKey), 'R in a second spelling');
  t.notOk(opensslAccepts(craft(nonCanonical, 0n)));
});

t.test('a key that could deny its signatures is refused', async (t) => {
  for (const bytes of smallOrder) t.notOk(isStrongKey(bytes), 'small order');
  const mixed = ed25519.Point.fromBytes(publicKey).add(ed25519.Point.fromBytes(torsion, true));
  t.notOk(isStrongKey(mixed.toBytes()), 'a good key with torsion added');
  t.notOk(isStrongKey(scalar(2n ** 255n - 18n)), 'a second spelling');
  t.notOk(isStrongKey(scalar(2n)), 'not on the curve');
  t.notOk(isStrongKey(publicKey.subarray(1)), 'too short');
});
