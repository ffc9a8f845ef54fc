import fc from 'fast-check';
import t, { type Test } from 'tap';
import { formatSignedBody } from '../../src/client/verify/signed-body.ts';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { RateLimiter } from '../../src/gateway/access/limits/rate-limiter.ts';
import { Cache } from '../../src/gateway/cache/cache.ts';
import { digestOf } from '../../src/gateway/receipts/digest.ts';
import { Signer } from '../../src/gateway/receipts/signer.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { COINS, TREASURY, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import {
  type GatewayHarness,
  type HttpAnswer,
  type RequestOptions,
  startStepped,
  waitFor,
} from '../support/harness.ts';
import { exchange, parseResponses, type RawResponse } from '../support/raw-http.ts';
import {
  breakEachRoute,
  createRouteCaller,
  DEFECTS,
  findAnswerFaults,
  WITHOUT_LIVE_DATA,
  withReplaced,
} from '../support/route-defects.ts';

t.test('conditional-requests', async (t) => {
  const { gateway, get, step } = await startStepped(t);
  const mint = COINS.find(({ symbol }) => symbol === 'DPTS')?.mint.address ?? '';
  const LONG = `/account/${mint}`;
  const SHORT = '/balance/11111111111111111111111111111111';
  const expected = { publicKeys: [gateway.publicKey], cluster: gateway.cluster };

  t.test('an ETag identifies the result, whatever the slot and the receipt', async (t) => {
    const first = await get(SHORT);
    const { result } = verifyReceipt(first.text, { ...expected, request: `GET /api/v1${SHORT}` });
    t.equal(first.headers.get('etag'), `W/"${digestOf(result).slice(0, 16)}"`);
    await step(3);
    const later = await get(SHORT);
    t.not(later.json.slot, first.json.slot);
    t.equal(later.headers.get('etag'), first.headers.get('etag'));
    t.equal((await get(SHORT)).headers.get('etag'), first.headers.get('etag'), 'of a hit as of a miss');
  });

  t.test('a caller with the current result gets 304 with the slot and no body', async (t) => {
    const { headers } = await get(SHORT);
    const etag = headers.get('etag') ?? '';
    for (const tag of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const answer = await get(SHORT, { headers: { 'if-none-match': tag } });
      t.equal(answer.status, 304, tag);
      t.equal(answer.text, '');
      t.equal(answer.headers.get('etag'), etag);
      t.match(answer.headers.get('x-slot'), /^\d+$/);
      t.match(answer.headers.get('x-ratelimit-remaining'), /^\d+$/, 'it counts');
    }
    t.equal((await get(SHORT, { headers: { 'if-none-match': 'W/"0000000000000000"' } })).status, 200);
    const lines = ['Host: gateway.example', 'If-None-Match: "other"', `If-None-Match: ${etag}`];
    const { text } = await exchange(gateway.url, [`GET /api/v1${SHORT} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`]);
    t.match(text, /^HTTP\/1.1 304 /, 'of two lines, too, which are one list');
  });

  t.test('a hit has the bytes of the full path, whatever the conditions', async (t) => {
    const { headers, json } = await get(SHORT);
    const etag = headers.get('etag') ?? '';
    await waitFor(
      async () => (await get(LONG, { headers: { 'accept-encoding': 'br' } })).headers.get('content-encoding') === 'br',
      'the compressed body',
    );
    const answerTo = async (path: string, lines: readonly string[]) => {
      const head = [`GET /api/v1${path} HTTP/1.1`, 'Host: gateway.example', ...lines].join('\r\n');
      const [answer] = parseResponses((await exchange(gateway.url, [`${head}\r\n\r\n`])).text);
      const varying =
        /\r\n(Date|X-RateLimit-Remaining|X-Request-Id): [^\r]*|(?<="(nonce|path|root|signature|issuedAt)":)[^,}]*/gi;
      return `${answer?.head}\n${answer?.body}`.replace(varying, '');
    };
    const differing: unknown[] = [];
    for (const [path, ...lines] of [
      [SHORT],
      [SHORT, `X-Min-Slot: ${json.slot}`],
      [SHORT, 'X-Min-Slot: 999999999'],
      [SHORT, 'X-Min-Slot: 1e3'],
      [SHORT, `If-None-Match: ${etag}`],
      [SHORT, `If-None-Match: ${etag}`, `X-Min-Slot: ${json.slot}`],
      [SHORT, 'If-None-Match: "other"'],
      [SHORT, `If-None-Match: ${etag}`, 'X-Receipt-Nonce: 0123456789abcdef'],
      [SHORT, 'X-Receipt-Nonce: 0123456789abcdef'],
      [SHORT, 'X-Receipt-Nonce: short'],
      [LONG, 'Accept-Encoding: br'],
      [LONG, 'Accept-Encoding: br', 'If-None-Match: "other"'],
      ['/slot', 'If-None-Match: *'],
    ] as const) {
      const hit = await answerTo(path, lines);
      const full = await answerTo(path, [...lines, 'Connection: Keep-Alive']); // which the hit path leaves to the other
      if (hit !== full) differing.push({ lines, hit, full });
    }
    t.same(differing, []);
  });

  t.test('an answer without a receipt has no ETag', async (t) => {
    for (const path of ['/network', '/health', '/pubkey']) t.equal((await get(path)).headers.get('etag'), null, path);
  });

  t.test('a long body is compressed once, and decodes to the same body', async (t) => {
    const plain = await get(LONG, { headers: { 'accept-encoding': 'identity' } });
    t.equal(plain.headers.get('content-encoding'), null);
    t.ok(plain.text.length >= 1024);
    for (const coding of ['br', 'gzip']) {
      const fetchCoded = () => get(LONG, { headers: { 'accept-encoding': coding } });
      await waitFor(async () => (await fetchCoded()).headers.get('content-encoding') === coding, coding);
      const coded = await fetchCoded(); // fetch decodes the body
      t.equal(coded.headers.get('x-cache'), 'HIT');
      t.equal(coded.text, plain.text);
      t.ok(Number(coded.headers.get('content-length')) < plain.text.length);
      t.match(coded.headers.get('vary'), /accept-encoding/i);
      verifyReceipt(coded.text, { ...expected, request: `GET /api/v1${LONG}` });
    }
    for (let i = 0; i < 3; i++) {
      const short = await get(SHORT, { headers: { 'accept-encoding': 'br' } });
      t.equal(short.headers.get('content-encoding'), null, 'a short one never is');
    }
  });

  t.test('a finalized block is cached for good, and by callers while one operator is believed', async (t) => {
    await step(40, 8);
    const { result } = (await get('/epoch?commitment=finalized')).json;
    const path = `/block/${result.absoluteSlot}`;
    const first = await get(path);
    t.equal(first.headers.get('cache-control'), 'public, max-age=300');
    await step(104, 8);
    const later = await get(path);
    t.equal(later.headers.get('x-cache'), 'HIT');
    t.equal(later.text, first.text, 'the same receipt, long after');
    verifyReceipt(later.text, { ...expected, request: `GET /api/v1${path}` });
    t.equal((await get(SHORT)).headers.get('cache-control'), 'no-cache');
  });
});

