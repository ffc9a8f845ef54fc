import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startStepped } from '../support/harness.ts';
import { exchange, parseResponses } from '../support/raw-http.ts';

const { gateway, get } = await startStepped(t, { perSlot: 0 });
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
    'two lengths that differ': post('Content-Length: 20', `Content-Length: ${20 + smuggled.length}`) + CALL + smuggled,
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

t.test('what costs nothing and has no body ends its connection: nobody could tell that it is not read', async (t) => {
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
    perSlot: 0,
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
