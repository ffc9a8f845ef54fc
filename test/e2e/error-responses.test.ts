import t, { type Test } from 'tap';
import { TREASURY, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { type HttpAnswer, startStepped } from '../support/harness.ts';

const { get, rpc, cluster, clock } = await startStepped(t);
const wallet = WALLETS[0].address;
const system = '11111111111111111111111111111111';

const EXPOSED =
  'X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After,ETag,X-Slot,X-Cache,X-Request-Id,X-Receipt,' +
  'X-Rpc-Error-Code,X-Key-Succession,Link';

/** Asserts the headers that every answer has. */
function hasAllHeaders(t: Test, { headers, status }: HttpAnswer, what: string): void {
  t.match(
    Object.fromEntries(headers),
    {
      ...(status !== 204 && { 'content-type': /^application\/json; charset=utf-8$/ }),
      'x-ratelimit-limit': /^1000000$/,
      'x-ratelimit-remaining': /^\d+$/,
      'x-request-id': /^[0-9a-f]{16}$/,
      'access-control-allow-origin': /^\*$/,
      'access-control-expose-headers': EXPOSED,
    },
    what,
  );
  t.match(Number(headers.get('x-ratelimit-reset')) - clock.now() / 1000, /^([0-9]|10)(\.|$)/);
  if (status === 429 || status === 503) t.match(headers.get('retry-after'), /^[1-9]\d*$/);
}

/** Asserts a refusal: its status, its code, and a body of exactly two members. */
function refuses(t: Test, got: HttpAnswer, status: number, code: string, what: string): void {
  const { headers, json } = got;
  t.strictSame(
    {
      ...{ status: got.status, members: Object.keys(json), error: json.error, message: typeof json.message },
      ...{ cacheControl: headers.get('cache-control'), xCache: headers.get('x-cache') },
      link: headers.get('link'),
    },
    {
      ...{ status, members: ['error', 'message'], error: code, message: 'string' },
      ...{ cacheControl: 'no-store', xCache: null },
      link: `</docs#error-${code}>; rel="help"`,
    },
    `${what} ${got.text}`,
  );
  hasAllHeaders(t, got, what);
}

t.test('an unknown path, an invalid parameter and an invalid query have their own codes', async (t) => {
  const addresses = [
    'x',
    '0'.repeat(44),
    `${system}1`,
    system.slice(1),
    '1'.repeat(31),
    'O0Il'.repeat(11),
    '1'.repeat(10_00),
    '%31'.repeat(32),
    wallet.toLowerCase(),
    'So1111111111111111111111111111111111111111é',
  ];
  for (const address of addresses) {
    for (const route of ['balance', 'account'])
      refuses(t, await get(`/${route}/${address}`), 400, 'invalid_address', `${route} ${address.slice(0, 50)}`);
  }
  const queries = [
    '/slot?x=1',
    '/slot?commitment=processed',
    '/network?commitment=processed',
    '/performance?commitment=confirmed',
    '/priority-fee?commitment=confirmed',
    '/health?x',
    '/epoch?commitment=',
    '/epoch?commitment=Confirmed',
    '/epoch?commitment=root',
    '/epoch?commitment=processed&commitment=processed',
    '/epoch?commitment=%zz',
    '/epoch?commitment=%ff',
    '/epoch?=x',
    '/epoch?Commitment=processed',
    '/pubkey?kid=',
    `/balance/${wallet}?addr=${wallet}`,
    `/balance/${wallet}?commitment=max`,
    `/account/${wallet}?encoding=base64`,
    `/account/${wallet}?commitment=finalized&commitment=confirmed`,
  ];
  for (const target of queries) refuses(t, await get(target), 400, 'invalid_query', target);
  const paths = [
    '/',
    '/slots',
    '/slot/',
    '/Slot',
    '/balance',
    '/balance/',
    `/balance/${wallet}/`,
    `/balance/${wallet}/x`,
    '/constructor',
    '/__proto__',
    '/api',
    '/api/v1',
    '/api/v2/slot',
    '/api/v1//slot',
    '/block',
    '/tx/1/2',
  ];
  for (const path of paths) refuses(t, await get(path), 404, 'route_not_found', path);
});

t.test(
  'a request that is too long, asks for too much or has the wrong method is refused with its reason',
  async (t) => {
    const long = `/epoch?commitment=${'x'.repeat(2100)}`;
    refuses(t, await get(long), 414, 'uri_too_long', 'over 2,045 bytes');
    refuses(t, await get('/slot', { headers: { 'x-api-key': 'sg_live_x' } }), 401, 'invalid_api_key', 'an API key');
    refuses(t, await rpc({}, { headers: { 'x-api-key': 'k' } }), 401, 'invalid_api_key', 'an API key on POST');
    for (const target of ['/network', '/health', '/pubkey']) {
      const got = await get(target, { headers: { 'x-receipt-nonce': 'AAAAAAAAAAAAAAAAAAAAAA' } });
      refuses(t, got, 400, 'invalid_nonce', `a nonce for ${target}`);
    }
    const nonce = { 'x-receipt-nonce': 'AAAAAAAAAAAAAAAAAAAAAA', 'content-type': 'application/json' };
    refuses(t, await rpc({ method: 'getSlot' }, { headers: nonce }), 400, 'invalid_nonce', 'a nonce for /rpc');
    refuses(t, await get('/stream'), 426, 'upgrade_required', 'the stream without an upgrade');
    const upgrade = await get('/stream');
    t.equal(upgrade.headers.get('upgrade'), 'websocket');
    t.equal(upgrade.headers.get('sec-websocket-version'), '13');
  },
);

t.test('an unsupported method of a path is 405 and lists the supported ones', async (t) => {
  for (const path of ['/slot', '/health', '/network', `/balance/${wallet}`, '/stream', '/openapi.json']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const got = await get(path, { method, headers: { 'content-type': 'application/json' } });
      refuses(t, got, 405, 'method_not_allowed', `${method} ${path}`);
      t.equal(got.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
  }
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const got = await get('/rpc', { method });
    refuses(t, got, 405, 'method_not_allowed', `${method} /rpc`);
    t.equal(got.headers.get('allow'), 'POST, OPTIONS');
  }
  for (const method of ['POST', 'PUT']) refuses(t, await get('/no', { method }), 404, 'route_not_found', method);
});

t.test('OPTIONS tells a browser the allowed methods and headers of a path', async (t) => {
  for (const [path, allow] of [
    ['/slot', 'GET, HEAD, OPTIONS'],
    ['/rpc', 'POST, OPTIONS'],
  ] as const) {
    const got = await get(path, { method: 'OPTIONS', headers: { origin: 'https://app.example' } });
    t.equal(got.status, 204);
    t.equal(got.text, '');
    t.equal(got.headers.get('allow'), allow);
    t.equal(got.headers.get('access-control-max-age'), '86400');
    t.equal(
      got.headers.get('access-control-allow-headers'),
      'content-type,x-api-key,x-min-slot,x-receipt-nonce,if-none-match,x-stake-wallet,x-stake-issued,x-stake-signature,solana-client',
    );
    t.match(got.headers.get('access-control-allow-methods'), /GET.*POST/);
    t.equal(got.headers.get('content-type'), null);
    hasAllHeaders(t, got, `OPTIONS ${path}`);
  }
  refuses(t, await get('/no', { method: 'OPTIONS' }), 404, 'route_not_found', 'OPTIONS /no');
});

t.test('HEAD has the headers of GET and no body', async (t) => {
  for (const path of ['/health', '/pubkey', '/openapi.json', '/epoch', `/balance/${wallet}`]) {
    const whole = await get(path);
    const head = await get(path, { method: 'HEAD' });
    t.equal(head.status, 200);
    t.equal(head.text, '');
    t.equal(head.headers.get('content-length'), whole.headers.get('content-length'), path);
    for (const name of ['x-slot', 'x-cache', 'cache-control']) {
      t.equal(
        head.headers.get(name),
        name === 'x-cache' && whole.headers.has(name) && path !== '/health' && path !== '/pubkey'
          ? 'HIT'
          : whole.headers.get(name),
        `${path} ${name}`,
      );
    }
    hasAllHeaders(t, head, `HEAD ${path}`);
  }
  const refused = await get('/balance/x', { method: 'HEAD' });
  t.equal(refused.status, 400);
  t.equal(refused.text, '');
});

t.test('each documented commitment is accepted, and the receipt states it', async (t) => {
  const all = ['processed', 'confirmed', 'finalized'] as const;
  for (const path of ['/epoch', `/balance/${wallet}`, `/account/${TREASURY.address}`]) {
    t.equal((await get(path)).json.receipt.commitment, 'confirmed');
    for (const commitment of all) {
      const { json, headers } = await get(`${path}?commitment=${commitment}`);
      t.equal(json.receipt.commitment, commitment);
      t.equal(json.slot, cluster.chain.slot(commitment), `${path} ${commitment}`);
      t.equal(headers.get('x-slot'), String(json.slot));
      t.equal(json.receipt.request, `GET /api/v1${path}?commitment=${commitment}`);
    }
  }
  t.equal((await get('/slot')).json.receipt.commitment, 'processed');
  for (const path of ['/performance', '/priority-fee']) t.equal((await get(path)).json.receipt.commitment, 'confirmed');
});

t.test('every spelling of a query is one cache key and one receipt request', async (t) => {
  const first = await get('/epoch?commitment=finalized');
  for (const spelling of ['?commitment=%66inalized', '?&commitment=finalized&', '?%63ommitment=finalized']) {
    const again = await get(`/epoch${spelling}`);
    t.equal(again.text, first.text, spelling);
    t.equal(again.headers.get('x-cache'), 'HIT');
  }
});

t.test('an unreadable body is refused with its own code', async (t) => {
  const json = { 'content-type': 'application/json' };
  const deep = (levels: number) => `{"method":"getSlot","params":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const bodies: readonly [string | Buffer, number, string][] = [
    ['', 400, 'invalid_json'],
    ['{', 400, 'invalid_json'],
    ['\ufeff{"method":"getSlot"}', 400, 'invalid_json'],
    [Buffer.from('{"method":"\xff"}', 'latin1'), 400, 'invalid_json'],
    ['{"method":"getSlot"}\0', 400, 'invalid_json'],
    ['{"__proto__":{"method":"getSlot"}}', 400, 'invalid_json'],
    ['{"method":"getSlot","params":[{"__proto__":1}]}', 400, 'invalid_json'],
    ['{"method":"getSlot","params":[{"constructor":{"prototype":{}}}]}', 400, 'invalid_json'],
    [deep(64), 400, 'invalid_json'],
    ['['.repeat(60_000), 400, 'invalid_json'],
    ['null', 400, 'invalid_request'],
    ['7', 400, 'invalid_request'],
    ['"getSlot"', 400, 'invalid_request'],
    ['[]', 400, 'invalid_request'],
    ['[{"method":"getSlot"}]', 400, 'invalid_request'],
    ['{}', 400, 'invalid_request'],
    ['{"method":null}', 400, 'invalid_request'],
    ['{"method":["getSlot"]}', 400, 'invalid_request'],
    ['{"method":"getSlot","params":{}}', 400, 'invalid_params'],
    ['{"method":"getSlot","params":null}', 400, 'invalid_params'],
    ['{"method":"getBlock","params":[9007199254740993]}', 400, 'invalid_params'],
    ['{"method":"getBlock","params":[1e999]}', 400, 'invalid_params'],
    ['{"method":"getBlock","params":[{"a":[-9007199254740993]}]}', 400, 'invalid_params'],
    [`{"method":"getSlot","x":"${'x'.repeat(65_536)}"}`, 413, 'payload_too_large'],
  ];
  const calls = cluster.control.requestCounts;
  const before = await calls();
  for (const [body, status, code] of bodies) {
    const got = await get('/rpc', { method: 'POST', headers: json, body });
    refuses(t, got, status, code, String(body).slice(0, 60));
  }
  refuses(
    t,
    await get('/rpc', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }),
    415,
    'unsupported_media_type',
    'text',
  );
  t.same((await calls())['getBlock'], before['getBlock'], 'none of it reached the node');
  const typed = { 'content-type': 'Application/JSON; charset=utf-8' };
  t.equal((await get('/rpc', { method: 'POST', headers: typed, body: '{"method":"getSlot"}' })).status, 200);
});

t.test("a node's error has its code in a header and before its message", async (t) => {
  const { chain } = cluster;
  const cases: readonly [method: string, params: unknown[], status: number, rpcCode: string][] = [
    ['getBalance', ['x'], 400, '-32602'],
    ['getBlock', [chain.slot('processed') + 1000], 404, '-32004'],
    ['getBlock', [5], 404, '-32001'],
    ['getSlot', ['confirmed'], 400, '-32602'],
    ['getSlot', [[]], 400, '-32602'],
    ['getEpochInfo', [7], 400, '-32602'],
    ['getBalance', [wallet, 'confirmed'], 400, '-32602'],
    ['getBalance', [wallet, { minContextSlot: chain.slot('processed') + 1000 }], 503, '-32016'],
  ];
  for (const [method, params, status, rpcCode] of cases) {
    const got = await rpc({ method, params });
    refuses(t, got, status, 'rpc_error', method);
    t.equal(got.headers.get('x-rpc-error-code'), rpcCode);
    t.ok(got.json.message.startsWith(`${rpcCode}: `), got.json.message);
    t.notMatch(got.text, '127.0.0.1');
  }
});

t.test('a message says what happened and what to do', async (t) => {
  const messageOf = async (asked: Promise<HttpAnswer>): Promise<string> => (await asked).json.message;
  t.equal(
    await messageOf(get(`/balance/${wallet}?Commitment=processed`)),
    'unknown query parameter "Commitment"; this path takes: commitment',
  );
  t.equal(
    await messageOf(get(`/slot?${'y'.repeat(50)}=1`)),
    `unknown query parameter "${'y'.repeat(40)}…"; this path takes: none`,
  );
  t.match(
    await messageOf(get(`/epoch?commitment=${'x'.repeat(2100)}`)),
    /has 2,?\d{3} bytes, and a receipt names at most 2045/,
  );
  t.match(await messageOf(get('/slots')), 'GET /api/v1/openapi.json');
  t.match(await messageOf(rpc({ method: 'getslot' })), 'not spelled as Solana RPC spells it; GET /api/v1/openapi.json');
  const slot = cluster.chain.slot('confirmed');
  t.equal(
    await messageOf(get(`/balance/${wallet}`, { headers: { 'x-min-slot': `${slot + 1000}` } })),
    `no upstream has an answer of slot ${slot + 1000} or later, the newest at this commitment is ${slot}; retry in a moment`,
  );
});