t.test('error-responses', async (t) => {
  const { gateway, get, rpc, cluster, clock } = await startStepped(t);
  const wallet = WALLETS[0].address;
  const system = '11111111111111111111111111111111';

  const EXPOSED =
    'X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset,Retry-After,ETag,X-Slot,X-Cache,X-Request-Id,X-Receipt,' +
    'X-Rpc-Error-Code,X-Key-Succession,X-Cluster,X-Slot-Age,X-Skipped,X-Oldest-Slot,Link';

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
        link: /^<(?:\.\.?\/)+docs\/errors#error-(\w+)>; rel="help"$/.exec(headers.get('link') ?? '')?.[1] === code,
      },
      {
        ...{ status, members: ['error', 'message'], error: code, message: 'string' },
        ...{ cacheControl: 'no-store', xCache: null },
        link: true,
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

  t.test('a request that is too long, wants too much or has the wrong method is refused with its reason', async (t) => {
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
  });

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

  t.test('JSON-RPC at another path is directed to the one that has it', async (t) => {
    const hint = /; JSON-RPC is at POST \/api\/v1\/rpc$/;
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const messageAt = async (path: string, method = 'POST'): Promise<string> => {
      const sent = method === 'POST' ? { method, body, headers: { 'content-type': 'application/json' } } : { method };
      return Object(await (await fetch(gateway.url + path, sent)).json()).message;
    };
    for (const path of ['/', '/rpc', '/api/v1', '/api/v1/slot']) t.match(await messageAt(path), hint, path);
    for (const path of ['/rpc', '/api/v1/rpc']) t.notMatch(await messageAt(path, 'GET'), hint, path);
    t.match(await messageAt('/docs/receipts.md', 'GET'), /; \/docs lists the chapters$/);
  });

  t.test('OPTIONS gives a browser the allowed methods and headers of a path', async (t) => {
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
        'content-type,x-api-key,x-min-slot,x-agree,x-receipt-nonce,if-none-match,last-event-id,x-stake-wallet,x-stake-issued,x-stake-signature,solana-client',
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
    for (const path of ['/performance', '/priority-fee'])
      t.equal((await get(path)).json.receipt.commitment, 'confirmed');
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
    const messageOf = async (response: Promise<HttpAnswer>): Promise<string> => (await response).json.message;
    t.equal(
      await messageOf(get(`/balance/${wallet}?Commitment=processed`)),
      'unknown query parameter "Commitment"; this path accepts: commitment, agree, slot',
    );
    t.equal(
      await messageOf(get(`/slot?${'y'.repeat(50)}=1`)),
      `unknown query parameter "${'y'.repeat(40)}…"; this path accepts: none`,
    );
    t.match(
      await messageOf(get(`/epoch?commitment=${'x'.repeat(2100)}`)),
      'a receipt names at most 2045 bytes of a request',
    );
    t.match(await messageOf(get('/slots')), 'GET /api/v1/openapi.json');
    t.match(
      await messageOf(rpc({ method: 'getslot' })),
      'not spelled as Solana RPC spells it; GET /api/v1/openapi.json',
    );
    const slot = cluster.chain.slot('confirmed');
    t.equal(
      await messageOf(get(`/balance/${wallet}`, { headers: { 'x-min-slot': `${slot + 100}` } })),
      `no upstream has an answer of slot ${slot + 100} or later, the newest at this commitment is ${slot}; retry in a moment`,
    );
    t.equal(
      await messageOf(get(`/balance/${wallet}`, { headers: { 'x-min-slot': '99999999' } })),
      `slot 99999999 is ahead of the newest confirmed one, ${slot}`,
    );
  });
});

