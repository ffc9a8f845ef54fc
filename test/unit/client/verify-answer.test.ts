import t from 'tap';
import { createClient } from '../../../src/client/client.ts';
import { receiptTextIn } from '../../../src/receipts/signed-body.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  CLUSTER,
  NOW_MS,
  type ReceivedRequest,
  type RequestScript,
  scriptedFetch,
  signedBodyFor,
  signer,
} from './scripted-fetch.ts';

const ADDRESS = '11111111111111111111111111111111';
const TARGET = `/api/v1/balance/${ADDRESS}`;
const RESULT = '{"lamports":18446744073709551615,"sol":"18446744073.709551615"}';

function open(script: RequestScript) {
  const { fetch, requests } = scriptedFetch(script);
  const pinned = { publicKey: signer.publicKey, cluster: CLUSTER };
  const client = createClient({
    url: 'http://gateway.test',
    fetch,
    clock: new ManualClock(NOW_MS),
    attempts: 1,
    ...pinned,
  });
  return { client, requests };
}

const nonceOf = ({ headers }: ReceivedRequest): string | null => headers.get('x-receipt-nonce');

t.test('a nonce is new each time, long enough, and must be in the receipt', async (t) => {
  const { client, requests } = open((asked) => new Response(signedBodyFor(TARGET, RESULT, { nonce: nonceOf(asked) })));
  const nonces = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const { receipt, result } = await client.get('/balance/:addr', { addr: ADDRESS }, { nonce: true });
    t.equal(result.lamports, 18446744073709551615n);
    t.match(receipt.nonce, /^[\w-]{22}$/);
    nonces.add(String(receipt.nonce));
  }
  t.equal(nonces.size, 50);
  const own = await client.get('/balance/:addr', { addr: ADDRESS }, { nonce: 'my-own-sixteen-16' });
  t.equal(own.receipt.nonce, 'my-own-sixteen-16');
  const plain = await client.get('/balance/:addr', { addr: ADDRESS });
  t.equal(plain.receipt.nonce, null);
  t.equal(requests.at(-1)?.headers.has('x-receipt-nonce'), false);
});

t.test('an answer with another nonce, or with none, fails verification', async (t) => {
  for (const nonce of [null, 'AAAAAAAAAAAAAAAAAAAAAA']) {
    const { client } = open(() => new Response(signedBodyFor(TARGET, RESULT, { nonce })));
    const reading = client.get('/balance/:addr', { addr: ADDRESS }, { nonce: true });
    await t.rejects(reading, { name: 'ReceiptError', code: 'nonce' });
  }
  const replayed = open(() => new Response(signedBodyFor(TARGET, RESULT, { nonce: 'AAAAAAAAAAAAAAAAAAAAAA' })));
  await t.rejects(replayed.client.get('/balance/:addr', { addr: ADDRESS }), { code: 'nonce' });
});

/** Returns the 304 for a result that still holds. */
function still(slot: number, result = RESULT): Response {
  const body = signedBodyFor(TARGET, result, { slot });
  return new Response(null, {
    status: 304,
    headers: { etag: 'W/"abc"', 'x-slot': String(slot), 'x-receipt': receiptTextIn(body) },
  });
}

const whole = (): Response => new Response(signedBodyFor(TARGET, RESULT), { headers: { etag: 'W/"abc"' } });

t.test('an answer that still holds is verified by its new receipt alone', async (t) => {
  const { client, requests } = open((_, count) => (count === 0 ? whole() : still(10 + count)));
  const params = { addr: ADDRESS };
  let since = await client.get('/balance/:addr', params);
  for (const slot of [11, 12, 13]) {
    const later = await client.get('/balance/:addr', params, { since });
    t.match(later, { unchanged: true, slot, etag: 'W/"abc"', result: since.result });
    t.equal(later.body, signedBodyFor(TARGET, RESULT, { slot }), 'the body that a 200 would have had');
    since = later;
  }
  t.same(
    requests.map(({ headers }) => headers.get('if-none-match')),
    [null, 'W/"abc"', 'W/"abc"', 'W/"abc"'],
  );
});

t.test('a 304 fails verification unless its receipt is valid', async (t) => {
  const bare = () => new Response(null, { status: 304, headers: { 'x-slot': '11' } });
  const other = () => still(11, '{"lamports":1,"sol":"0.000000001"}');
  const wrongSlot = () => {
    const { headers } = still(11);
    headers.set('x-slot', '12');
    return new Response(null, { status: 304, headers });
  };
  for (const [response, code] of [
    [bare, 'envelope'],
    [other, 'digest'],
    [wrongSlot, 'envelope'],
  ] as const) {
    const { client } = open((_, count) => (count === 0 ? whole() : response()));
    const since = await client.get('/balance/:addr', { addr: ADDRESS });
    await t.rejects(client.get('/balance/:addr', { addr: ADDRESS }, { since }), { name: 'ReceiptError', code });
  }
  const unasked = open(() => still(11));
  await t.rejects(unasked.client.get('/balance/:addr', { addr: ADDRESS }), { name: 'ReceiptError' });
});

t.test('an answer older than the requested slot fails verification', async (t) => {
  const { client, requests } = open(() => new Response(signedBodyFor(TARGET, RESULT, { slot: 10 })));
  const read = (minSlot: number) => client.get('/balance/:addr', { addr: ADDRESS }, { minSlot });
  t.equal((await read(10)).slot, 10);
  await t.rejects(read(11), { code: 'old-slot' });
  t.equal(requests[1]?.headers.get('x-min-slot'), '11');
});
