import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import t, { type Test } from 'tap';
import {
  type Client,
  type ClientOptions,
  createClient,
  type ReadOptions,
  type StreamOptions,
  type StreamState,
} from '../../../src/client/client.ts';
import { formatSignedBody, receiptTextIn } from '../../../src/client/verify/signed-body.ts';
import { parseTrustedKey } from '../../../src/client/verify/trusted-key.ts';
import { digestOf } from '../../../src/gateway/receipts/digest.ts';
import { signSuccession } from '../../../src/gateway/receipts/keys/key-rotation.ts';
import { signBatch } from '../../../src/gateway/receipts/sign-batch.ts';
import { signingKeyOf } from '../../../src/gateway/receipts/signing-key.ts';
import type { Clock } from '../../../src/shared/domain/clock.ts';
import { systemClock } from '../../../src/shared/runtime/system-clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { pluck } from '../../support/pluck.ts';
import { eventChainVectors } from '../../support/receipts/test-vectors.ts';
import {
  CLUSTER,
  errorResponse,
  NOW_MS,
  newSigner,
  type ReceivedRequest,
  type RequestScript,
  scriptedFetch,
  signedBodyFor,
  signer,
} from './scripted-fetch.ts';
import { ScriptedSocket } from './scripted-socket.ts';