t.test('http-framing', async (t) => {
  const { gateway, get } = await startStepped(t);
  const { url } = gateway;
  const { engine } = (await get('/health')).json.result;
  const { host } = new URL(url);

  const GET = `GET /api/v1/slot HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const request = (line: string, ...headers: string[]): string =>
    `${line} HTTP/1.1\r\n${[`Host: ${host}`, ...headers].map((header) => `${header}\r\n`).join('')}\r\n`;
  const JSON_TYPE = 'Content-Type: application/json';
  const CALL = '{"method":"getSlot"}';
  const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  /** Asserts one refusal with all headers, then the end of the connection. */
  async function isRefused(t: Test, packet: string, what: string): Promise<void> {
    const { text, closed } = await exchange(url, [packet]);
    const answers = parseResponses(text);
    t.equal(answers.length, 1, `${what}: one answer`);
    t.ok(closed, `${what}: then the end`);
    if (text.includes('uWebSockets/20 Server')) {
      t.equal(answers[0]?.status, 400, `${what}: refused by the engine's own parser`);
      return;
    }
    const [{ status, head, body } = { status: 0, head: '', body: '{}' }] = answers;
    t.equal(status, 400, what);
    t.equal(JSON.parse(body).error, 'invalid_request', what);
    t.match(head, /\r\nX-RateLimit-Limit: \d+\r\nX-RateLimit-Remaining: \d+\r\nX-RateLimit-Reset: \d+\r\n/);
  }

  t.test('a request that two servers could frame differently is refused, and nothing after it is read', async (t) => {
    const post = (...headers: string[]) => request('POST /api/v1/rpc', JSON_TYPE, ...headers);
    const smuggled = GET;
    const cases: Record<string, string> = {
      'two lengths that differ':
        post('Content-Length: 20', `Content-Length: ${20 + smuggled.length}`) + CALL + smuggled,
      'one length twice': post('Content-Length: 20', 'Content-Length: 20') + CALL + smuggled,
      'a list of lengths': post('Content-Length: 20, 20') + CALL + smuggled,
      'a length and chunks': post('Content-Length: 4', 'Transfer-Encoding: chunked') + chunked(CALL) + smuggled,
      'chunks and a length': post('Transfer-Encoding: chunked', 'Content-Length: 4') + chunked(CALL) + smuggled,
      'two codings': post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + chunked(CALL) + smuggled,
      'a coding nobody knows': post('Transfer-Encoding: xchunked') + chunked(CALL) + smuggled,
      'a list of codings': post('Transfer-Encoding: gzip, chunked') + chunked(CALL) + smuggled,
      'a length that is signed': post('Content-Length: +20') + CALL + smuggled,
      'a length in hex': post('Content-Length: 0x14') + CALL + smuggled,
      'a GET with a body': request('GET /api/v1/slot', `Content-Length: ${smuggled.length}`) + smuggled,
      'a GET with chunks': request('GET /api/v1/slot', 'Transfer-Encoding: chunked') + chunked('x') + smuggled,
      'a GET with two lengths': request('GET /api/v1/slot', 'Content-Length: 0', 'Content-Length: 5') + smuggled,
      'two hosts': request('GET /api/v1/epoch?commitment=processed', 'Host: other.example') + smuggled,
      'two hosts on a hit': request('GET /api/v1/slot', 'Host: other.example') + smuggled,
      'one host twice on a hit': request('GET /api/v1/slot', `Host: ${host}`) + smuggled,
    };
    for (const [what, packet] of Object.entries(cases)) {
      await isRefused(t, packet.slice(0, packet.indexOf('\r\n\r\n') + 4), what);
      // The engine closes a connection that sends more before its answer, so the refusal itself may not arrive.
      const { text, closed } = await exchange(url, [packet]);
      t.ok(closed, what);
      t.notMatch(text, /^HTTP\/1\.1 [^4]/m, `${what}: nothing but a refusal`);
      t.ok(parseResponses(text).length <= 1, what);
    }
  });

  t.test('a smuggled request that is cut at any byte stays unanswered', async (t) => {
    const packet =
      request('POST /api/v1/rpc', JSON_TYPE, 'Content-Length: 20', `Content-Length: ${20 + GET.length}`) + CALL + GET;
    const cuts = Array.from({ length: packet.length - 1 }, (_, i) => i + 1).filter((at) => at % 7 === 0);
    const answered = await Promise.all(
      cuts.map(async (at) => parseResponses((await exchange(url, [packet.slice(0, at), packet.slice(at)])).text)),
    );
    for (const answers of answered) t.ok(answers.length <= 1 && answers[0]?.status !== 200);
  });

  t.test('an invalid Host is refused, an unusual but valid one is not', async (t) => {
    const withHost = (host: string) => `GET /api/v1/slot HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    for (const bad of ['a b', 'a/b', 'a@b', 'a:b', 'a:123456', '[::1']) {
      const { text } = await exchange(url, [withHost(bad)]);
      for (const { status } of parseResponses(text)) t.equal(status, 400, bad);
    }
    for (const good of ['localhost', 'a.b.example:8787', '[::1]:80', 'x_y']) {
      const [answer] = parseResponses((await exchange(url, [withHost(good)])).text);
      t.equal(answer?.status, 200, good);
    }
  });

  t.test('a chunked call is answered, and its connection closed', async (t) => {
    const packet = request('POST /api/v1/rpc', JSON_TYPE, 'Transfer-Encoding: chunked') + chunked(CALL);
    const { text, closed } = await exchange(url, [packet]);
    const [answer, ...more] = parseResponses(text);
    t.equal(answer?.status, 200);
    t.match(answer?.body, /^\{"result":\d+\}$/);
    t.equal(more.length, 0);
    t.ok(closed);
  });

  t.test('nothing is read after the last request of a connection', async (t) => {
    const post = (...headers: string[]) => request('POST /api/v1/rpc', JSON_TYPE, ...headers);
    const sized = `Content-Length: ${CALL.length}`;
    const lasts: Record<string, readonly [packet: string, status: number]> = {
      'close on a hit': [request('GET /api/v1/slot', 'Connection: close'), 200],
      'close in a list': [request('GET /api/v1/slot', 'Connection: keep-alive, Close'), 200],
      'close behind another line': [request('GET /api/v1/slot', 'Connection: keep-alive', 'Connection: close'), 200],
      'close with 304': [request('GET /api/v1/slot', 'Connection: close', 'If-None-Match: *'), 304],
      'close with 204': [request('OPTIONS /api/v1/slot', 'Connection: close'), 204],
      'close with HEAD': [request('HEAD /api/v1/slot', 'Connection: close'), 200],
      'close with a call': [post('Connection: close', sized) + CALL, 200],
      'a HEAD that is refused': [request('HEAD /api/v1/slot', 'Host: other.example'), 400],
      'a call in chunks': [post('Transfer-Encoding: chunked') + chunked(CALL), 200],
      'a chunk that is longer than it says': [
        `${post('Transfer-Encoding: chunked')}${CALL.length.toString(16)}\r\n${CALL}xx0\r\n\r\n`,
        engine.name === 'node' ? 400 : 200,
      ],
      'a call without a length': [post(), 400],
      'a body that is much too long': [post('Content-Length: 2000000'), 413],
      'a length that a line without a name hides': [post(': x', `Content-Length: ${GET.length}`), 400],
    };
    for (const [what, [packet, status]] of Object.entries(lasts)) {
      const { text, closed } = await exchange(url, [packet]);
      const [answer, ...more] = parseResponses(text, packet.startsWith('HEAD'));
      t.equal(answer?.status, status, what);
      t.match(answer?.head, /\r\ndate: \w{3}, /i, what);
      t.equal(more.length, 0, what);
      t.ok(closed, what);
      const behind = await exchange(url, [packet + GET]);
      t.ok(behind.closed, what);
      t.ok(parseResponses(behind.text, packet.startsWith('HEAD')).length <= 1, `${what}: nothing after it is read`);
    }
  });

  t.test('sixteen hits in one packet are answered in order', async (t) => {
    await get('/epoch');
    const paths = Array.from({ length: 16 }, (_, i) => ['slot', 'epoch', 'performance', 'network'][i % 4]);
    const packet = paths.map((path) => request(`GET /api/v1/${path}`)).join('');
    const { text, closed } = await exchange(url, [packet], { responses: 16 });
    const answers = parseResponses(text);
    t.equal(answers.length, 16);
    t.notOk(closed);
    for (const [i, { status, body }] of answers.entries()) {
      t.equal(status, 200);
      if (paths[i] !== 'network') t.match(body, `"request":"GET /api/v1/${paths[i]}"`);
    }
  });

  t.test('HEAD has the length of GET and no body, and the connection stays open', async (t) => {
    const { text } = await get('/epoch');
    for (const target of ['/epoch', '/no/such']) {
      const got = await exchange(url, [request(`HEAD /api/v1${target}`)]);
      const [head] = parseResponses(got.text, true);
      t.equal(got.text.endsWith('\r\n\r\n'), true, 'nothing follows the head');
      if (target === '/epoch') t.match(head?.head, new RegExp(`content-length: ${text.length}(\r\n|$)`, 'i'));
      t.notOk(got.closed);
      const { text: both, closed } = await exchange(url, [request(`HEAD /api/v1${target}`), GET], { responses: 2 });
      t.match(both.slice(got.text.length - 50), /HTTP\/1\.1 200 OK/, 'and the next request is answered');
      t.notOk(closed);
    }
  });

  t.test('what costs nothing and has no body ends its connection: nothing shows that it is not read', async (t) => {
    for (const [line, status] of [
      ['OPTIONS /api/v1/slot', 204],
      ['HEAD /api/v1/health', 200],
    ] as const) {
      const { text, closed } = await exchange(url, [request(line), GET], { responses: 2 });
      t.match(text, new RegExp(`^HTTP/1\\.1 ${status} .*\r\nConnection: close\r\n`, 's'));
      t.ok(closed, line);
      t.equal(text.split('HTTP/1.1 ').length, 2, 'nothing follows');
    }
  });

  t.test('no text of a caller gets into a header', async (t) => {
    const injected = 'x\r\nX-Injected: yes';
    const encoded = encodeURIComponent(injected);
    const websocket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const packets = [
      request('GET /api/v1/stream', ...websocket, key, `Sec-WebSocket-Protocol: ${encoded}`),
      request(`GET /api/v1/balance/${encoded}`),
      request(`GET /api/v1/slot?${encoded}=${encoded}`),
      request(`GET /api/v1/${encoded}`),
      request('GET /api/v1/slot', `X-Request-Id: ${encoded}`, `Origin: ${encoded}`),
      request('OPTIONS /api/v1/slot', `Access-Control-Request-Headers: ${encoded}`, `Origin: http://${encoded}`),
      request(`GET /api/v1/slot\r\nX-Injected: yes`),
    ];
    for (const packet of packets) {
      const { text } = await exchange(url, [packet], { responses: 0 });
      t.notMatch(text.split('\r\n\r\n')[0], /x-injected/i, packet.slice(0, 60));
    }
  });

  t.test('a request target with a character that must be escaped is refused', async (t) => {
    for (const target of ['/api/v1/slot#x', '/api/v1/caf\xe9', '/api/v1/slot?x=\x7f', '/api/v1/slot?\x01']) {
      const { text } = await exchange(url, [Buffer.from(request(`GET ${target}`), 'latin1')]);
      for (const { status } of parseResponses(text)) t.ok(status >= 400, `${status} ${JSON.stringify(target)}`);
    }
  });

  t.test('after arbitrary bytes at the port, the next caller is served', async (t) => {
    const line = fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'get', '', 'GET /api/v1/slot HTTP/1.1\r\n');
    const target = fc.constantFrom('/api/v1/slot', '/api/v1/rpc', '*', '/', '//', 'http://x/api/v1/slot', '/api/v1/%');
    const name = fc.constantFrom(
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'Upgrade',
      'Expect',
      '',
      ' ',
    );
    const value = fc.constantFrom(
      '',
      '0',
      '5',
      '-1',
      '99999999999',
      'chunked',
      'close',
      'websocket',
      '100-continue',
      host,
    );
    const head = fc
      .tuple(line, target, fc.array(fc.tuple(name, value), { maxLength: 6 }), fc.string({ maxLength: 20 }))
      .map(([line, target, headers, body]) =>
        Buffer.from(`${line} ${target} HTTP/1.1\r\n${headers.map((h) => `${h.join(': ')}\r\n`).join('')}\r\n${body}`),
      );
    const noise = fc.oneof(
      head,
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(noise, { minLength: 30, maxLength: 30 }), async (packets) => {
        await Promise.all(packets.map((packet) => exchange(url, [packet], { responses: 0 })));
        return (await get('/health')).status === 200;
      }),
      { numRuns: 10 },
    );
    t.equal((await get('/slot')).status, 200);
  });

  t.test('only the names and the origins that are configured are answered, and others spend nothing', async (t) => {
    const { gateway } = await startStepped(t, {
      set: ['hosts=127.0.0.1,gate.example', 'origins=https://app.example'],
    });
    const statusOf = async (host: string, more = '', path = '/slot'): Promise<number | undefined> => {
      const { text } = await exchange(gateway.url, [`GET /api/v1${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`]);
      return parseResponses(text)[0]?.status;
    };
    t.equal(await statusOf('gate.example:8787'), 200);
    t.equal(await statusOf('rebound.example'), 400);
    t.equal(await statusOf('gate.example', 'Origin: https://app.example\r\n'), 200);
    t.equal(await statusOf('gate.example', 'Origin: https://other.example\r\n'), 400);
    t.equal(await statusOf('gate.example', 'Sec-Fetch-Site: cross-site\r\n'), 400);
    t.equal(await statusOf('gate.example', 'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n'), 200);
    const upgrade =
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    t.equal(await statusOf('gate.example', `${upgrade}Origin: https://other.example\r\n`, '/stream'), 400);
  });

  t.test('of very many pipelined requests, some are answered, one refused, and the connection closed', async (t) => {
    for (const path of ['/api/v1/slot', '/api/v1/pubkey', '/nowhere']) {
      const { text, closed } = await exchange(url, [request(`GET ${path}`).repeat(800)]);
      t.ok(closed, path);
      const answers = parseResponses(text);
      const last = answers.at(-1);
      t.equal(last?.status, 429, path);
      t.match(last?.head, /\r\nconnection: close/i);
      t.match(last?.head, /\r\nX-RateLimit-Limit: \d+\r\n/);
      t.equal(JSON.parse(last?.body ?? '').error, 'rate_limited');
      t.ok(answers.length > 64 && answers.length < 800, String(answers.length));
      for (const { status } of answers.slice(0, -1)) t.equal(status, path === '/nowhere' ? 404 : 200);
    }
  });

  t.test('16 requests in one packet are answered, again and again', async (t) => {
    for (let round = 0; round < 30; round++) {
      const { text } = await exchange(url, [GET.repeat(16)], { responses: 16 });
      t.equal(parseResponses(text).length, 16);
    }
  });
});

