import bs58 from 'bs58';
import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { signSuccession } from '../../../../src/receipts/keys/sign-succession.ts';
import { isSuccession, parseSuccession, successionText } from '../../../../src/receipts/keys/succession.ts';
import { kidOf, signingKeyOf } from '../../../../src/receipts/signing-key.ts';
import { testVectors } from '../../../support/receipts/test-vectors.ts';

const { text, newPublicKey, sig } = testVectors.succession;
const notBeforeMs = 1_719_000_000_000;
const old = signingKeyOf(parsePrivateKey(testVectors.seed));

t.test('the published succession is written and signed bit for bit', async (t) => {
  t.equal(successionText(testVectors.publicKey, newPublicKey, notBeforeMs), text);
  t.same(signSuccession(old, newPublicKey, notBeforeMs), { kid: testVectors.kid, sig });
  t.equal(kidOf(bs58.decode(newPublicKey)), '39f713d0a644253f');
});

t.test('it is signed by one key, for one key, from one time on', async (t) => {
  t.ok(isSuccession(sig, testVectors.publicKey, newPublicKey, notBeforeMs));
  t.notOk(isSuccession(sig, newPublicKey, testVectors.publicKey, notBeforeMs));
  t.notOk(isSuccession(sig, testVectors.publicKey, testVectors.publicKey, notBeforeMs));
  t.notOk(isSuccession(sig, newPublicKey, newPublicKey, notBeforeMs));
  t.notOk(isSuccession(sig, testVectors.publicKey, newPublicKey, notBeforeMs + 1));
  t.notOk(isSuccession(sig.replace('b', 'c'), testVectors.publicKey, newPublicKey, notBeforeMs));
});

t.test('its header is parsed as it is written, and nothing else is', async (t) => {
  const header = `${testVectors.kid};${notBeforeMs};${sig}`;
  t.same(parseSuccession(header), { kid: testVectors.kid, notBeforeMs, sig });
  for (const text of ['', header.toUpperCase(), header.slice(1), ` ${header}`, header.replace(';', ';0'), `${header}0`])
    t.equal(parseSuccession(text), undefined, text);
});
