import t from 'tap';
import { COINS } from '../../src/localnet/traffic/demo-accounts.ts';
import { digestOf } from '../../src/receipts/digest.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { startStepped, waitFor } from '../support/harness.ts';
import { exchange, parseResponses } from '../support/raw-http.ts';

const { gateway, get, step } = await startStepped(t, { perSlot: 0 });
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
    const ask = () => get(LONG, { headers: { 'accept-encoding': coding } });
    await waitFor(async () => (await ask()).headers.get('content-encoding') === coding, coding);
    const coded = await ask(); // fetch decodes the body
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

t.test('a finalized block is cached for good: body, receipt and compressed form', async (t) => {
  await step(40, 4);
  const { result } = (await get('/epoch?commitment=finalized')).json;
  const path = `/block/${result.absoluteSlot}`;
  const first = await get(path);
  t.equal(first.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  await step(100, 4);
  const later = await get(path);
  t.equal(later.headers.get('x-cache'), 'HIT');
  t.equal(later.text, first.text, 'the same receipt, long after');
  verifyReceipt(later.text, { ...expected, request: `GET /api/v1${path}` });
  t.equal((await get(SHORT)).headers.get('cache-control'), 'no-cache');
});
