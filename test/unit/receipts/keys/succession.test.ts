import bs58 from 'bs58';
import t from 'tap';
import { parsePrivateKey } from '../../../../src/receipts/keys/private-key-format.ts';
import { isSuccession, parseSuccession, successionText } from '../../../../src/receipts/keys/succession.ts';
import { kidOf, signingKeyOf, signSuccession } from '../../../../src/receipts/sign-batch.ts';
import { vectors } from '../../../support/receipts/test-vectors.ts';

const { text, newPublicKey, sig } = vectors.succession;
const notBeforeMs = 1_719_000_000_000;
const old = signingKeyOf(parsePrivateKey(vectors.seed));

t.test('the published succession is written and signed bit for bit', async (t) => {
  t.equal(successionText(vectors.publicKey, newPublicKey, notBeforeMs), text);
  t.same(signSuccession(old, newPublicKey, notBeforeMs), { kid: vectors.kid, sig });
  t.equal(kidOf(bs58.decode(newPublicKey)), '39f713d0a644253f');
});

t.test('it is the word of one key, for one key, from one moment on', async (t) => {
  t.ok(isSuccession(sig, vectors.publicKey, newPublicKey, notBeforeMs));
  t.notOk(isSuccession(sig, newPublicKey, vectors.publicKey, notBeforeMs));
  t.notOk(isSuccession(sig, vectors.publicKey, vectors.publicKey, notBeforeMs));
  t.notOk(isSuccession(sig, newPublicKey, newPublicKey, notBeforeMs));
  t.notOk(isSuccession(sig, vectors.publicKey, newPublicKey, notBeforeMs + 1));
  t.notOk(isSuccession(sig.replace('b', 'c'), vectors.publicKey, newPublicKey, notBeforeMs));
});

t.test('its header is read as it is written, and nothing else is', async (t) => {
  const header = `${vectors.kid};${notBeforeMs};${sig}`;
  t.same(parseSuccession(header), { kid: vectors.kid, notBeforeMs, sig });
  for (const text of ['', header.toUpperCase(), header.slice(1), ` ${header}`, header.replace(';', ';0'), `${header}0`])
    t.equal(parseSuccession(text), undefined, text);
});
