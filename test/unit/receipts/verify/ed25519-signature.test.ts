import { createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { passesSigningTest } from '../../../../src/receipts/keys/signing-self-test.ts';
import { publicBytesOf } from '../../../../src/receipts/signing-key.ts';
import { isSignature, isStrongKey } from '../../../../src/receipts/verify/ed25519-signature.ts';
import { littleEndianScalar, NON_CANONICAL_IDENTITY, SMALL_ORDER, withTorsion } from '../hostile-signer.ts';

const secret = parsePrivateKey(randomBytes(32).toString('hex'));
const publicKey = publicBytesOf(secret);
const message = Buffer.from('proof-of-serve/v1 tree\n1\n…');

t.test('an honest signature and an honest key pass', async (t) => {
  const signature = sign(null, message, secret);
  t.ok(isStrongKey(publicKey));
  t.ok(isSignature(signature, message, publicKey));
  t.ok(verify(null, message, createPublicKey(secret), signature));
  t.ok(passesSigningTest(secret));
  t.notOk(isSignature(signature, Buffer.from('other'), publicKey));
  t.notOk(isSignature(signature.subarray(1), message, publicKey));
});

t.test('a key that could deny its signatures is refused', async (t) => {
  for (const bytes of SMALL_ORDER) t.notOk(isStrongKey(bytes), 'small order');
  for (const torsion of SMALL_ORDER.slice(1)) t.notOk(isStrongKey(withTorsion(publicKey, torsion)), 'mixed order');
  t.notOk(isStrongKey(NON_CANONICAL_IDENTITY), 'a second spelling');
  t.notOk(isStrongKey(littleEndianScalar(2n)), 'not on the curve');
  t.notOk(isStrongKey(publicKey.subarray(1)), 'too short');
});