t.test('internal-errors', async (t) => {
  const world = await startStepped(t, { set: WITHOUT_LIVE_DATA });
  const { get, logged, step } = world;
  const callRoute = await createRouteCaller(world);
  const bomb = DEFECTS.throws;

  const isDefect = (t: Test, got: HttpAnswer, what: string): void =>
    void t.same(findAnswerFaults(got, logged.at(-1)), [], what);

  t.test('10: a route that throws or rejects is a 500, and then all is well again', async (t) => {
    const broken = new Set<string>();
    for await (const { path, fault, wrong, statusAfter } of breakEachRoute(world, callRoute)) {
      t.same(wrong, [], `${path}: ${fault}`);
      t.equal(statusAfter, 200, `${path}: after ${fault}`);
      broken.add(path);
    }
    t.equal(broken.size, routes.length);
  });

  t.test('a cache that breaks is a 500 for every route that reads from it', async (t) => {
    await withReplaced(Cache.prototype, 'get', bomb, async () => {
      for (const path of ['/slot', '/epoch', '/balance/:addr']) isDefect(t, await callRoute(path), path);
    });
    t.equal((await callRoute('/slot')).status, 200);
  });

  t.test('so is a limiter that breaks, for every method', async (t) => {
    const isBroken = async () => {
      for (const path of routes.map(({ path }) => path)) isDefect(t, await callRoute(path), path);
      isDefect(t, await get('/no/such/route'), 'no route');
      isDefect(t, await get('/slot', { method: 'DELETE' }), 'DELETE');
    };
    const { prototype } = RateLimiter;
    await withReplaced(prototype, 'consume', bomb, () => withReplaced(prototype, 'openAccount', bomb, isBroken));
    t.equal((await callRoute('/slot')).status, 200);
  });

  t.test('a signer that breaks is a 500 for a caller that waits for the receipt', async (t) => {
    await step(3);
    await withReplaced(Signer.prototype, 'seal', bomb, async () => {
      isDefect(t, await get(`/balance/${WALLETS[5]?.address}`), 'a cold read');
      await step(2);
      isDefect(t, await get('/slot'), 'a live route');
    });
    await step(1);
    t.equal((await get('/slot')).status, 200);
    t.equal((await get(`/balance/${WALLETS[5]?.address}`)).status, 200);
  });
});

