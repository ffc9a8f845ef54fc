import { once } from 'node:events';
import { ed25519 } from '@noble/curves/ed25519.js';
import { address } from '@solana/web3.js';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { stakeText } from '../../src/gateway/access/stake/stake-proof.ts';
import { readUsage, usagePath } from '../../src/gateway/access/usage/usage-file.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { COINS, DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { findProgramAddress } from '../../src/transactions/accounts/program-derived-address.ts';
import { apiKeyRecord, issueKey, issueKeys, revokeKey } from '../support/access/api-key-fixtures.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import {
  type HttpAnswer,
  type RequestOptions,
  type SteppedHarness,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { exchange } from '../support/raw-http.ts';
import { createRouteCaller, WITHOUT_LIVE_DATA } from '../support/route-defects.ts';
import { tokenAccountFixture } from '../support/token-account-fixtures.ts';
import { untilSettled } from '../support/until-settled.ts';

t.test('api-key-tiers', async (t) => {
  const quota = ({ headers }: HttpAnswer): readonly number[] =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

  const FREE = 'limits.free.units=100'; // as it ships

  async function openWithKeys(t: Test, set: readonly string[] = []) {
    const state = t.testdir();
    const [build, scale] = [await issueKey(state), await issueKey(state, { tier: 'scale' })];
    const ids = { build: build.slice(-8), scale: scale.slice(-8) };
    const world = await startStepped(t, { state, set: [FREE, ...set] });
    const as = (key: string): RequestOptions => ({ headers: { 'x-api-key': key } });
    return { ...world, state, build, scale, ids, as };
  }

  /** Opens a stream; returns its rate limit or the status of the refusal, and a promise of its end. */
  async function openStream(t: Test, { gateway }: SteppedHarness, key: string) {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream`, {
      headers: { 'x-api-key': key },
    });
    t.teardown(() => socket.terminate());
    socket.on('error', () => {}); // ws reports a refusal as an error
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    const answer = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
      socket.on('upgrade', ({ headers }) => resolve(headers['x-ratelimit-limit']));
    });
    return { socket, closed, answer };
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
      for (const pending of [get('/slot', as(key)), get('/pubkey', as(key)), rpc({ method: 'getSlot' }, as(key))]) {
        const got = await pending;
        t.match([got.status, got.json.error], [401, 'invalid_api_key']);
        remaining--;
        t.notMatch(got.text, 'sg_live');
      }
    }
    t.equal(quota(await get('/slot'))[1], remaining - 1);
    for (; remaining > 1; remaining--) await get('/slot', as('k'));
    t.equal((await get('/slot', as('k'))).status, 429, 'a caller that guesses soon has to wait');
  });

  t.test('an empty key is never the free tier, whether the cache answers or not', async (t) => {
    const { get, rpc, gateway } = await openWithKeys(t);
    const path = `/balance/${WALLETS[0].address}`;
    t.equal((await get(path)).status, 200);
    const send = async (...fields: readonly string[]): Promise<string> =>
      (await exchange(gateway.url, [`GET /api/v1${path} HTTP/1.1\r\nHost: a\r\n${fields.join('')}\r\n`])).text;
    t.match(await send(), /^HTTP\/1\.1 200 .*x-cache: hit/is);
    for (const field of ['X-Api-Key:\r\n', 'X-Api-Key: \r\n', 'x-api-key:  \r\n']) {
      t.match(await send(field), /^HTTP\/1\.1 401 .*"invalid_api_key","message":"X-Api-Key is empty/s);
      t.match(await send(field, `X-Receipt-Nonce: ${'n'.repeat(16)}\r\n`), /^HTTP\/1\.1 401 /);
    }
    const empty = { headers: { 'x-api-key': '' } };
    for (const pending of [get('/slot', empty), get('/pubkey', empty), rpc({ method: 'getSlot' }, empty)])
      t.match([(await pending).status, (await pending).json.error], [401, 'invalid_api_key']);
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
    t.equal(await untilSettled(stream.closed, step), 4401);
  });

  t.test('a key may open as many streams as its tier allows', async (t) => {
    const world = await openWithKeys(t, ['limits.build.streams=2', 'limits.free.streams=0']);
    const { socket, answer } = await openStream(t, world, world.build);
    t.equal(answer, '500');
    t.equal((await openStream(t, world, world.build)).answer, '500');
    t.equal((await openStream(t, world, world.build)).answer, 429);
    t.equal((await openStream(t, world, world.scale)).answer, '30000');
    t.equal((await openStream(t, world, generateApiKey())).answer, 401);
    const refusals: string[] = [];
    socket.on('message', (bytes) => {
      if (String(bytes).startsWith('{"type":"error"')) refusals.push(String(bytes));
    });
    const addresses = [WALLETS[0]?.address, WALLETS[1]?.address, 'nobody'];
    socket.send(JSON.stringify({ op: 'subscribe', topic: 'balance', addresses }));
    await waitFor(() => refusals.length > 0, 'the refusal of what is no address');
    await world.step(3);
    const usage = readUsage(usagePath(world.state)).filter(({ key }) => key === world.ids.build);
    t.match(usage, [{ route: '/stream', counts: [3, 0, 1, 0], units: 2 + 2 }], 'two upgrades and a message');
  });

  t.test('the usage of a key is in the file a second later, by route and outcome', async (t) => {
    const { get, rpc, as, build, ids, state, step, clock } = await openWithKeys(t, ['limits.build.units=7']);
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
      givenBack: 0,
    });
    t.same(readUsage(usagePath(state)), [
      row('/balance/:addr', { refused: 1 }, 1),
      row('/openapi.json', { answered: 1 }, 1),
      row('/rpc', { answered: 1 }, 1),
      row('/slot', { answered: 2, limited: 1 }, 3),
      row('none', { refused: 1 }, 1),
    ]);
  });
});

t.test('rate-limits', async (t) => {
  const THE_RULE = ['limits.free.units=100']; // 100 requests in 10 seconds, the default

  const quota = ({ headers }: HttpAnswer): readonly (number | null)[] =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

  const ruled = await startStepped(t, { set: THE_RULE });

  /** Ends the window of the test before. */
  const startWindow = (): SteppedHarness => {
    ruled.clock.advance(10_000);
    return ruled;
  };

  t.test('a hundred requests in ten seconds, counted in headers; the next is refused until Reset', async (t) => {
    const { get, clock } = startWindow();
    const openedMs = clock.now();
    const reset = Math.ceil(openedMs / 1000) + 10;
    for (let i = 1; i <= 100; i++) {
      const got = await get('/slot');
      t.equal(got.status, 200);
      t.same(quota(got), [100, 100 - i, reset]);
      if (i === 50) clock.advance(300);
    }
    clock.advance(3000);
    for (const path of ['/slot', '/pubkey', '/no/such/route', '/epoch?x', '/balance/x']) {
      const got = await get(path);
      t.equal(got.status, 429, path);
      t.same(Object.keys(got.json), ['error', 'message']);
      t.equal(got.json.error, 'rate_limited');
      t.match(got.json.message, /^this request costs [12] units?, [01] of \d+ are left; wait \d+ s or use an API key$/);
      t.same(quota(got), [100, 0, reset]);
      t.equal(got.headers.get('retry-after'), String(Math.ceil((openedMs + 10_000 - clock.now()) / 1000)));
      t.match(got.headers.get('access-control-expose-headers'), 'Retry-After');
    }
    clock.advance(openedMs + 10_000 - 1 - clock.now());
    const early = await get('/slot');
    t.equal(early.status, 429, 'a millisecond before');
    t.equal(early.headers.get('retry-after'), '1');
    clock.advance(1);
    const full = await get('/pubkey');
    t.equal(full.status, 200);
    t.same(quota(full).slice(0, 2), [100, 99]);
  });

  t.test('every answer counts one, whatever its status; health and preflights count nothing', async (t) => {
    const { get, rpc } = startWindow();
    let left = 100;
    const counts = async (answer: Promise<HttpAnswer>, weight: number, what: string): Promise<void> => {
      left -= weight;
      t.equal(quota(await answer)[1], left, what);
    };
    await counts(get('/health'), 0, 'health, with the full limit');
    await counts(get('/health', { method: 'HEAD' }), 0, 'HEAD of health');
    await counts(get('/slot', { method: 'OPTIONS' }), 0, 'a preflight');
    await counts(get('/slot'), 1, 'a hit');
    await counts(get('/slot', { method: 'HEAD' }), 1, 'HEAD');
    await counts(get('/pubkey'), 1, 'pubkey');
    await counts(get('/openapi.json'), 1, 'the document');
    await counts(get('/no/such/route'), 1, '404');
    await counts(get('/balance/x'), 1, '400');
    await counts(get('/slot', { method: 'PUT' }), 1, '405');
    await counts(get('/stream'), 1, '426');
    await counts(rpc({ method: 'getSlot' }), 1, 'a call');
    await counts(rpc({ method: 'sendTransaction' }), 1, 'a call that is refused');
    await counts(rpc('{'), 1, 'no JSON');
    await counts(get('/slot', { headers: { 'x-api-key': 'k' } }), 1, 'a bad key');
    await counts(get('/health'), 0, 'health, with what is left');
    await counts(get('/rpc', { method: 'OPTIONS' }), 0, 'a preflight');
  });

  t.test('without a window the headers show the full limit and the end of a window that would begin now', async (t) => {
    const { get, clock } = startWindow();
    t.same(quota(await get('/health')), [100, 100, Math.ceil(clock.now() / 1000) + 10]);
  });

  t.test('health is answered even without quota; a HEAD that is refused ends its connection', async (t) => {
    const { get, gateway } = await startStepped(t, { set: ['limits.free.units=1'] });
    const tooDear = await get('/slot', { headers: { 'x-receipt-nonce': 'nonce-of-one' } });
    t.equal(
      tooDear.json.message,
      'this request costs 2 units, and your tier never has more than 1: request less, or use an API key',
    );
    t.equal((await get('/slot')).status, 200);
    t.equal((await get('/slot')).status, 429);
    t.equal((await get('/health')).status, 200);
    t.equal((await get('/slot', { method: 'OPTIONS' })).status, 204);
    const head = (method: string) => `${method} /api/v1/slot HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\n\r\n`;
    for (const [method, closes] of Object.entries({ GET: false, HEAD: true })) {
      const { text, closed } = await exchange(gateway.url, [head(method)]);
      t.match(text, /^HTTP\/1\.1 429 /, method);
      t.equal(closed, closes, method);
    }
  });

  t.test('behind a trusted proxy each caller has its own window; elsewhere the header is ignored', async (t) => {
    const from = (address: string): RequestOptions => ({ headers: { 'x-forwarded-for': address } });
    const open = startWindow();
    t.equal(quota(await open.get('/slot', from('203.0.113.1')))[1], 99);
    t.equal(quota(await open.get('/slot', from('203.0.113.2')))[1], 98, 'nobody is trusted');
    const behind = await startStepped(t, { set: [...THE_RULE, 'trustedProxies=127.0.0.0/8'] });
    for (const remaining of [99, 98]) {
      for (const address of ['203.0.113.1', '203.0.113.2', '2001:db8::1'])
        t.equal(quota(await behind.get('/slot', from(address)))[1], remaining, address);
    }
    t.equal(quota(await behind.get('/slot', from('203.0.113.9, 203.0.113.1')))[1], 97, 'the nearest hop counts');
    t.equal(quota(await behind.get('/slot', from('2001:db8::2')))[1], 97, 'one /64, one window');
  });

  t.test('6: connections beyond the rate are closed without a response, and others are not', async (t) => {
    const { gateway, clock } = await startStepped(t, { set: ['limits.connections=3'] });
    const packet = 'GET /api/v1/pubkey HTTP/1.1\r\nHost: a\r\n\r\n';
    const answered = async (localAddress: string): Promise<boolean> => {
      const { text, closed } = await exchange(gateway.url, [packet], { localAddress });
      t.equal(closed, text === '');
      return text.startsWith('HTTP/1.1 200');
    };
    for (const isAnswered of [true, true, true, false, false]) t.equal(await answered('127.0.9.9'), isAnswered);
    t.ok(await answered('127.0.9.10'));
    clock.advance(1000);
    t.ok(await answered('127.0.9.9'));
  });

  t.test('each route charges what the node saw of it; a hit costs one', async (t) => {
    const world = await startStepped(t, { set: [...THE_RULE, 'limits.free.units=10000', ...WITHOUT_LIVE_DATA] });
    const { get, node, cluster } = world;
    const call = await createRouteCaller(world);
    const mint = COINS[0]?.mint.address;
    const left = async (): Promise<number> => Number(quota(await get('/health'))[1]);
    const callsSeen = (): number => [...node.requestCounts.values()].reduce((sum, count) => sum + count, 0);
    const scansSeen = (): number => node.requestCounts.get('getProgramAccounts') ?? 0;
    const requests: readonly (readonly [what: string, send: () => Promise<HttpAnswer>])[] = [
      ...routes.map(({ path }) => [path, () => call(path)] as const),
      ['transfers', () => get(`/address/${WALLETS[1]?.address}/history?type=transfers`)],
      ['a scan', () => get(`/token/${mint}/holders?page=2`)],
      ['its owners', () => get(`/token/${mint}/holders?by=owner`)],
      ['stake accounts', () => get(`/address/${WALLETS[1]?.address}/portfolio?stake=1`)],
      ['a listing', () => get(`/block/${cluster.chain.newestBlock('finalized')?.slot}?signatures=all`)],
      ['a meaning', () => get(`/tx/${cluster.chain.newestBlock('finalized')?.transactions[0]?.signature}?enhanced=1`)],
      ['an account that a node refuses', () => get(`/account/${WALLETS[2]?.address}`)],
    ];
    let most = 0;
    for (const [what, send] of requests) {
      if (what.startsWith('an account'))
        node.overrides.set('getMultipleAccounts', () => ({ error: '{"code":-32602,"message":"no"}' }));
      const [units, calls, scans] = [await left(), callsSeen(), scansSeen()];
      const { status, headers } = await send();
      const [made, scanned] = [callsSeen() - calls, scansSeen() - scans];
      const charged = units - (await left());
      const listed = what === 'a listing' ? 7 : 0; // as many units as 700 rows
      const price = what === '/health' ? 0 : 1 + Math.ceil(Math.max(0, made - 1) / 10) + 20 * scanned + listed;
      t.equal(charged, price, `${what}: ${status}, ${made} calls, ${scanned} scans`);
      if (charged > 0)
        t.equal(Number(headers.get('x-ratelimit-remaining')), units - charged, `${what}: after its price`);
      most = Math.max(most, charged);
    }
    t.ok(most > 20, 'the scan was one');
    const before = await left();
    t.equal((await get(`/token/${mint}/holders?page=2`)).headers.get('x-cache'), 'HIT');
    t.equal(before - (await left()), 1);
  });

  t.test('a scan that is not left is refused before it is made, and consumes nothing', async (t) => {
    const { get, node, clock, step } = await startStepped(t, { set: ['limits.free.units=30'] });
    await step();
    clock.advance(10_000);
    for (let i = 0; i < 18; i++) await get('/pubkey');
    const refused = await get(`/token/${COINS[0]?.mint.address}/holders?page=2`);
    t.equal(refused.status, 429);
    t.equal(refused.json.message, 'this request costs 21 units, 12 of 30 are left; wait 10 s or use an API key');
    t.equal(refused.headers.get('retry-after'), '10');
    t.equal(quota(refused)[1], 12);
    t.equal(node.requestCounts.get('getProgramAccounts'), undefined);
    t.equal(quota(await get('/pubkey'))[1], 11);

    // An answer doesn't wait for its other requests: they are charged when they end.
    clock.advance(10_000);
    let finish = (): void => {};
    const late = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const refusal = (length: number) => ({ error: `{"code":-32602,"message":"${'a'.repeat(length)}"}` });
    node.overrides.set('getTokenAccountsByOwner', ([, { programId }]) =>
      programId === TOKEN_2022_PROGRAM ? late.then(() => refusal(5 << 20)) : refusal(1),
    );
    const failed = await get(`/token-accounts/${WALLETS[0]?.address}`);
    t.same([failed.status, quota(failed)[1]], [502, 28], 'one, and one for the second call');
    finish();
    await waitFor(async () => quota(await get('/health'))[1] === 23, 'five MiB more');
  });

  t.test('what is refused for its framing counts for the address; a long body costs more', async (t) => {
    const { get, gateway } = startWindow();
    const [all] = quota(await get('/health'));
    const faulty = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
    t.match((await exchange(gateway.url, [faulty])).text, /^HTTP\/1\.1 400 .*x-ratelimit-remaining: 99/is);
    const body = JSON.stringify({ tx: {}, logs: ['x'.repeat(50_000)] });
    const explained = await get('/explain', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    t.equal(explained.status, 400);
    t.equal(quota(explained)[1], (all ?? 0) - 1 - 4, 'four times 16 KiB');
    const call = JSON.stringify({ method: 'getSlot', params: [], padding: 'x'.repeat(50_000) });
    const called = await get('/rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body: call });
    t.equal(called.status, 200);
    t.equal(quota(called)[1], (all ?? 0) - 1 - 4 - 4, 'the same for /rpc');
  });

  t.test('getMultipleAccounts costs one unit for each started ten keys that go to a node', async (t) => {
    const { get, rpc, node } = await startStepped(t, { set: ['limits.free.units=20'] });
    const keys = Array.from({ length: 101 }, (_, i) => bs58.encode(Buffer.alloc(32, i + 1)));
    let left = 20;
    const costs = async (units: number, count: number, what: string): Promise<HttpAnswer> => {
      left -= units;
      const answer = await rpc({ method: 'getMultipleAccounts', params: [keys.slice(0, count)] });
      t.equal(quota(answer)[1], left, what);
      return answer;
    };
    await costs(1, 10, 'ten');
    await costs(2, 11, 'eleven');
    t.equal((await costs(1, 11, 'a hit')).headers.get('x-cache'), 'HIT');
    await costs(10, 100, 'a hundred');
    t.equal((await costs(1, 100, 'the same again')).headers.get('x-cache'), 'HIT');
    const calls = node.requestCounts.get('getMultipleAccounts');
    const refused = await costs(0, 99, 'more than is left');
    t.equal(refused.status, 429);
    t.match(refused.json.message, /^this request costs 10 units, 5 of 20 are left; wait \d+ s/);
    t.equal(node.requestCounts.get('getMultipleAccounts'), calls, 'no node is called');
    t.equal((await get('/slot')).status, 200);
  });
});

t.test('stake-tiers', async (t) => {
  const HOST = 'gateway.example';
  const SECRET = new Uint8Array(32).fill(9);
  const WALLET = bs58.encode(ed25519.getPublicKey(SECRET));
  const MINT = DOLLAR.mint.address;
  const FREE = 'limits.free.units=100'; // as it ships
  const STAKE = [`stake.mint=${MINT}`, `stake.host=${HOST}`, 'stake.unitBalance=1000', 'stake.holdSeconds=4'];

  function proofAt(nowMs: number, host = HOST) {
    const issued = String(Math.floor(nowMs / 1000));
    const signature = ed25519.sign(new TextEncoder().encode(stakeText(host, WALLET, issued)), SECRET);
    const headers = { 'x-stake-wallet': WALLET, 'x-stake-issued': issued, 'x-stake-signature': bs58.encode(signature) };
    return { headers };
  }

  const limit = ({ headers }: HttpAnswer): number => Number(headers.get('x-ratelimit-limit'));

  t.test('a wallet that has held for long enough gets the tier of its balance', async (t) => {
    const { get, cluster, clock, step } = await startStepped(t, { set: [FREE, ...STAKE] });
    const give = (amount: bigint): void => {
      const name = address(findProgramAddress(TOKEN_PROGRAM, ['bag']));
      cluster.chain.setAccount(name, tokenAccountFixture(WALLET, amount, MINT));
    };
    const proof = proofAt(clock.now());
    give(3_500n);
    t.equal(limit(await get('/slot', proof)), 100, 'a wallet that was never seen counts nothing yet');
    const comesTo = (expected: number) => async (): Promise<boolean> => {
      await step();
      return limit(await get('/pubkey', proof)) === expected;
    };
    const began = clock.now();
    await waitFor(comesTo(400), 'three steps');
    t.ok(clock.now() - began >= 4_000, 'not before it has held for so long');
    t.equal(limit(await get('/slot')), 100, 'the address has what it had');

    const started = await get('/slot', proof);
    t.equal(limit(started), 400);
    give(999n);
    await waitFor(comesTo(100), 'less than a step');
  });

  t.test('a stream goes on with the tier that its wallet now has, and ends with 1008 where too low', async (t) => {
    const set = [...STAKE, 'limits.free.units=100', 'limits.free.streams=1', 'limits.free.subscriptions=2'];
    const { get, gateway, cluster, clock, step } = await startStepped(t, { set });
    const give = (amount: bigint): void => {
      const name = address(findProgramAddress(TOKEN_PROGRAM, ['bag']));
      cluster.chain.setAccount(name, tokenAccountFixture(WALLET, amount, MINT));
    };
    const proof = proofAt(clock.now());
    const comesTo = (expected: number) => async (): Promise<boolean> => {
      await step();
      return limit(await get('/slot', proof)) === expected;
    };
    give(3_000n);
    await waitFor(comesTo(400), 'three steps');
    const closed: [string, number][] = [];
    const haveClosed = (isEnough: () => boolean) => async (): Promise<boolean> => {
      await step();
      return isEnough();
    };
    const open = async (name: string, subscriptions = 0): Promise<void> => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream?interval=10000`, proof);
      t.teardown(() => socket.terminate());
      socket.on('close', (code) => closed.push([name, code]));
      await once(socket, 'open');
      let answers = 0;
      socket.on('message', (data) => void (String(data).startsWith('{"type":"subscribed"') && answers++));
      const addresses = Array.from({ length: subscriptions }, (_, i) => addressOfNumber(i));
      if (subscriptions > 0) socket.send(JSON.stringify({ op: 'subscribe', topic: 'balance', addresses }));
      await waitFor(() => answers === subscriptions, 'the subscriptions');
    };
    for (const name of ['first', 'second', 'third']) await open(name);
    await open('subscriber', 5);
    await step(15);
    t.same(closed, [], 'the tier is still the same');
    give(1_000n);
    await waitFor(comesTo(200), 'one step: two streams of four subscriptions');
    const isSubscriberClosed = (): boolean => closed.some(([name]) => name === 'subscriber');
    await waitFor(
      haveClosed(() => closed.length >= 2 && isSubscriberClosed()),
      'the end of what is too much',
    );
    t.ok(closed.every(([, code]) => code === 1008));
    t.ok(closed.length < 4, 'the others go on');
    give(0n);
    await waitFor(comesTo(100), 'no stake');
    await waitFor(
      haveClosed(() => closed.length === 4),
      'the end of the last one',
    );
  });

  t.test('an invalid stake proof is refused, and counts for the address', async (t) => {
    const { get, clock } = await startStepped(t, { set: [FREE, ...STAKE] });
    const got = await get('/slot', proofAt(clock.now(), 'elsewhere.example'));
    t.match([got.status, got.json.error, limit(got)], [401, 'invalid_stake_proof', 100]);
    const old = await get('/pubkey', proofAt(clock.now() - 2 * 86_400_000));
    t.match([old.status, old.json.error], [401, 'invalid_stake_proof']);
    t.match(old.json.message, 'more than a day ago');
    t.equal(Number(old.headers.get('x-ratelimit-remaining')), 93, 'the first cost a verification, too');
    const free = await get('/health', proofAt(clock.now() - 1000, 'elsewhere.example'));
    t.equal(free.status, 200, 'what costs nothing looks at no proof');
    t.equal(Number(free.headers.get('x-ratelimit-remaining')), 93);
  });

  t.test('without a mint no wallet is accepted', async (t) => {
    const { get } = await startStepped(t);
    t.equal((await get('/slot', { headers: { 'x-stake-wallet': 'x' } })).status, 200);
  });

  t.test('a mint without the host that wallets sign for prevents the start', async (t) => {
    await t.rejects(startStepped(t, { set: [`stake.mint=${MINT}`] }), { exitCode: 78, message: /stake\.host/ });
  });
});