t.test('send-request', async (t) => {
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
    const unknown = open((_, count) => (count < 9 ? errorResponse(503, 'overloaded') : good()), {
      attempts: Number.NaN,
    });
    await t.rejects(slot(unknown.client), { code: 'overloaded' }, 'what is no number allows no other attempt');
  });

  t.test('a permanent error is not retried', async (t) => {
    for (const [status, error] of [
      [400, 'invalid_query'],
      [404, 'not_found'],
      [500, 'internal_error'],
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
    for (const body of ['{', 'null', '"text"'])
      await t.rejects(open(() => new Response(body)).client.get('/network'), { code: 'unreadable' }, body);
    const odd = Response.json({ error: 'invalid_query', message: {} }, { status: 400 });
    await t.rejects(slot(open(() => odd).client), { code: 'invalid_query', message: '' });
  });

  t.test('without verification an answer must still be one', async (t) => {
    for (const body of ['<html>', '{"ok":true}', 'null', '{"result":7}', '{"slot":7}', '{"result":7,"slot":"7"}']) {
      const { client } = open(() => new Response(body), { verify: false });
      await t.rejects(slot(client), { name: 'SlotgateError', code: 'unreadable' }, body);
    }
    const { client } = open(() => new Response('{"result":null,"slot":7}'), { verify: false });
    t.match(await slot(client), { result: null, slot: 7 });
  });

  t.test('a redirect is refused, and its connection released', async (t) => {
    let isReleased = false;
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(MIB)),
      cancel() {
        isReleased = true;
      },
    });
    const { client } = open(() => new Response(body, { status: 302, headers: { location: 'http://other.test' } }));
    await t.rejects(slot(client), { code: 'unreadable', status: 302 });
    t.ok(isReleased);
  });

  t.test('a delay that no timer has room for does not end early', (t) => {
    const { setTimeout } = globalThis;
    const timers: { readonly work: () => void; readonly ms: number }[] = [];
    t.teardown(() => Object.assign(globalThis, { setTimeout }));
    Object.assign(globalThis, { setTimeout: (work: () => void, ms: number) => timers.push({ work, ms }) });
    const most = 2 ** 31 - 1;
    const fired: number[] = [];
    for (const ms of [most + 5, Number.POSITIVE_INFINITY]) {
      timers.length = 0;
      systemClock.after(ms, () => fired.push(ms));
      for (let i = 0; i < 3; i++) timers[i]?.work();
      t.same(pluck(timers, 'ms'), ms === most + 5 ? [most, 5] : [most, most, most, most]);
    }
    t.same(fired, [most + 5]);
    t.end();
  });

  t.test("a response body can't fill the memory of the client", async (t) => {
    for (const maxBodyBytes of [4 * MIB, Number.NaN]) {
      let sent = 0;
      const long = new ReadableStream({
        pull(stream) {
          stream.enqueue(new Uint8Array(MIB));
          if (++sent === 20) stream.close();
        },
      });
      const { client } = open(() => new Response(long), { maxBodyBytes });
      await t.rejects(slot(client), { code: 'unreadable' });
      t.ok(sent < 10, `${sent} MiB were sent`);
    }
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

  t.test('an aborted request rejects immediately', async (t) => {
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
});

t.test('stream', async (t) => {
  const ADDRESS = '11111111111111111111111111111111';
  const OTHER = 'SysvarC1ock11111111111111111111111111111111';

  /** Returns the network in a frame of the gateway; its slot is its number. */
  const network = (seq: number, stream = 'a'): string => JSON.stringify({ slot: seq, seq, stream, health: 'ok' });
  const frame = (seq: number, stream?: string): string => `{"result":${network(seq, stream)},"slot":${seq}}`;

  /** Returns a text as long as an address; each number gives another. */
  const addressFrom = (i: number): string => String(i).padStart(44, 'A');

  /** What the tests read of an error that is reported. */
  type Fault = { readonly code?: string };

  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  function open(t: Test, options: StreamOptions = {}, client: Partial<ClientOptions> = {}) {
    const clock = new ManualClock(NOW_MS);
    const sockets: ScriptedSocket[] = [];
    const seen: number[] = [];
    const gaps: (number | null)[] = [];
    const states: StreamState[] = [];
    const errors: Fault[] = [];
    const headers: object[] = [];
    const { stream: openStream } = createClient({
      url: 'https://gateway.test/solana',
      publicKey: signer.publicKey,
      cluster: CLUSTER,
      clock,
      random: () => 1,
      headers: { 'x-api-key': 'sg_live_x' },
      openSocket: (url, sent) => {
        headers.push(sent);
        const socket = new ScriptedSocket(url);
        sockets.push(socket);
        return socket;
      },
      ...client,
    });
    const stream = openStream({
      onSnapshot: ({ seq }) => seen.push(seq),
      onGap: ({ missed }) => gaps.push(missed),
      onState: (state) => states.push(state),
      onError: (error) => errors.push(error as Fault),
      ...options,
    });
    t.teardown(() => stream.close());
    const last = (): ScriptedSocket => {
      const socket = sockets.at(-1);
      if (socket === undefined) throw new Error('no socket');
      return socket;
    };
    const connect = async (): Promise<void> => {
      last().open();
      await settled();
    };
    const receive = async (...texts: readonly string[]): Promise<void> => {
      for (const text of texts) last().receive(text);
      await settled();
    };
    /** The callbacks of a subscription whose errors are the faults. */
    const faults: Fault[] = [];
    const follow = { onUpdate: () => {}, onError: (error: unknown) => faults.push(error as Fault) };
    return { clock, stream, sockets, last, connect, receive, seen, gaps, states, errors, headers, faults, follow };
  }

  t.test('each frame is delivered once, and a missing number is a gap', async (t) => {
    const { last, receive, seen, gaps, states, errors, headers } = open(t);
    t.equal(last().url, 'wss://gateway.test/solana/api/v1/stream');
    t.same(headers, [{ 'x-api-key': 'sg_live_x' }]);
    last().open();
    await receive(frame(1), frame(2), frame(2), frame(3), frame(7), frame(6), frame(8));
    t.same(seen, [1, 2, 3, 7, 8]);
    t.same(gaps, [3]);
    t.same(states, ['connecting', 'open']);
    t.same(errors, []);
  });

  t.test('with an interval missing numbers are no gap', async (t) => {
    const { last, receive, seen, gaps } = open(t, { interval: 5000 });
    t.match(last().url, /\/stream\?interval=5000$/);
    last().open();
    await receive(frame(1), frame(13), frame(1, 'b'));
    t.same(seen, [1, 13, 1]);
    t.same(gaps, [null], 'but a takeover by another process is always reported');
  });

  t.test('a closed socket reconnects, and the frames missed until then are reported', async (t) => {
    const { clock, sockets, last, receive, seen, gaps, states } = open(t);
    last().open();
    await receive(frame(1));
    last().end(1001);
    t.equal(states.at(-1), 'waiting');
    clock.advance(499);
    t.equal(sockets.length, 1);
    clock.advance(1);
    last().open();
    await receive(frame(1), frame(2));
    last().end(1006);
    clock.advance(1000);
    last().open();
    await receive(frame(5));
    last().end(1006);
    clock.advance(2000);
    last().open();
    await receive(frame(9, 'b'));
    t.same(seen, [1, 2, 5, 9]);
    t.same(gaps, [2, null]);
    t.same(states, ['connecting', 'open', ...Array(3).fill(['waiting', 'connecting', 'open']).flat()]);
  });

  t.test('refused connections are retried after longer delays, at most half a minute', async (t) => {
    const { clock, sockets, last } = open(t);
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      last().end(1006);
      const before = clock.now();
      const count = sockets.length;
      while (sockets.length === count) clock.advance(100);
      waits.push(clock.now() - before);
    }
    t.same(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  t.test('a connection that ends after its first frame is retried after longer delays, too', async (t) => {
    const { clock, sockets, last, receive } = open(t);
    const endsAfter = async (ms: number): Promise<void> => {
      last().open();
      clock.advance(ms);
      await receive(frame(sockets.length));
      last().end(1009);
    };
    for (const [lastedMs, pauseMs] of [
      [0, 500],
      [0, 1000],
      [4999, 2000],
      [5000, 500],
    ] as const) {
      const count = sockets.length;
      await endsAfter(lastedMs);
      clock.advance(pauseMs - 1);
      t.equal(sockets.length, count);
      clock.advance(1);
      t.equal(sockets.length, count + 1, `${lastedMs} ms, then ${pauseMs} ms`);
    }
  });

  t.test('after the close codes for slow or fast clients the reconnect waits longer', async (t) => {
    for (const code of [1013, 4429]) {
      const { clock, sockets, last, receive } = open(t, {}, { random: () => 0 });
      last().open();
      await receive(frame(1));
      last().end(code);
      clock.advance(1999);
      t.equal(sockets.length, 1);
      clock.advance(1);
      t.equal(sockets.length, 2);
    }
  });

  t.test('an invalid key, or a message that the gateway does not understand, ends the stream for good', async (t) => {
    for (const [code, error] of [
      [4401, 'invalid_api_key'],
      [4403, 'invalid_request'],
    ] as const) {
      const { clock, sockets, last, states, errors } = open(t);
      last().open();
      last().end(code);
      clock.advance(600_000);
      t.equal(sockets.length, 1);
      t.same(states, ['connecting', 'open', 'ended']);
      t.match(errors, [{ name: 'SlotgateError', code: error }]);
    }
  });

  t.test('a socket that fails to open is replaced, whether it says that it has closed or not', async (t) => {
    const { clock, sockets, last, states } = open(t);
    last().fail();
    t.equal(states.at(-1), 'waiting');
    clock.advance(500);
    last().end(1006);
    clock.advance(1000);
    t.equal(sockets.length, 3, 'each was one failure');
    last().open();
    last().fail();
    t.equal(states.at(-1), 'open', 'of one that is open `close` follows');
  });

  t.test('a silent socket is replaced, one that never opens too', async (t) => {
    const { clock, sockets, last, receive, states } = open(t);
    clock.advance(14_999);
    t.equal(sockets.length, 1);
    clock.advance(1);
    t.equal(states.at(-1), 'waiting');
    t.ok(sockets[0]?.isClosed);
    clock.advance(500);
    last().open();
    for (let i = 1; i < 10; i++) {
      clock.advance(10_000);
      await receive(frame(i));
    }
    t.equal(sockets.length, 2);
    clock.advance(15_000);
    t.ok(sockets[1]?.isClosed);
    sockets[1]?.receive(frame(10)); // as a connection that was silent for a while may
    await settled();
    clock.advance(500);
    t.equal(sockets.length, 3);
  });

  t.test('a socket that can not be opened again is reported and retried; the first one throws', async (t) => {
    const gone = new Error('the key file is gone');
    let count = 0;
    const opened: ScriptedSocket[] = [];
    const openOrThrow = (url: string): ScriptedSocket => {
      if (++count === 2) throw gone;
      const socket = new ScriptedSocket(url);
      opened.push(socket);
      return socket;
    };
    const { clock, states, errors } = open(t, {}, { openSocket: openOrThrow });
    opened[0]?.end(1006);
    clock.advance(500);
    await settled();
    t.same([errors, states.at(-1)], [[gone], 'waiting']);
    clock.advance(1000);
    t.same([count, states.at(-1)], [3, 'connecting']);
    const openSocket = (): never => {
      throw gone;
    };
    t.throws(() => open(t, {}, { openSocket }), gone);
  });

  t.test('a closed stream stays closed', async (t) => {
    const { clock, stream, sockets, last, receive, seen, states } = open(t);
    last().open();
    await receive(frame(1));
    last().receive(frame(2));
    stream.close();
    await receive(frame(3));
    clock.advance(600_000);
    t.same(seen, [1]);
    t.equal(sockets.length, 1);
    t.ok(last().isClosed);
    t.equal(states.at(-1), 'ended');
  });

  t.test('a stream that is closed while a key is requested ends the request, and calls nothing back', async (t) => {
    const { fetch, requests } = scriptedFetch(() => new Promise<Response>(() => {}));
    const { stream, last, receive, seen, states, errors } = open(t, { receipts: true }, { fetch });
    last().open();
    await receive(signedBodyFor(TARGET, network(1), { request: `SUB ${TARGET}`, slot: 1, signer: newSigner() }));
    t.equal(requests[0]?.signal.aborted, false);
    stream.close();
    for (let i = 0; i < 20; i++) await settled();
    t.ok(requests[0]?.signal.aborted);
    t.same([seen, errors, states.at(-1)], [[], [], 'ended']);
  });

  t.test('a stream that is closed while it connects again stays closed', async (t) => {
    let connects = 0;
    const { clock, stream, sockets } = open(t, {
      onState(state) {
        if (state === 'connecting' && ++connects === 2) stream.close();
      },
    });
    sockets[0]?.end(1006);
    clock.advance(500);
    t.ok(sockets[1]?.isClosed);
    sockets[1]?.end(1006);
    clock.advance(600_000);
    t.equal(sockets.length, 2);
  });

  const TARGET = '/api/v1/stream?receipts=1';

  t.test('signed frames are verified with the request of the stream', async (t) => {
    const receipts: unknown[] = [];
    const { last, receive, errors } = open(t, {
      receipts: true,
      onSnapshot: ({ seq }, { receipt }) => receipts.push([seq, receipt?.slot]),
    });
    const signedFrame = (seq: number, request = `SUB ${TARGET}`): string =>
      signedBodyFor(TARGET, network(seq), { request, slot: seq });
    t.match(last().url, /\?receipts=1$/);
    last().open();
    await receive(
      signedFrame(1),
      frame(2),
      signedFrame(3, `GET ${TARGET}`),
      signedFrame(4).replace('"seq":4', '"seq":5'),
      signedBodyFor(TARGET, 'null', { request: `SUB ${TARGET}` }),
      signedFrame(6),
    );
    t.same(receipts, [
      [1, 1],
      [6, 6],
    ]);
    t.same(pluck(errors, 'code'), ['malformed', 'request', 'digest', 'unreadable']);
  });

  const lamports = (amount: number, slot: number, target = `/api/v1/balance/${ADDRESS}`): string =>
    signedBodyFor(target, `{"lamports":${amount},"sol":"0"}`, { slot });
  const pushed = (head: string, answer: string): string => `{${head},"answer":${answer}}`;

  t.test('an account is subscribed to on every connection, and its values are verified', async (t) => {
    const { clock, stream, last, receive, connect } = open(t);
    const updates: unknown[] = [];
    const faults: Fault[] = [];
    const stop = stream.subscribe('balance', ADDRESS, {
      onUpdate: ({ result, slot, seq, reorg }) => updates.push([result.lamports, slot, seq, reorg]),
      onError: (error) => faults.push(error as Fault),
    });
    stream.subscribe('account', OTHER, { commitment: 'processed', onUpdate: () => {} });
    const wishes = (firstId: number) => [
      { op: 'subscribe', topic: 'balance', addresses: [ADDRESS], id: firstId },
      { op: 'subscribe', topic: 'account', addresses: [OTHER], commitment: 'processed', id: firstId + 1 },
    ];
    await connect();
    t.same(last().sent, wishes(1));
    await receive(
      pushed(`"type":"subscribed","id":1,"topic":"balance","address":"${ADDRESS}","seq":0`, lamports(5, 10)),
      pushed(`"type":"balance","id":1,"address":"${ADDRESS}","seq":1`, lamports(6, 11)),
      pushed(`"type":"balance","id":1,"address":"${ADDRESS}","seq":2`, lamports(7, 12).replace('7', '8')),
      pushed(`"type":"balance","id":1,"address":"${ADDRESS}","seq":3`, lamports(7, 13, `/api/v1/balance/${OTHER}`)),
      pushed(`"type":"balance","id":1,"address":"${ADDRESS}","seq":4,"reorg":true`, lamports(9, 14)),
      pushed(`"type":"balance","id":99,"address":"${ADDRESS}","seq":1`, lamports(6, 11)),
      '{"type":"pong"}',
    );
    t.same(updates, [
      [5, 10, 0, false],
      [6, 11, 1, false],
      [9, 14, 4, true],
    ]);
    t.same(pluck(faults, 'code'), ['digest', 'request']);
    last().end(1001);
    clock.advance(500);
    await connect();
    t.same(last().sent, wishes(3), 'again');
    stop();
    await settled();
    t.same(last().sent.at(-1), { op: 'unsubscribe', topic: 'balance', addresses: [ADDRESS], id: 5 });
    await receive(pushed(`"type":"balance","id":3,"address":"${ADDRESS}","seq":1`, lamports(6, 15)));
    t.equal(updates.length, 3);
    last().end(1001);
    clock.advance(1000);
    await connect();
    t.same(last().sent, [{ ...wishes(3)[1], id: 6 }]);
  });

  t.test('a subscription that resumes', async (t) => {
    const { publicKey, cluster, request, frames, accepted, refused } = eventChainVectors;
    const address = request.split('/').at(-1) ?? '';
    const events = ['296410230.0', '296410233.0', '296410240.0', '296410241.0'];
    /** Returns a frame as a WebSocket gets it: a state has the id behind which its changes are. */
    const eventOf = (at: number, id = 1): string => {
      const text = frames[at]?.replace('{"type":"balance"', `{"type":"balance","id":${id},"seq":1`) ?? '';
      return at === 0 ? text.replace('"gap":null', `"event":"${events[0]}","gap":null`) : text;
    };
    const key = signingKeyOf(generateKeyPairSync('ed25519').privateKey);
    /** Returns a state with these members before its answer. */
    const stateOf = (slot: number, members: string, id = 1): string => {
      const result = '{"lamports":99,"sol":"0"}';
      const [receipt = ''] = signBatch(
        [
          {
            ...{ cluster, request, slot, status: 200, commitment: 'confirmed', claim: 'observed/1', agreed: '1/1' },
            ...{ digest: digestOf(result), issuedAt: NOW_MS, nonce: null, previous: null },
          },
        ],
        key,
      );
      const answer = formatSignedBody(result, slot, receipt);
      return pushed(`"type":"balance","id":${id},"address":"${address}","seq":1${members}`, answer);
    };
    const follow = async (t: Test, client: Partial<ClientOptions> = {}) => {
      const pinned = { publicKey: [publicKey, key.publicKey], cluster };
      const { stream, last, receive, clock, errors, connect } = open(t, {}, { ...pinned, ...client });
      const [slots, faults, lost]: [number[], Fault[], unknown[]] = [[], [], []];
      stream.subscribe('balance', address, {
        resumes: true,
        onUpdate: ({ slot }) => slots.push(slot),
        onError: (error) => faults.push(error as Fault),
        onLost: (gap) => lost.push(gap),
      });
      await connect();
      const since = () => last().sent.map((message) => Object.entries(message).find(([name]) => name === 'since')?.[1]);
      const reconnect = async (): Promise<void> => {
        last().end(1006);
        clock.advance(1000);
        await connect();
      };
      /** Waits until a subscription begins again that a fault has interrupted. */
      const retry = async (): Promise<void> => {
        clock.advance(2000);
        await settled();
      };
      return { receive, slots, faults, lost, errors, since, reconnect, retry };
    };
    const slotsOf = (order: readonly number[]) => order.map((at) => Number(events[at]?.split('.')[0]));

    t.test('accepts each event that follows the one before it', async (t) => {
      for (const order of accepted) {
        const { receive, slots, faults, errors } = await follow(t);
        for (const at of order) await receive(eventOf(at));
        t.same([slots, faults, errors], [slotsOf(order), [], []]);
      }
    });

    for (const [name, order] of Object.entries(refused))
      t.test(`reports events that are ${name}`, async (t) => {
        const { receive, slots, faults } = await follow(t);
        for (const at of order) await receive(eventOf(at));
        t.equal(faults[0]?.code, 'chain');
        t.ok(slots.length < order.length, 'what does not follow is no update');
      });

    t.test('reports an event of another key, and one that was cut in half', async (t) => {
      const gone = async () => errorResponse(404, 'unknown_key');
      const other = await follow(t, { publicKey: signer.publicKey, fetch: gone });
      await other.receive(eventOf(0));
      for (let i = 0; i < 20 && other.faults.length === 0; i++) await settled(); // it requests a succession
      t.same([other.slots, pluck(other.faults, 'code')], [[], ['unknown-key']]);
      const { receive, slots, faults } = await follow(t);
      await receive(eventOf(0), eventOf(1).slice(0, 400));
      t.same([slots, pluck(faults, 'code')], [slotsOf([0]), ['envelope']]);
    });

    t.test('never goes back: what was signed before its last event is no update', async (t) => {
      for (const order of [
        [0, 1, 0], // another state
        [0, 1, 2, 0, 1], // an equal one, and the event that followed it
      ]) {
        const { receive, slots, faults, since, retry } = await follow(t);
        for (const at of order) await receive(eventOf(at));
        const accepted = order.slice(0, order.lastIndexOf(0));
        t.same([slots, pluck(faults, 'code')], [slotsOf(accepted), ['chain']]);
        await retry();
        t.same(since().at(-1), [events[accepted.length - 1]]);
        await receive(eventOf(1, 3), eventOf(3, 3));
        t.same([slots, pluck(faults, 'code')], [slotsOf(accepted), ['chain', 'chain']]);
        await retry();
        await retry();
        await receive(eventOf(3, 5));
        t.same(slots, slotsOf([...accepted, 3]));
      }
    });

    const mark = `{"type":"mark","id":1,"address":"${address}","event":"296410250.0"}`;

    t.test('names as lost what another state without a gap leaves out', async (t) => {
      for (const members of ['', ',"gap":null']) {
        const { receive, slots, faults, lost } = await follow(t);
        await receive(eventOf(0), eventOf(1), stateOf(296410300, members));
        t.same([slots, faults], [[...slotsOf([0, 1]), 296410300], []]);
        t.match(lost, [{ from: 296410233, to: 296410300, message: /no change/ }]);
      }
      for (const [slot, from] of [
        [296410300, 296410250],
        [296410245, 296410233],
      ] as const) {
        const { receive, lost } = await follow(t);
        await receive(eventOf(0), eventOf(1), mark, stateOf(slot, ''));
        t.match(lost, [{ from, to: slot }], 'all up to a mark was sent, save where the state is older');
      }
    });

    t.test('begins again behind its last event where the next one does not follow it', async (t) => {
      for (const faulty of [[eventOf(2).slice(0, 400)], []]) {
        const { receive, slots, faults, since, retry, reconnect } = await follow(t);
        await receive(eventOf(0), eventOf(1), ...faulty, eventOf(3), mark);
        t.same(slots, slotsOf([0, 1]), 'nothing behind it counts');
        const codes = [...faulty.map(() => 'envelope'), 'chain'];
        t.same(pluck(faults, 'code'), codes);
        await retry();
        t.same(since(), [[null], undefined, [events[1]]]);
        await receive(eventOf(2, 3), eventOf(3, 3));
        t.same([slots, pluck(faults, 'code')], [slotsOf([0, 1, 2, 3]), codes]);
        await reconnect();
        t.same(since(), [[events[3]]]);
      }
    });

    t.test('does not begin again for what stays wrong, and no mark passes over it', async (t) => {
      const { receive, faults, since, retry, reconnect } = await follow(t);
      await receive(eventOf(0), eventOf(1), eventOf(2).slice(0, 400), mark);
      await retry();
      t.same([pluck(faults, 'code'), since()], [['envelope'], [[null]]]);
      await reconnect();
      t.same(since(), [[events[1]]]);
    });

    t.test('accepts events of one operator whatever the client demands of answers', async (t) => {
      const { receive, slots, faults } = await follow(t, { minAgreed: 2 });
      await receive(eventOf(0), eventOf(1));
      t.same([slots, faults], [slotsOf([0, 1]), []]);
    });

    t.test('goes on with a new chain if the gateway has no event that follows the last one', async (t) => {
      const { receive, slots, faults, lost, retry } = await follow(t);
      await receive(eventOf(0), eventOf(2));
      await retry();
      await receive(eventOf(2, 3), eventOf(3, 3));
      t.same([slots, pluck(faults, 'code')], [slotsOf([0, 2, 3]), ['chain']]);
      t.match(lost, [{ from: 296410230, to: 296410240, message: /no change/ }]);
      t.equal(lost.length, 1);
    });

    t.test('goes back from a mark that is too new with the next state', async (t) => {
      const { receive, since, reconnect } = await follow(t);
      await receive(eventOf(0), mark.replace('296410250', '999999999999999'));
      await reconnect();
      t.same(since(), [['999999999999999.0']]);
      await receive(stateOf(296410300, ',"event":"296410300.0","gap":{"from":1,"to":2,"message":""}', 2));
      await reconnect();
      t.same(since(), [['296410300.0']]);
    });

    t.test('sends the id of its last event after a reconnect, and names what the gateway has lost', async (t) => {
      const { receive, slots, faults, lost, since, reconnect } = await follow(t);
      t.same(since(), [[null]]);
      await receive(eventOf(0), eventOf(1), eventOf(2));
      await reconnect();
      t.same(since(), [[events[2]]]);
      await receive(eventOf(0, 2).replace(`"event":"${events[0]}"`, `"event":"${events[2]}"`));
      t.same(slots, slotsOf([0, 1, 2]), 'a state that is known is no news');
      await receive(`{"type":"mark","id":2,"address":"${address}","event":"296410250.0"}`);
      await reconnect();
      t.same(since(), [['296410250.0']], 'up to a mark nothing has changed');
      const gap = { from: 296410250, to: 296410999, message: 'what changed is not kept' };
      await receive(stateOf(gap.to, `,"gap":${JSON.stringify(gap)}`, 3));
      t.same([lost, faults, slots.length], [[gap], [], 4]);
    });
  });

  t.test('a first value whose key the gateway does not name in that moment is requested again', async (t) => {
    const { fetch } = scriptedFetch(() => errorResponse(503, 'upstream_unavailable'));
    const { clock, stream, last, receive, connect } = open(t, {}, { fetch, attempts: 1 });
    const updates: unknown[] = [];
    const faults: Fault[] = [];
    stream.subscribe('balance', ADDRESS, {
      onUpdate: ({ result }) => updates.push(result.lamports),
      onError: (error) => faults.push(error as Fault),
    });
    await connect();
    const first = (id: number, by = signer): string => {
      const answer = signedBodyFor(`/api/v1/balance/${ADDRESS}`, '{"lamports":5,"sol":"0"}', { signer: by });
      return pushed(`"type":"subscribed","id":${id},"topic":"balance","address":"${ADDRESS}","seq":0`, answer);
    };
    await receive(first(1, newSigner()));
    for (let i = 0; i < 20 && faults.length === 0; i++) await settled();
    t.same(pluck(faults, 'code'), ['upstream_unavailable']);
    clock.advance(2000);
    await settled();
    t.same(pluck(last().sent, 'op'), ['subscribe', 'unsubscribe', 'subscribe']);
    await receive(first(3, newSigner()));
    for (let i = 0; i < 20 && faults.length === 1; i++) await settled();
    clock.advance(3999);
    await settled();
    t.equal(last().sent.length, 4, 'later after each failure');
    clock.advance(1);
    await settled();
    t.equal(last().sent.length, 5);
    await receive(first(5));
    t.same(updates, [5]);
  });

  t.test('a refused subscription is reported; one with a transient error is retried', async (t) => {
    const { clock, stream, last, receive, faults, follow, connect } = open(t);
    stream.subscribe('balance', 'nobody', follow);
    stream.subscribe('balance', ADDRESS, follow);
    stream.subscribe('balance', OTHER, follow);
    last().open();
    await receive(
      '{"type":"error","id":1,"address":"nobody","error":"invalid_address","message":"no"}',
      '{"type":"error","id":1,"address":"nobody","error":"invalid_address","message":"no"}',
      `{"type":"error","id":1,"address":"${ADDRESS}","error":"upstream_unavailable","message":"not now"}`,
      `{"type":"error","id":1,"address":"${OTHER}","error":"rate_limited","message":"full"}`,
    );
    t.match(faults, [
      { name: 'SlotgateError', code: 'invalid_address', message: 'no' },
      { name: 'SlotgateError', code: 'rate_limited', message: 'full' },
    ]);
    t.equal(faults.length, 2);
    clock.advance(2000);
    await settled();
    t.same(
      last().sent.map(({ id, addresses }) => [id, addresses]),
      [
        [1, ['nobody', ADDRESS, OTHER]],
        [2, [ADDRESS]],
      ],
    );
    await receive(`{"type":"error","id":2,"address":"${ADDRESS}","error":"upstream_unavailable","message":"not now"}`);
    last().end(1006);
    clock.advance(500);
    await connect();
    clock.advance(5000);
    await settled();
    t.same(pluck(last().sent, 'addresses'), [[ADDRESS]], 'the new connection has sent it by itself');
  });

  t.test('an address that no account can have is refused without a message', async (t) => {
    const { stream, last, faults, follow, connect } = open(t);
    for (const address of ['A'.repeat(45), '\u0000', 'é', '']) stream.subscribe('balance', address, follow)();
    stream.subscribe('balance', ADDRESS, follow);
    await connect();
    t.same(pluck(faults, 'code'), Array(4).fill('invalid_address'));
    t.same(pluck(last().sent, 'addresses'), [[ADDRESS]]);
  });

  t.test("many subscriptions go into few messages, within the gateway's limit", async (t) => {
    const { clock, stream, last, connect } = open(t);
    const addresses = Array.from({ length: 1000 }, (_, i) => addressFrom(i));
    for (const address of addresses) stream.subscribe('balance', address, { onUpdate: () => {} });
    for (const address of addresses.slice(0, 3)) stream.subscribe('account', address, { onUpdate: () => {} });
    await connect();
    const sizes = (): number[] => last().sent.map(({ addresses }) => addresses.length);
    t.same(sizes(), Array(8).fill(80));
    clock.advance(999);
    await settled();
    t.equal(sizes().length, 8);
    clock.advance(1);
    await settled();
    t.same(sizes().slice(8), [80, 80, 80, 80, 40, 3]);
    const named = last().sent.filter(({ topic }) => topic === 'balance');
    const sentAddresses = named.flatMap(({ addresses }) => addresses);
    t.same(sentAddresses, addresses);
    for (const message of last().sent) t.ok(JSON.stringify(message).length <= 4096);
  });

  t.test('one account that is subscribed to twice is named once in a message', async (t) => {
    const { stream, last, connect } = open(t);
    for (let i = 0; i < 2; i++) stream.subscribe('balance', ADDRESS, { onUpdate: () => {} });
    await connect();
    t.same(pluck(last().sent, 'addresses'), [[ADDRESS], [ADDRESS]]);
  });

  t.test('messages that the gateway did not handle are sent again', async (t) => {
    const { clock, stream, last, receive, faults, follow, connect } = open(t);
    const stop = stream.subscribe('balance', ADDRESS, follow);
    await connect();
    stream.subscribe('account', ADDRESS, follow);
    stop();
    await settled();
    const operations = last().sent.map(({ op, id }) => [op, id]);
    t.same(operations, [
      ['subscribe', 1],
      ['unsubscribe', 2],
      ['subscribe', 3],
    ]);
    await receive('{"type":"error","id":2,"error":"rate_limited","message":"too fast","ids":[2,3]}');
    clock.advance(2000);
    await settled();
    t.match(last().sent.slice(3), [
      { op: 'unsubscribe', topic: 'balance', addresses: [ADDRESS] },
      { op: 'subscribe', topic: 'account', addresses: [ADDRESS] },
    ]);
    await receive('{"type":"error","id":5,"error":"rate_limited","message":"too few units are left","retryAfter":9}');
    clock.advance(8999);
    await settled();
    t.equal(last().sent.length, 5, 'not before the time that the gateway names');
    clock.advance(1);
    await settled();
    t.match(last().sent.slice(5), [{ op: 'subscribe', topic: 'account', addresses: [ADDRESS] }]);
    t.same(faults, []);
  });

  t.test('a delay that the gateway names is bounded, and no timer is left of a closed stream', async (t) => {
    const manual = new ManualClock(NOW_MS);
    const timers = new Set<object>();
    const clock: Clock = {
      now: () => manual.now(),
      monotonic: () => manual.monotonic(),
      after(ms, work) {
        const timer = {};
        timers.add(timer);
        const cancel = manual.after(ms, () => {
          timers.delete(timer);
          work();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    const { stream, last, receive, connect } = open(t, { silenceMs: 1_000_000 }, { clock });
    stream.subscribe('balance', ADDRESS, { onUpdate: () => {} });
    await connect();
    const refusal = (id: number): string =>
      `{"type":"error","id":${id},"error":"rate_limited","message":"later","retryAfter":1e300}`;
    await receive(refusal(1));
    manual.advance(600_000);
    await settled();
    t.equal(last().sent.length, 2);
    await receive(refusal(2), `{"type":"error","id":3,"error":"rate_limited","message":"too fast","ids":[2,3]}`);
    stream.close();
    t.equal(timers.size, 0);
  });

  t.test('a subscription that ends before it is sent is never sent', async (t) => {
    const { stream, last } = open(t);
    last().open();
    const stop = stream.subscribe('balance', ADDRESS, { onUpdate: () => {} });
    stop();
    stream.subscribe('balance', OTHER, { onUpdate: () => {} });
    await settled();
    t.same(last().sent, [{ op: 'subscribe', topic: 'balance', addresses: [OTHER], id: 1 }]);
  });

  t.test('the WebSocket of the runtime gets the API key as a subprotocol', (t) => {
    const opened: unknown[] = [];
    const { WebSocket } = globalThis;
    t.teardown(() => Object.assign(globalThis, { WebSocket }));
    class Recorder extends ScriptedSocket {
      constructor(url: string, protocols: unknown) {
        super(url);
        opened.push([url, protocols]);
      }
    }
    Object.assign(globalThis, { WebSocket: Recorder });
    for (const headers of [{ 'X-Api-Key': 'sg_live_x' }, {}]) {
      createClient({ url: 'http://gateway.test', headers, clock: new ManualClock() }).stream().close();
    }
    t.same(opened, [
      ['ws://gateway.test/api/v1/stream', ['slotgate', 'sg_live_x']],
      ['ws://gateway.test/api/v1/stream', []],
    ]);
    t.end();
  });

  t.test('a subscription that is added while the stream opens is sent once', async (t) => {
    const { stream, last, connect } = open(t, {
      onState: (state) => state === 'open' && stream.subscribe('balance', ADDRESS, { onUpdate: () => {} }),
    });
    await connect();
    t.equal(last().sent.length, 1);
  });

  t.test('an unreadable message is reported, and the stream goes on', async (t) => {
    const { last, receive, seen, errors } = open(t);
    last().open();
    await receive('{"type":"balance"', '{"result":{"seq":1,', 'x', frame(1));
    t.equal(errors.length, 3);
    t.same(seen, [1]);
  });

  t.test('a member of another type makes a message unreadable', async (t) => {
    const { stream, receive, seen, errors, connect } = open(t);
    stream.subscribe('balance', ADDRESS, { resumes: true, onUpdate: () => {} });
    await connect();
    const messages = [
      ...['null', '5', '{"stream":"a"}', '{"stream":"a","seq":"1"}', '{"seq":1}'].map(
        (result) => `{"result":${result}}`,
      ),
      ...['5', 'null', '"text"', '[]', '{"type":5}', '{"ids":[1]}'],
      ...[
        '"ids":5',
        '"ids":[{"toString":1}]',
        '"id":{"toString":1}',
        '"address":{"toString":1}',
        '"event":{"toString":1}',
        '"event":null',
        '"seq":"1"',
        '"gap":5',
        '"gap":{"from":1}',
        '"reorg":1',
        '"error":5',
        '"message":{"toString":1}',
        '"retryAfter":"soon"',
      ].flatMap((member) =>
        ['mark', 'error', 'unsubscribed'].map((type) => {
          const names = [
            ['id', '1'],
            ['address', `"${ADDRESS}"`],
          ].filter(([name]) => !member.startsWith(`"${name}"`));
          return `{"type":"${type}",${names.map(([name, value]) => `"${name}":${value},`).join('')}${member}}`;
        }),
      ),
    ];
    for (const message of messages) {
      errors.length = 0;
      await receive(message);
      t.same(pluck(errors, 'code'), ['unreadable'], message);
    }
    await receive(frame(1));
    t.same(seen, [1]);
  });

  t.test('while a new key is requested messages wait in order; too many of them replace the connection', async (t) => {
    const other = newSigner();
    let answer = (_: Response): void => {};
    const { fetch } = scriptedFetch(
      () =>
        new Promise<Response>((resolve) => {
          answer = resolve;
        }),
    );
    const { sockets, last, receive, seen, errors } = open(t, { receipts: true }, { fetch });
    last().open();
    await receive(signedBodyFor(TARGET, network(1), { request: `SUB ${TARGET}`, slot: 1, signer: other }));
    await receive(signedBodyFor(TARGET, network(2), { request: `SUB ${TARGET}`, slot: 2 }));
    t.same(seen, []);
    answer(errorResponse(404, 'unknown_key'));
    for (let i = 0; i < 20 && seen.length === 0; i++) await settled();
    t.same(seen, [2]);
    t.match(errors, [{ code: 'unknown-key' }]);
    await receive(signedBodyFor(TARGET, network(3), { request: `SUB ${TARGET}`, slot: 3, signer: newSigner() }));
    for (let i = 0; i < 1001; i++) last().receive(frame(4));
    t.ok(sockets[0]?.isClosed);
  });
});

t.test('trust-store', async (t) => {
  const newSecret = (): KeyObject => generateKeyPairSync('ed25519').privateKey;
  const [oldKey, midKey, newKey] = [newSecret(), newSecret(), newSecret()];
  const [old, mid, next] = [newSigner(oldKey), newSigner(midKey), newSigner(newKey)];

  const kidOf = ({ publicKey }: { readonly publicKey: string }): string => parseTrustedKey(publicKey).kid;

  /** Returns the header of a succession from one key to another. */
  function word(by: KeyObject, from: string, to: string, notBeforeMs = NOW_MS): string {
    const { kid, sig } = signSuccession(
      { ...signingKeyOf(by), publicKey: from, kid: parseTrustedKey(from).kid },
      to,
      notBeforeMs,
    );
    return `${kid};${notBeforeMs};${sig}`;
  }

  /** Creates a client that reads `/slot` from a scripted gateway. */
  function reading(script: RequestScript, options: Partial<ClientOptions> = {}) {
    const { fetch, requests } = scriptedFetch(script);
    const client = createClient({
      url: 'http://gateway.test',
      clock: new ManualClock(NOW_MS),
      fetch,
      attempts: 1,
      ...options,
    });
    return { requests, slot: (options?: ReadOptions<'/slot'>) => client.get('/slot', {}, options) };
  }

  const TARGET = '/api/v1/slot';
  const keyOf = (publicKey: string, headers: Readonly<Record<string, string>> = {}): Response =>
    Response.json({ publicKey, algorithm: 'ed25519' }, { headers });

  t.test('without a pinned key the first one is trusted on first use, and requested once', async (t) => {
    const { requests, slot } = reading(({ target }) => {
      if (target === '/api/v1/pubkey') return keyOf(old.publicKey);
      if (target === '/api/v1/health') return Response.json({ result: { cluster: CLUSTER } });
      return new Response(signedBodyFor(TARGET, '7', { signer: requests.length < 6 ? old : next }));
    });
    const answers = await Promise.all([slot(), slot()]);
    t.same(pluck(answers, 'result'), [7, 7]);
    t.equal(requests.filter(({ target }) => target !== TARGET).length, 2);
    await slot();
    t.equal(requests.length, 5);
    await t.rejects(
      slot().then(() => slot()),
      { code: 'unknown-key' },
      'a later one is not trusted, whatever /pubkey answers',
    );
  });

  t.test('an empty list of keys is refused', (t) => {
    for (const publicKey of [[], '']) t.throws(() => reading(() => keyOf(old.publicKey), { publicKey }), TypeError);
    t.doesNotThrow(() => reading(() => keyOf(old.publicKey)));
    t.end();
  });

  t.test('a key as long as a book is refused before it is decoded', async (t) => {
    const { slot } = reading(() => keyOf('z'.repeat(4_000_000)), { cluster: CLUSTER });
    await t.rejects(slot(), { name: 'SlotgateError', code: 'unreadable' });
  });

  t.test('anchors that could not be learned are requested again', async (t) => {
    const { slot } = reading(
      ({ target }, count) => {
        if (target === '/api/v1/health')
          return count < 3 ? errorResponse(503, 'unhealthy') : Response.json({ result: { cluster: CLUSTER } });
        return new Response(signedBodyFor(TARGET, '7', { signer: old }));
      },
      { publicKey: old.publicKey },
    );
    await t.rejects(slot(), { name: 'SlotgateError', code: 'unhealthy' });
    t.equal((await slot()).result, 7);
  });

  t.test('a gateway that is not healthy names its cluster', async (t) => {
    const { slot } = reading(
      ({ target }) =>
        target === '/api/v1/health'
          ? errorResponse(503, 'unhealthy', { 'x-cluster': CLUSTER })
          : new Response(signedBodyFor(TARGET, '7', { signer: old })),
      { publicKey: old.publicKey },
    );
    t.equal((await slot()).result, 7);
  });

  t.test('the bounds of a read hold for all requests that it needs, and for no other read', async (t) => {
    const ways: readonly [string, Partial<ClientOptions>, number][] = [
      ['the anchors', {}, 3],
      ['a succession', { publicKey: old.publicKey, cluster: CLUSTER }, 2],
    ];
    for (const [what, pins, needed] of ways) {
      const clock = new ManualClock(NOW_MS);
      const { slot, requests } = reading(
        ({ target }) =>
          target === TARGET ? new Response(signedBodyFor(TARGET, '7', { signer: next })) : new Promise(() => {}),
        { clock, attempts: 4, ...pins },
      );
      const controller = new AbortController();
      let isPending = true;
      void slot()
        .catch(() => {})
        .finally(() => {
          isPending = false;
        });
      const bounded = [slot({ timeoutMs: 500, attempts: 1 }), slot({ signal: controller.signal })];
      const outcomes = Promise.allSettled(bounded);
      for (let i = 0; i < 100 && requests.length < 3 * needed; i++)
        await new Promise((resolve) => setImmediate(resolve));
      controller.abort(new Error('enough'));
      clock.advance(500);
      t.match(await outcomes, [{ reason: { code: 'timeout' } }, { reason: { message: 'enough' } }], what);
      t.ok(isPending);
    }
  });

  t.test('a new key is trusted by a chain of successions from a trusted key', async (t) => {
    const pinned = { publicKey: old.publicKey, cluster: CLUSTER };
    const keys = new Map([
      [kidOf(mid), keyOf.bind(null, mid.publicKey, { 'x-key-succession': word(oldKey, old.publicKey, mid.publicKey) })],
      [
        kidOf(next),
        keyOf.bind(null, next.publicKey, { 'x-key-succession': word(midKey, mid.publicKey, next.publicKey) }),
      ],
    ]);
    const { requests, slot } = reading(({ target }) => {
      const [, kid] = target.split('?kid=');
      if (kid === undefined) return new Response(signedBodyFor(TARGET, '7', { signer: next }));
      return keys.get(kid)?.() ?? errorResponse(404, 'unknown_key');
    }, pinned);
    t.equal((await slot()).receipt.kid, kidOf(next));
    await slot();
    t.same(
      requests.map(({ target }) => target),
      [TARGET, `/api/v1/pubkey?kid=${kidOf(next)}`, `/api/v1/pubkey?kid=${kidOf(mid)}`, TARGET],
    );
  });

  t.test('a key that is not trusted is not requested again for half a minute', async (t) => {
    const clock = new ManualClock(NOW_MS);
    const { requests, slot } = reading(
      ({ target }) =>
        target === TARGET
          ? new Response(signedBodyFor(TARGET, '7', { signer: next }))
          : errorResponse(404, 'unknown_key'),
      { publicKey: old.publicKey, cluster: CLUSTER, clock },
    );
    const requestsAfter = async (ms: number): Promise<number> => {
      clock.advance(ms);
      await t.rejects(slot(), { code: 'unknown-key' });
      return requests.filter(({ target }) => target !== TARGET).length;
    };
    t.same([await requestsAfter(0), await requestsAfter(29_999), await requestsAfter(1)], [1, 1, 2]);
  });

  t.test('a new key without a valid succession is not trusted', async (t) => {
    const words: Readonly<Record<string, Response>> = {
      'no word': keyOf(next.publicKey),
      'its own word': keyOf(next.publicKey, { 'x-key-succession': word(newKey, next.publicKey, next.publicKey) }),
      'a word that somebody else signed': keyOf(next.publicKey, {
        'x-key-succession': word(newKey, old.publicKey, next.publicKey),
      }),
      'a word for another key': keyOf(next.publicKey, {
        'x-key-succession': word(oldKey, old.publicKey, mid.publicKey),
      }),
      'a word for later': keyOf(next.publicKey, {
        'x-key-succession': word(oldKey, old.publicKey, next.publicKey, NOW_MS + 5001),
      }),
      'another key': keyOf(mid.publicKey, { 'x-key-succession': word(oldKey, old.publicKey, mid.publicKey) }),
      'no text at all': keyOf(next.publicKey, { 'x-key-succession': 'trust me' }),
      'a key that nobody knows': errorResponse(404, 'unknown_key'),
      'a void key': errorResponse(410, 'key_revoked'),
    };
    for (const [what, response] of Object.entries(words)) {
      const { slot } = reading(
        ({ target }) =>
          target === TARGET ? new Response(signedBodyFor(TARGET, '7', { signer: next })) : response.clone(),
        { publicKey: old.publicKey, cluster: CLUSTER },
      );
      await t.rejects(slot(), { name: 'ReceiptError', code: 'unknown-key' }, what);
    }
  });
});

t.test('verify-answer', async (t) => {
  const ADDRESS = '11111111111111111111111111111111';
  const TARGET = `/api/v1/balance/${ADDRESS}`;
  const RESULT = '{"lamports":18446744073709551615,"sol":"18446744073.709551615"}';

  function open(script: RequestScript, options: Partial<ClientOptions> = {}) {
    const { fetch, requests } = scriptedFetch(script);
    const pinned = { publicKey: signer.publicKey, cluster: CLUSTER };
    const client = createClient({
      url: 'http://gateway.test',
      fetch,
      clock: new ManualClock(NOW_MS),
      attempts: 1,
      ...pinned,
      ...options,
    });
    return { client, requests };
  }

  const nonceOf = ({ headers }: ReceivedRequest): string | null => headers.get('x-receipt-nonce');

  t.test('a nonce is new each time, long enough, and must be in the receipt', async (t) => {
    const { client, requests } = open(
      (request) => new Response(signedBodyFor(TARGET, RESULT, { nonce: nonceOf(request) })),
    );
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
    const { client } = open(() => new Response(signedBodyFor(TARGET, RESULT, { nonce: null })));
    await t.rejects(client.get('/balance/:addr', { addr: ADDRESS }, { nonce: '' }), { code: 'nonce' }, 'an empty one');
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
    const validators = requests.map(({ headers }) => headers.get('if-none-match'));
    t.same(validators, [null, 'W/"abc"', 'W/"abc"', 'W/"abc"']);
  });

  t.test('a receipt of an older slot does not prove that an answer still holds', async (t) => {
    const { client } = open((_, count) => (count === 0 ? whole() : still(8 + count)));
    const since = await client.get('/balance/:addr', { addr: ADDRESS });
    for (const [slot, unchanged] of [
      [9, false],
      [10, true],
    ] as const)
      t.match(await client.get('/balance/:addr', { addr: ADDRESS }, { since }), { slot, unchanged });
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
    const unrequested = open(() => still(11));
    await t.rejects(unrequested.client.get('/balance/:addr', { addr: ADDRESS }), { name: 'ReceiptError' });
  });

  t.test('operators that a read demands are sent, and the receipt must name them', async (t) => {
    const { client, requests } = open(() => new Response(signedBodyFor(TARGET, RESULT, { slot: 10 })));
    const read = (agree: number) => client.get('/balance/:addr', { addr: ADDRESS }, { agree });
    t.equal((await read(1)).slot, 10);
    await t.rejects(read(2), { code: 'agreed' }); // a receipt of version 1 is the word of one
    t.same([...requests].map(({ headers }) => headers.get('x-agree')).slice(-2), ['1', '2']);
    const strict = open(() => new Response(signedBodyFor(TARGET, RESULT)), { minAgreed: 2 });
    const low = strict.client.get('/balance/:addr', { addr: ADDRESS }, { agree: 1 });
    await t.rejects(low, { code: 'agreed' }, 'a read demands no less than its client');
    const named = open(({ target }) => new Response(signedBodyFor(target, RESULT)));
    const readNamed = (agree: number) => named.client.get('/balance/:addr', { addr: ADDRESS, agree });
    t.equal((await readNamed(1)).slot, 10);
    await t.rejects(readNamed(2), { code: 'agreed' }, 'as a parameter, too');
  });

  t.test('a signed result that is no object is not final', async (t) => {
    const { client } = open(({ target }) => new Response(signedBodyFor(target, 'null', { nowMs: NOW_MS - 60_001 })));
    await t.rejects(client.get('/tx/:sig', { sig: 'abc' }), { name: 'ReceiptError', code: 'stale' });
    await t.rejects(client.get('/block/:slot', { slot: 5 }), { name: 'ReceiptError', code: 'stale' });
  });

  t.test('an age that is no number allows none', async (t) => {
    const { client } = open(() => new Response(signedBodyFor(TARGET, RESULT)), { maxAgeMs: Number.NaN });
    await t.rejects(client.get('/balance/:addr', { addr: ADDRESS }), { name: 'ReceiptError', code: 'stale' });
  });

  t.test('an answer older than the requested slot fails verification', async (t) => {
    const { client, requests } = open(() => new Response(signedBodyFor(TARGET, RESULT, { slot: 10 })));
    const read = (minSlot: number) => client.get('/balance/:addr', { addr: ADDRESS }, { minSlot });
    t.equal((await read(10)).slot, 10);
    await t.rejects(read(11), { code: 'old-slot' });
    t.equal(requests[1]?.headers.get('x-min-slot'), '11');
  });
});
