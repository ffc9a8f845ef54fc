import t from 'tap';
import { type Client, type ClientOptions, createClient } from '../../../src/client/client.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  CLUSTER,
  errorResponse,
  NOW_MS,
  type RequestScript,
  scriptedFetch,
  signedBodyFor,
  signer,
} from './scripted-fetch.ts';

const TARGET = '/api/v1/slot';
const MIB = 1024 * 1024;

/** A clock whose delays take no time, and are recorded. */
function hastyClock(): { readonly clock: Clock; readonly pauses: number[] } {
  const pauses: number[] = [];
  let nowMs = NOW_MS;
  const after = (ms: number, work: () => void): (() => void) => {
    if (ms === DEADLINE_MS) return () => {};
    pauses.push(ms);
    nowMs += ms;
    queueMicrotask(work);
    return () => {};
  };
  return { clock: { now: () => nowMs, monotonic: () => nowMs, after }, pauses };
}

const DEADLINE_MS = 10_000;

function open(script: RequestScript, options: Partial<ClientOptions> = {}) {
  const { fetch, requests } = scriptedFetch(script);
  const { clock, pauses } = hastyClock();
  const pinned = { publicKey: signer.publicKey, cluster: CLUSTER };
  const client = createClient({
    url: 'https://gateway.test/solana/',
    fetch,
    clock,
    random: () => 0,
    ...pinned,
    ...options,
  });
  return { client, requests, pauses };
}

const good = (): Response => new Response(signedBodyFor(TARGET, '7'));
const slot = (client: Client) => client.get('/slot');

t.test('a transient error is retried, each time after twice the delay', async (t) => {
  for (const fault of [
    () => errorResponse(503, 'overloaded'),
    () => errorResponse(504, 'upstream_timeout'),
    () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    () => Promise.reject(new TypeError('fetch failed')),
    () => new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError('cut')) })),
  ]) {
    const { client, requests, pauses } = open((_, count) => (count < 3 ? fault() : good()));
    t.equal((await slot(client)).result, 7);
    t.equal(requests.length, 4);
    t.same(pauses, [125, 250, 500]);
  }
});

t.test('a retry delay has jitter, and is never shorter than Retry-After', async (t) => {
  const limited = (after: string) => (_: unknown, count: number) =>
    count === 0 ? errorResponse(429, 'rate_limited', { 'retry-after': after }) : good();
  for (const [random, pause] of [
    [0, 7125],
    [0.999, 7249.875],
  ] as const) {
    const { client, pauses } = open(limited('7'), { random: () => random });
    await slot(client);
    t.same(pauses, [pause]);
  }
  const dated = open(limited(new Date(NOW_MS + 3000).toUTCString()));
  await slot(dated.client);
  t.same(dated.pauses, [3125]);
  const senseless = open(limited('soon'));
  await slot(senseless.client);
  t.same(senseless.pauses, [125]);
});

t.test('attempts are limited, and so is the Retry-After that is waited for', async (t) => {
  const busy = open(() => errorResponse(503, 'overloaded', { 'retry-after': '1' }));
  await t.rejects(slot(busy.client), { code: 'overloaded', status: 503, retryAfterMs: 1000 });
  t.equal(busy.requests.length, 4);
  await t.rejects(busy.client.get('/slot', {}, { attempts: 2 }), { code: 'overloaded' });
  t.equal(busy.requests.length, 6);
  const strict = open(() => errorResponse(429, 'rate_limited', { 'retry-after': '60' }));
  await t.rejects(slot(strict.client), { code: 'rate_limited', retryAfterMs: 60_000 });
  t.equal(strict.requests.length, 1, 'a minute is for the caller to decide on');
});

t.test('a permanent error is not retried', async (t) => {
  for (const [status, error] of [
    [400, 'invalid_query'],
    [404, 'not_found'],
    [500, 'internal_error'],
    [501, 'holders_unavailable'],
    [503, 'unhealthy'],
  ] as const) {
    const { client, requests } = open(() => errorResponse(status, error, { 'x-request-id': 'abc' }));
    await t.rejects(slot(client), { name: 'SlotgateError', code: error, status, requestId: 'abc' });
    t.equal(requests.length, 1);
  }
  const forged = open(() => new Response(signedBodyFor(TARGET, '7').replace('7', '8')));
  await t.rejects(slot(forged.client), { name: 'ReceiptError', code: 'digest' });
  t.equal(forged.requests.length, 1);
});

t.test('a response that no gateway sends is unreadable', async (t) => {
  for (const response of [
    () => new Response('<h1>Teapot</h1>', { status: 418 }),
    () => Response.json({ error: 'invented', message: '' }, { status: 400 }),
    () => new Response(null, { status: 204 }),
  ]) {
    await t.rejects(slot(open(response).client), { code: 'unreadable', status: response().status });
  }
  await t.rejects(open(() => new Response('{')).client.get('/network'), { code: 'unreadable' });
});

t.test("a response body can't fill the memory of the client", async (t) => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(stream) {
      sent++;
      stream.enqueue(new Uint8Array(MIB));
    },
  });
  const { client } = open(() => new Response(endless), { maxBodyBytes: 4 * MIB });
  await t.rejects(slot(client), { code: 'unreadable' });
  t.ok(sent < 10, `${sent} MiB were sent`);
});

t.test('an attempt that times out is aborted and retried', async (t) => {
  const clock = new ManualClock(NOW_MS);
  const { client, requests } = open((_, count) => (count === 0 ? new Promise(() => {}) : good()), {
    clock,
    timeoutMs: 2000,
  });
  const reading = slot(client);
  clock.advance(1999);
  t.equal(requests[0]?.signal.aborted, false);
  clock.advance(1);
  t.equal(requests[0]?.signal.aborted, true);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(125);
  t.equal((await reading).result, 7);
  const silent = open(() => new Promise(() => {}), { clock, attempts: 1 });
  const failing = slot(silent.client);
  clock.advance(10_000);
  await t.rejects(failing, { code: 'timeout', status: null });
});

t.test('an aborted request rejects at once', async (t) => {
  const clock = new ManualClock(NOW_MS);
  const reason = new Error('enough');
  const before = open(good);
  await t.rejects(before.client.get('/slot', {}, { signal: AbortSignal.abort(reason) }), reason);
  t.equal(before.requests.length, 0);
  for (const script of [() => new Promise<never>(() => {}), () => errorResponse(503, 'stale')]) {
    const { client, requests } = open(script, { clock });
    const controller = new AbortController();
    const reading = client.get('/slot', {}, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve)); // the answer is awaited, or the pause has begun
    controller.abort(reason);
    await t.rejects(reading, reason);
    clock.advance(60_000);
    t.equal(requests.length, 1);
  }
});

t.test('every request has the headers of the client, and bypasses the cache of the browser', async (t) => {
  const modes: unknown[] = [];
  const { fetch, requests } = scriptedFetch(good);
  const { client } = open(good, {
    headers: { 'x-api-key': 'sg_live_x' },
    fetch: (url, init) => {
      modes.push(Object(init).cache);
      return fetch(url, init);
    },
  });
  await slot(client);
  t.equal(requests[0]?.headers.get('x-api-key'), 'sg_live_x');
  t.same(modes, ['no-store']);
  t.equal(requests[0]?.target, `/solana${TARGET}`, 'below the prefix, which is not part of the signed request');
});
