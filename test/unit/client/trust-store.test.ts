import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import t from 'tap';
import { type ClientOptions, createClient } from '../../../src/client/client.ts';
import { signSuccession } from '../../../src/receipts/keys/sign-succession.ts';
import { signingKeyOf } from '../../../src/receipts/signing-key.ts';
import { parseTrustedKey } from '../../../src/receipts/verify/trusted-key.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  CLUSTER,
  errorResponse,
  NOW_MS,
  newSigner,
  type RequestScript,
  scriptedFetch,
  signedBodyFor,
} from './scripted-fetch.ts';

const newSecret = (): KeyObject => generateKeyPairSync('ed25519').privateKey;
const [oldKey, midKey, newKey] = [newSecret(), newSecret(), newSecret()];
const [old, mid, next] = [newSigner(oldKey), newSigner(midKey), newSigner(newKey)];

const kidOf = ({ publicKey }: { readonly publicKey: string }): string => parseTrustedKey(publicKey).kid;

/** Returns the header of a succession from one key to another. */
function word(by: KeyObject, from: string, to: string, notBeforeMs = NOW_MS): string {
  const { kid, sig } = signSuccession(
    { ...signingKeyOf(by), publicKey: from, kid: parseTrustedKey(from).kid },
    to,
    notBeforeMs,
  );
  return `${kid};${notBeforeMs};${sig}`;
}

/** Creates a client that reads `/slot` from a scripted gateway. */
function reading(script: RequestScript, options: Partial<ClientOptions> = {}) {
  const { fetch, requests } = scriptedFetch(script);
  const client = createClient({
    url: 'http://gateway.test',
    clock: new ManualClock(NOW_MS),
    fetch,
    attempts: 1,
    ...options,
  });
  return { requests, slot: () => client.get('/slot') };
}

const TARGET = '/api/v1/slot';
const keyOf = (publicKey: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ publicKey, algorithm: 'ed25519' }, { headers });

t.test('without a pinned key the first one is trusted on first use, and requested once', async (t) => {
  const { requests, slot } = reading(({ target }) => {
    if (target === '/api/v1/pubkey') return keyOf(old.publicKey);
    if (target === '/api/v1/health') return Response.json({ result: { cluster: CLUSTER } });
    return new Response(signedBodyFor(TARGET, '7', { signer: requests.length < 6 ? old : next }));
  });
  const answers = await Promise.all([slot(), slot()]);
  t.same(
    answers.map(({ result }) => result),
    [7, 7],
  );
  t.equal(requests.filter(({ target }) => target !== TARGET).length, 2);
  await slot();
  t.equal(requests.length, 5);
  await t.rejects(slot().then(slot), { code: 'unknown-key' }, 'a later one is not trusted, whatever /pubkey answers');
});

t.test('anchors that could not be learned are requested again', async (t) => {
  const { slot } = reading(
    ({ target }, count) => {
      if (target === '/api/v1/health')
        return count < 3 ? errorResponse(503, 'unhealthy') : Response.json({ result: { cluster: CLUSTER } });
      return new Response(signedBodyFor(TARGET, '7', { signer: old }));
    },
    { publicKey: old.publicKey },
  );
  await t.rejects(slot(), { name: 'SlotgateError', code: 'unhealthy' });
  t.equal((await slot()).result, 7);
});

t.test('a new key is trusted by a chain of successions from a trusted key', async (t) => {
  const pinned = { publicKey: old.publicKey, cluster: CLUSTER };
  const keys = new Map([
    [kidOf(mid), keyOf.bind(null, mid.publicKey, { 'x-key-succession': word(oldKey, old.publicKey, mid.publicKey) })],
    [
      kidOf(next),
      keyOf.bind(null, next.publicKey, { 'x-key-succession': word(midKey, mid.publicKey, next.publicKey) }),
    ],
  ]);
  const { requests, slot } = reading(({ target }) => {
    const [, kid] = target.split('?kid=');
    if (kid === undefined) return new Response(signedBodyFor(TARGET, '7', { signer: next }));
    return keys.get(kid)?.() ?? errorResponse(404, 'unknown_key');
  }, pinned);
  t.equal((await slot()).receipt.kid, kidOf(next));
  await slot();
  t.same(
    requests.map(({ target }) => target),
    [TARGET, `/api/v1/pubkey?kid=${kidOf(next)}`, `/api/v1/pubkey?kid=${kidOf(mid)}`, TARGET],
  );
});

t.test('a new key without a valid succession is not trusted', async (t) => {
  const words: Readonly<Record<string, Response>> = {
    'no word': keyOf(next.publicKey),
    'its own word': keyOf(next.publicKey, { 'x-key-succession': word(newKey, next.publicKey, next.publicKey) }),
    'a word that somebody else signed': keyOf(next.publicKey, {
      'x-key-succession': word(newKey, old.publicKey, next.publicKey),
    }),
    'a word for another key': keyOf(next.publicKey, { 'x-key-succession': word(oldKey, old.publicKey, mid.publicKey) }),
    'a word for later': keyOf(next.publicKey, {
      'x-key-succession': word(oldKey, old.publicKey, next.publicKey, NOW_MS + 5001),
    }),
    'another key': keyOf(mid.publicKey, { 'x-key-succession': word(oldKey, old.publicKey, mid.publicKey) }),
    'no text at all': keyOf(next.publicKey, { 'x-key-succession': 'trust me' }),
    'a key that nobody knows': errorResponse(404, 'unknown_key'),
    'a void key': errorResponse(410, 'key_revoked'),
  };
  for (const [what, response] of Object.entries(words)) {
    const { slot } = reading(
      ({ target }) =>
        target === TARGET ? new Response(signedBodyFor(TARGET, '7', { signer: next })) : response.clone(),
      { publicKey: old.publicKey, cluster: CLUSTER },
    );
    await t.rejects(slot(), { name: 'ReceiptError', code: 'unknown-key' }, what);
  }
});
