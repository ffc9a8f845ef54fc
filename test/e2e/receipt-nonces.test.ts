import t from 'tap';
import { formatSignedBody } from '../../src/receipts/signed-body.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { startStepped } from '../support/harness.ts';

const { gateway, get, rpc, step } = await startStepped(t, { perSlot: 0 });
const BALANCE = '/balance/11111111111111111111111111111111';
const MISS = '/balance/SysvarC1ock11111111111111111111111111111111';
const NONCE = 'n0nce-of_16-char';

const expected = (target: string, nonce?: string) => ({
  publicKeys: [gateway.publicKey],
  cluster: gateway.cluster,
  request: `GET /api/v1${target}`,
  ...(nonce !== undefined && { nonce }),
});
const withNonce = (nonce: string, more: Readonly<Record<string, string>> = {}): RequestInit => ({
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
  const world = await startStepped(t, { perSlot: 0, set: ['limits.free.requests=5'] });
  const left = ({ headers }: { headers: Headers }): number => Number(headers.get('x-ratelimit-remaining'));
  t.equal(left(await world.get(BALANCE, withNonce(NONCE))), 3);
  t.equal(left(await world.get(BALANCE, withNonce(NONCE))), 1);
  const refused = await world.get(BALANCE, withNonce(NONCE));
  t.equal(refused.status, 429);
  t.equal(left(refused), 1);
  t.equal(left(await world.get(BALANCE)), 0);
});

t.test('a flood of nonces ends at half the limit, and each answer until then verifies', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['limits.free.requests=100'] });
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
  const world = await startStepped(t, { perSlot: 0 });
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