t.test('receipt-nonces', async (t) => {
  const { gateway, get, rpc, step } = await startStepped(t);
  const BALANCE = '/balance/11111111111111111111111111111111';
  const MISS = '/balance/SysvarC1ock11111111111111111111111111111111';
  const NONCE = 'n0nce-of_16-char';

  const expected = (target: string, nonce?: string) => ({
    publicKeys: [gateway.publicKey],
    cluster: gateway.cluster,
    request: `GET /api/v1${target}`,
    ...(nonce !== undefined && { nonce }),
  });
  const withNonce = (nonce: string, more: Readonly<Record<string, string>> = {}): RequestOptions => ({
    headers: { 'x-receipt-nonce': nonce, ...more },
  });

  t.test('a caller finds its nonce in the receipt, on a hit and on a miss', async (t) => {
    await get(BALANCE);
    for (const target of [BALANCE, MISS, '/slot', '/epoch?commitment=finalized']) {
      const { text, headers, status } = await get(target, withNonce(NONCE));
      t.equal(status, 200, target);
      t.equal(verifyReceipt(text, expected(target, NONCE)).receipt.nonce, NONCE);
      t.throws(() => verifyReceipt(text, expected(target)), { code: 'nonce' }, 'nobody else can use it');
      t.equal(headers.get('cache-control'), 'no-store');
      t.match(headers.get('vary'), /x-receipt-nonce/i);
      const shared = await get(target);
      t.equal(shared.json.receipt.nonce, null, 'and no other caller gets it');
      t.match(shared.headers.get('vary'), /x-receipt-nonce/i);
    }
  });

  t.test('concurrent callers with nonces share a signature', async (t) => {
    const nonces = Array.from({ length: 40 }, (_, i) => `${NONCE}-${i}`);
    await Promise.all(nonces.map(() => get(BALANCE))); // the event loop accepts one new connection in a turn
    const bodies = await Promise.all(nonces.map((nonce) => get(BALANCE, withNonce(nonce))));
    const sizes = bodies.map(({ text }, i) => verifyReceipt(text, expected(BALANCE, nonces[i])).receipt.size);
    t.ok(Math.max(...sizes) > 1);
    t.equal(new Set(bodies.map(({ json }) => json.receipt.nonce)).size, 40);
  });

  t.test('a nonce is 16 to 64 letters, digits, "-" or "_"', async (t) => {
    for (const nonce of ['short', 'x'.repeat(65), 'sixteen letters!', 'a,b'.repeat(8)]) {
      const { status, json } = await get(BALANCE, withNonce(nonce));
      t.equal(status, 400, nonce);
      t.equal(json.error, 'invalid_nonce');
    }
    for (const nonce of ['x'.repeat(16), 'x'.repeat(64)]) t.equal((await get(BALANCE, withNonce(nonce))).status, 200);
  });

  t.test('a nonce is refused where nothing is signed', async (t) => {
    const answers = [
      await get('/network', withNonce(NONCE)),
      await get('/health', withNonce(NONCE)),
      await get('/pubkey', withNonce(NONCE)),
      await get('/openapi.json', withNonce(NONCE)),
      await rpc({ method: 'getSlot' }, { headers: { 'x-receipt-nonce': NONCE } }),
    ];
    for (const { status, json } of answers) t.same([status, json.error], [400, 'invalid_nonce']);
  });

  t.test('a request with a nonce counts two, and none when only one is left', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.units=5'] });
    const left = ({ headers }: { headers: Headers }): number => Number(headers.get('x-ratelimit-remaining'));
    t.equal(left(await world.get(BALANCE, withNonce(NONCE))), 3);
    t.equal(left(await world.get(BALANCE, withNonce(NONCE))), 1);
    const refused = await world.get(BALANCE, withNonce(NONCE));
    t.equal(refused.status, 429);
    t.equal(left(refused), 1);
    t.equal(left(await world.get(BALANCE)), 0);
  });

  t.test('a flood of nonces ends at half the limit, and each answer until then verifies', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.units=100'] });
    const trusted = { publicKeys: [world.gateway.publicKey], cluster: world.gateway.cluster };
    const nonces = Array.from({ length: 60 }, (_, i) => `${NONCE}-${i}`);
    const answers = await Promise.all(nonces.map((nonce) => world.get(BALANCE, withNonce(nonce))));
    const given = answers.flatMap(({ status, text }, i) => (status === 200 ? { text, nonce: nonces[i] } : []));
    t.equal(given.length, 50);
    for (const { text, nonce } of given) verifyReceipt(text, { ...expected(BALANCE, nonce), ...trusted });
    t.equal(answers.filter(({ status }) => status === 429).length, 10);
  });

  t.test('304 carries the receipt that a 200 would carry: unchanged, at this slot', async (t) => {
    const first = await get(BALANCE);
    const { result } = verifyReceipt(first.text, expected(BALANCE));
    await step(3);
    for (const nonce of [undefined, NONCE]) {
      const etag = { 'if-none-match': first.headers.get('etag') ?? '' };
      const { status, headers, text } = await get(BALANCE, nonce ? withNonce(nonce, etag) : { headers: etag });
      t.equal(status, 304);
      t.equal(text, '');
      const slot = headers.get('x-slot');
      t.ok(Number(slot) > first.json.slot);
      const body = formatSignedBody(result, Number(slot), headers.get('x-receipt') ?? '');
      t.equal(verifyReceipt(body, expected(BALANCE, nonce)).slot, Number(slot));
    }
  });

  t.test('a stale answer is signed for a nonce with its old slot', async (t) => {
    const world = await startStepped(t);
    const { json } = await world.get(BALANCE);
    await world.cluster.close();
    world.clock.advance(4000);
    const stale = await world.get(BALANCE, withNonce(NONCE));
    t.equal(stale.headers.get('x-cache'), 'STALE');
    t.equal(stale.json.slot, json.slot);
    const { receipt } = verifyReceipt(stale.text, {
      ...expected(BALANCE, NONCE),
      publicKeys: [world.gateway.publicKey],
      cluster: world.gateway.cluster,
    });
    t.equal(receipt.nonce, NONCE);
  });
});

