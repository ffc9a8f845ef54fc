import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { generateApiKey } from '../../src/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/access/api-keys/api-key-store.ts';
import { readUsage, usagePath } from '../../src/access/usage/usage-file.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { apiKeyRecord, issueKeys, revokeKey } from '../support/access/api-key-fixtures.ts';
import { type HttpAnswer, type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { exchange } from '../support/raw-http.ts';

const quota = ({ headers }: HttpAnswer): readonly number[] =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

const FREE = 'limits.free.requests=100'; // as it ships

/** Starts a gateway with one key of each tier. */
async function openWithKeys(t: Test, set: readonly string[] = []) {
  const state = t.testdir();
  const [build, scale] = [generateApiKey(), generateApiKey()];
  const ids = { build: build.slice(-8), scale: scale.slice(-8) };
  await issueKeys(apiKeysPath(state), apiKeyRecord(build), apiKeyRecord(scale, { tier: 'scale' }));
  const world = await startStepped(t, { perSlot: 0, state, set: [FREE, ...set] });
  const as = (key: string): RequestInit => ({ headers: { 'x-api-key': key } });
  return { ...world, state, build, scale, ids, as };
}

/** Opens a stream; returns its rate limit or the status of the refusal, and a promise of its end. */
async function openStream(t: Test, { gateway }: SteppedHarness, key: string) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream`, { headers: { 'x-api-key': key } });
  t.teardown(() => socket.terminate());
  socket.on('error', () => {}); // ws reports a refusal as an error
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const answer = await new Promise((resolve) => {
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
    socket.on('upgrade', ({ headers }) => resolve(headers['x-ratelimit-limit']));
  });
  return { closed, answer };
}

t.test('a key has the window of its tier from any address, and the address keeps its own window', async (t) => {
  const { get, as, build, scale, clock } = await openWithKeys(t);
  const nowS = clock.now() / 1000;
  t.same(quota(await get('/slot', as(build))), [500, 499, Math.ceil(nowS + 10)]);
  t.same(quota(await get('/slot', as(scale))), [30_000, 29_999, Math.ceil(nowS + 60)]);
  t.same(quota(await get('/slot')), [100, 99, Math.ceil(nowS + 10)]);
  t.same(quota(await get('/balance/x', as(build))).slice(0, 2), [500, 498], 'an error counts as well');
  t.same(quota(await get('/health', as(build))).slice(0, 2), [100, 99], 'health counts nothing, and looks at no key');
  t.equal((await get('/health', as('k'))).status, 200);
  const bound = { headers: { 'x-api-key': build, 'x-receipt-nonce': 'n'.repeat(16) } };
  t.same(quota(await get('/slot', bound)).slice(0, 2), [500, 496], 'a receipt of one’s own counts two');
});

t.test('24: an invalid key is refused on every path, and counts for the address', async (t) => {
  const { get, rpc, as } = await openWithKeys(t);
  let remaining = 100;
  for (const key of ['k', `sg_live_${'0'.repeat(36)}`, generateApiKey(), 'x'.repeat(1000)]) {
    for (const asked of [get('/slot', as(key)), get('/pubkey', as(key)), rpc({ method: 'getSlot' }, as(key))]) {
      const got = await asked;
      t.match([got.status, got.json.error], [401, 'invalid_api_key']);
      remaining--;
      t.notMatch(got.text, 'sg_live');
    }
  }
  t.equal(quota(await get('/slot'))[1], remaining - 1);
  for (; remaining > 1; remaining--) await get('/slot', as('k'));
  t.equal((await get('/slot', as('k'))).status, 429, 'who guesses is soon told to wait');
});

t.test('an empty key is never the free tier, whether the cache answers or not', async (t) => {
  const { get, rpc, gateway } = await openWithKeys(t);
  const path = `/balance/${WALLETS[0].address}`;
  t.equal((await get(path)).status, 200);
  const ask = async (...fields: readonly string[]): Promise<string> =>
    (await exchange(gateway.url, [`GET /api/v1${path} HTTP/1.1\r\nHost: a\r\n${fields.join('')}\r\n`])).text;
  t.match(await ask(), /^HTTP\/1\.1 200 .*x-cache: hit/is);
  for (const field of ['X-Api-Key:\r\n', 'X-Api-Key: \r\n', 'x-api-key:  \r\n']) {
    t.match(await ask(field), /^HTTP\/1\.1 401 .*"invalid_api_key","message":"X-Api-Key is empty/s);
    t.match(await ask(field, `X-Receipt-Nonce: ${'n'.repeat(16)}\r\n`), /^HTTP\/1\.1 401 /);
  }
  const empty = { headers: { 'x-api-key': '' } };
  for (const asked of [get('/slot', empty), get('/pubkey', empty), rpc({ method: 'getSlot' }, empty)])
    t.match([(await asked).status, (await asked).json.error], [401, 'invalid_api_key']);
});

t.test('a key works as soon as it is issued and until it is revoked; revoking closes its streams', async (t) => {
  const world = await openWithKeys(t);
  const { get, as, state, step } = world;
  const key = generateApiKey();
  const answers = async (status: number): Promise<boolean> => {
    await step(2); // the gateway checks the file twice a second
    return (await get('/slot', as(key))).status === status;
  };
  t.equal((await get('/slot', as(key))).status, 401);
  await issueKeys(apiKeysPath(state), apiKeyRecord(key));
  await waitFor(() => answers(200), 'the key');
  const stream = await openStream(t, world, key);
  t.equal(stream.answer, '500');
  await revokeKey(apiKeysPath(state), key.slice(-8));
  await waitFor(() => answers(401), 'its end');
  await step();
  t.equal(await stream.closed, 4401);
});

t.test('a key may open as many streams as its tier allows', async (t) => {
  const world = await openWithKeys(t, ['limits.build.streams=2', 'limits.free.streams=0']);
  t.equal((await openStream(t, world, world.build)).answer, '500');
  t.equal((await openStream(t, world, world.build)).answer, '500');
  t.equal((await openStream(t, world, world.build)).answer, 429);
  t.equal((await openStream(t, world, world.scale)).answer, '30000');
  t.equal((await openStream(t, world, generateApiKey())).answer, 401);
});

t.test('the usage of a key is in the file a second later, by route and outcome', async (t) => {
  const { get, rpc, as, build, ids, state, step, clock } = await openWithKeys(t, ['limits.build.requests=7']);
  const none = { answered: 0, refused: 0, limited: 0, failed: 0 };
  await get('/slot', as(build));
  await get('/slot', { headers: { 'x-api-key': build, 'x-receipt-nonce': 'n'.repeat(16) } });
  await get('/balance/x', as(build));
  await get('/no/such/route', as(build));
  await get('/openapi.json', as(build));
  await rpc({ method: 'getSlot' }, { headers: { 'x-api-key': build, 'content-type': 'application/json' } });
  await get('/slot', as(build));
  await get('/health', as(build));
  await get('/slot');
  await step(3);
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  const row = (route: string, counts: Partial<typeof none>, units: number) => ({
    day,
    key: ids.build,
    route,
    counts: Object.values({ ...none, ...counts }),
    units,
  });
  t.same(readUsage(usagePath(state)), [
    row('/balance/:addr', { refused: 1 }, 1),
    row('/openapi.json', { answered: 1 }, 1),
    row('/rpc', { answered: 1 }, 1),
    row('/slot', { answered: 2, limited: 1 }, 3),
    row('none', { refused: 1 }, 1),
  ]);
});
