import t from 'tap';
import { TOKEN_2022_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { COINS, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { routes } from '../../src/routes/index.ts';
import { type HttpAnswer, startStepped, waitFor } from '../support/harness.ts';
import { exchange } from '../support/raw-http.ts';
import { createRouteCaller, WITHOUT_LIVE_DATA } from '../support/route-defects.ts';

const THE_RULE = ['limits.free.requests=100']; // 100 requests in 10 seconds, the default

const quota = ({ headers }: HttpAnswer): readonly (number | null)[] =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

t.test('a hundred requests in ten seconds, counted in headers; the next is refused until Reset', async (t) => {
  const { get, clock } = await startStepped(t, { set: THE_RULE });
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
  const { get, rpc } = await startStepped(t, { set: THE_RULE });
  let left = 100;
  const counts = async (asking: Promise<HttpAnswer>, weight: number, what: string): Promise<void> => {
    left -= weight;
    t.equal(quota(await asking)[1], left, what);
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
  const { get, clock } = await startStepped(t, { set: THE_RULE });
  t.same(quota(await get('/health')), [100, 100, Math.ceil(clock.now() / 1000) + 10]);
});

t.test('health is answered even for a caller without quota; a HEAD that is refused ends its connection', async (t) => {
  const { get, gateway } = await startStepped(t, { set: ['limits.free.requests=1'] });
  const tooDear = await get('/slot', { headers: { 'x-receipt-nonce': 'nonce-of-one' } });
  t.equal(
    tooDear.json.message,
    'this request costs 2 units, and your tier never has more than 1: ask for less, or use an API key',
  );
  t.equal((await get('/slot')).status, 200);
  t.equal((await get('/slot')).status, 429);
  t.equal((await get('/health')).status, 200);
  t.equal((await get('/slot', { method: 'OPTIONS' })).status, 204);
  const ask = (method: string) => `${method} /api/v1/slot HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\n\r\n`;
  for (const [method, closes] of Object.entries({ GET: false, HEAD: true })) {
    const { text, closed } = await exchange(gateway.url, [ask(method)]);
    t.match(text, /^HTTP\/1\.1 429 /, method);
    t.equal(closed, closes, method);
  }
});

t.test('behind a trusted proxy each caller has its own window; elsewhere the header is ignored', async (t) => {
  const from = (address: string): RequestInit => ({ headers: { 'x-forwarded-for': address } });
  const open = await startStepped(t, { set: THE_RULE });
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
  const world = await startStepped(t, { set: [...THE_RULE, 'limits.free.requests=10000', ...WITHOUT_LIVE_DATA] });
  const { get, node, cluster } = world;
  const call = await createRouteCaller(world);
  const mint = COINS[0]?.mint.address;
  const left = async (): Promise<number> => Number(quota(await get('/health'))[1]);
  const callsSeen = (): number => [...node.requestCounts.values()].reduce((sum, count) => sum + count, 0);
  const scansSeen = (): number => node.requestCounts.get('getProgramAccounts') ?? 0;
  const asked: readonly (readonly [what: string, ask: () => Promise<HttpAnswer>])[] = [
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
  for (const [what, ask] of asked) {
    if (what.startsWith('an account'))
      node.overrides.set('getMultipleAccounts', () => ({ error: '{"code":-32602,"message":"no"}' }));
    const [units, calls, scans] = [await left(), callsSeen(), scansSeen()];
    const { status, headers } = await ask();
    const [made, scanned] = [callsSeen() - calls, scansSeen() - scans];
    const charged = units - (await left());
    const listed = what === 'a listing' ? 7 : 0; // as many units as 700 rows
    const price = what === '/health' ? 0 : 1 + Math.ceil(Math.max(0, made - 1) / 10) + 20 * scanned + listed;
    t.equal(charged, price, `${what}: ${status}, ${made} calls, ${scanned} scans`);
    if (charged > 0) t.equal(Number(headers.get('x-ratelimit-remaining')), units - charged, `${what}: after its price`);
    most = Math.max(most, charged);
  }
  t.ok(most > 20, 'the scan was one');
  const before = await left();
  t.equal((await get(`/token/${mint}/holders?page=2`)).headers.get('x-cache'), 'HIT');
  t.equal(before - (await left()), 1);
});

t.test('a scan that is not left is refused before it is made, and takes nothing', async (t) => {
  const { get, node, clock, step } = await startStepped(t, { perSlot: 0, set: ['limits.free.requests=30'] });
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

  // An answer doesn't wait for what else it has asked for: that is charged when it comes.
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

t.test('what is refused for its framing counts for the address; a long body of /explain costs more', async (t) => {
  const { get, gateway } = await startStepped(t, { perSlot: 0, set: THE_RULE });
  const [all] = quota(await get('/health'));
  const faulty = 'GET /api/v1/slot HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
  t.match((await exchange(gateway.url, [faulty])).text, /^HTTP\/1\.1 400 .*x-ratelimit-remaining: 99/is);
  const body = JSON.stringify({ tx: {}, logs: ['x'.repeat(50_000)] });
  const explained = await get('/explain', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  t.equal(explained.status, 400);
  t.equal(quota(explained)[1], (all ?? 0) - 1 - 4, 'four times 16 KiB');
});