t.test('trusted-proxies', async (t) => {
  /** Builds the PROXY protocol header, version 2, that a proxy sends before a caller's first byte. */
  const preface = (...address: number[]): Buffer =>
    Buffer.concat([
      Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
      Buffer.of(0x21, 0x11, 0, 12, ...address, 127, 0, 0, 1, 0x30, 0x39, 0, 80),
    ]);

  const GET = 'GET /api/v1/slot HTTP/1.1\r\nHost: x\r\n\r\n';
  const LAST = 'GET /api/v1/slot HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

  const left = ({ head }: RawResponse): number => Number(/x-ratelimit-remaining: (\d+)/i.exec(head)?.[1]);

  /** Sends bytes on a new connection; returns the remaining quota after each answer until the close. */
  async function remainingAfter(
    { gateway }: GatewayHarness,
    ...bytes: (string | Buffer)[]
  ): Promise<readonly number[]> {
    const { text } = await exchange(gateway.url, [Buffer.concat(bytes.map((part) => Buffer.from(part)))]);
    return parseResponses(text).map(left);
  }

  const SET = ['limits.free.units=100'];

  const world = await startStepped(t, { set: [...SET, 'trustedProxies=127.0.0.1'] });

  t.test('20: behind a trusted proxy the PROXY header names the caller', async (t) => {
    t.same(await remainingAfter(world, preface(203, 0, 113, 9), LAST), [99]);
    t.same(await remainingAfter(world, preface(203, 0, 113, 9), LAST), [98]);
    t.same(await remainingAfter(world, preface(203, 0, 113, 10), LAST), [99]);
    t.same(await remainingAfter(world, LAST), [99], 'the proxy itself');
  });

  t.test('20: a caller behind it cannot become another: the connection closes after one answer', async (t) => {
    const [first, ...more] = await remainingAfter(world, preface(203, 0, 113, 12), GET, preface(203, 0, 113, 11), GET);
    t.ok(first === undefined || first === 99);
    t.same(more, []);
    t.same(await remainingAfter(world, preface(203, 0, 113, 11), LAST), [99], 'nothing for the one claimed to be');
  });

  t.test('20: from anybody else the header is only bytes', async (t) => {
    const world = await startStepped(t, { set: [...SET, 'trustedProxies=10.0.0.0/8'] });
    t.same(await remainingAfter(world, preface(203, 0, 113, 9), LAST), [99]);
    t.same(await remainingAfter(world, preface(203, 0, 113, 10), LAST), [98]);
  });

  t.test('the first caller that is refused behind a proxy that is not listed is reported, with its peer', async (t) => {
    const set = ['limits.free.units=1', 'limits.free.streams=0'];
    const { gateway, logged } = await startStepped(t, { set });
    const reports = () => logged.filter(({ message }) => /list it in trustedProxies/.test(message));
    const request = async (headers: string): Promise<string> =>
      (await exchange(gateway.url, [Buffer.from(headers)])).text.slice(9, 12);
    const from = (header: string): string => LAST.replace('Host: x', `Host: x\r\n${header}`);
    const upgrade =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
    const stream = `GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n${upgrade}\r\n`;
    t.equal(await request(stream), '429', 'no place for a stream');
    const seen = reports().map(({ level, fields }) => [level, fields]);
    t.same(seen, [['warn', { peer: '127.0.0.1' }]]);
    for (const status of ['200', '429']) t.equal(await request(from('X-Forwarded-For: 203.0.113.9')), status);
    t.equal(reports().length, 1, 'once');
  });
});
