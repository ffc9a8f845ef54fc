import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import t from 'tap';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { readKeyRing } from '../../src/receipts/keys/key-history.ts';
import { revokeKey, rotateKey } from '../../src/receipts/keys/key-rotation.ts';
import { isSuccession } from '../../src/receipts/keys/succession.ts';
import { kidOf } from '../../src/receipts/signing-key.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { startStepped } from '../support/harness.ts';

const state = t.testdir();
const path = join(state, 'receipt-key.pem');
const { get, gateway, cluster, clock, step, logged } = await startStepped(t, { perSlot: 0, state, receiptKey: null });

const ring = () => readKeyRing(path, clock.now()) ?? [];
const idOf = (publicKey: string): string => kidOf(bs58.decode(publicKey));
const signerOf = async (target: string): Promise<string> => (await get(target)).json.receipt.kid;
/** Returns whether a body verifies with only this key trusted. */
const holds = (text: string, target: string, publicKey: string): boolean => {
  const request = `GET /api/v1${target}`;
  return verifyReceipt(text, { publicKeys: [publicKey], cluster: cluster.genesisHash, request }).slot > 0;
};

const first = gateway.publicKey;
const firstId = idOf(first);
const finalBlock = `/block/${cluster.chain.slot('finalized')}?commitment=finalized`;
const sealedByFirst = (await get(finalBlock)).text;

t.test('the next key is published before it signs, with a succession signed by the previous key', async (t) => {
  t.equal((await get(`/pubkey?kid=${firstId}`)).headers.get('x-key-succession'), null);
  const next = rotateKey(path, ring(), clock.now() + 60_000, clock.now());
  t.equal((await get(`/pubkey?kid=${next.kid}`)).json.error, 'unknown_key', 'until it is reloaded');
  gateway.reload();
  const published = await get(`/pubkey?kid=${next.kid}`);
  t.same(published.json, { publicKey: next.publicKey, algorithm: 'ed25519' });
  const [giver, notBefore, sig = ''] = published.headers.get('x-key-succession')?.split(';') ?? [];
  t.equal(giver, firstId);
  t.equal(notBefore, String(clock.now() + 60_000));
  t.match(sig, /^[0-9a-f]{128}$/);
  t.ok(isSuccession(sig, first, published.json.publicKey, Number(notBefore)));
  t.equal((await get('/pubkey')).json.publicKey, first, 'the active one is unchanged');
  t.equal(await signerOf('/slot'), firstId);
});

t.test('the key signs from its start time without a restart; earlier signatures stay valid', async (t) => {
  const next = ring()[1];
  if (next === undefined) throw new Error('there is no next key');
  await step(148, 4);
  t.equal(await signerOf('/slot'), firstId, 'not before');
  const balance = `/balance/${WALLETS[0].address}`;
  t.equal(await signerOf(balance), firstId);
  await step(4, 4);
  t.equal(await signerOf('/slot'), next.kid);
  t.equal(await signerOf(balance), next.kid);
  t.equal(gateway.publicKey, next.publicKey);
  t.equal((await get('/pubkey')).json.publicKey, next.publicKey);
  t.match((await get('/pubkey')).headers.get('x-key-succession'), `${firstId};`);
  t.match(
    logged.find(({ message }) => message === 'another receipt key signs'),
    { fields: { kid: next.kid } },
  );
  const retired = await get(`/pubkey?kid=${firstId}`);
  t.same(retired.json, { publicKey: first, algorithm: 'ed25519' });
  t.equal(retired.headers.get('x-key-succession'), null);
  const { text } = await get(finalBlock);
  t.equal(text, sealedByFirst, 'an immutable body keeps its receipt');
  t.ok(holds(text, finalBlock, first));
  t.ok(holds((await get(balance)).text, balance, next.publicKey));
});

t.test("exact claims and the guard's memory survive a change of keys", async (t) => {
  t.equal((await get(`/balance/${WALLETS[1]?.address}?commitment=finalized`)).json.receipt.claim, 'exact/1');
  t.notOk(logged.some(({ message }) => /two results/.test(message)));
});

t.test('unusable keys leave the old ones in use', async (t) => {
  const before = gateway.publicKey;
  const errors = () => logged.filter(({ level, message }) => level === 'error' && /receipt keys/.test(message));
  writeFileSync(join(`${path}.d`, '3.json'), 'spoilt');
  gateway.reload();
  t.match(errors().at(-1)?.fields.err.message, /3\.json is damaged/);
  t.equal(errors().length, 1);
  t.equal((await get('/pubkey')).json.publicKey, before);
  t.equal(await signerOf(`/balance/${WALLETS[2]?.address}`), idOf(before));
  rmSync(join(`${path}.d`, '3.json'));
  gateway.reload();
  t.equal(errors().length, 1);
});

t.test('a revoked key is gone with all it signed, and another signs at once', async (t) => {
  const [old, active] = ring();
  if (old === undefined || active === undefined) throw new Error('there are no two keys');
  revokeKey(path, ring(), old.kid, clock.now());
  gateway.reload();
  const revoked = await get(`/pubkey?kid=${firstId}`);
  t.equal(revoked.status, 410);
  t.equal(revoked.json.error, 'key_revoked');
  t.equal(revoked.headers.get('x-key-succession'), null);
  const { text } = await get(finalBlock);
  t.ok(holds(text, finalBlock, active.publicKey), 'immutable bodies were sealed again');
  t.equal(
    (await get(`/pubkey?kid=${active.kid}`)).headers.get('x-key-succession'),
    null,
    'no key has signed its succession',
  );

  const successor = revokeKey(path, ring(), active.kid, clock.now());
  gateway.reload();
  t.equal(gateway.publicKey, successor?.publicKey);
  t.equal((await get('/pubkey')).headers.get('x-key-succession'), null);
  for (const target of ['/slot', `/balance/${WALLETS[2]?.address}`, finalBlock])
    t.equal(await signerOf(target), successor?.kid, target);
  t.equal((await get(`/pubkey?kid=${active.kid}`)).status, 410);
});

t.test('another key in the same place takes over; the previous one stays known', async (t) => {
  const state = t.testdir();
  const file = join(state, 'key');
  writeFileSync(file, '11'.repeat(32), { mode: 0o600 });
  const { get, gateway } = await startStepped(t, { state, receiptKey: { file, production: true } });
  const before = gateway.publicKey;
  writeFileSync(file, '22'.repeat(32));
  gateway.reload();
  t.not(gateway.publicKey, before);
  t.same((await get(`/pubkey?kid=${idOf(before)}`)).json.publicKey, before);
  rmSync(file);
  gateway.reload();
  t.equal((await get('/pubkey')).status, 200);
});

t.test('an inline key is not read again', async (t) => {
  const { gateway, logged } = await startStepped(t);
  const before = gateway.publicKey;
  gateway.reload();
  t.equal(gateway.publicKey, before);
  t.match(logged.at(-1)?.message, /given inline/);
});
