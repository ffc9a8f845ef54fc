import t, { type Test } from 'tap';
import { type ClientOptions, createClient, type StreamOptions, type StreamState } from '../../../src/client/client.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { CLUSTER, errorResponse, NOW_MS, newSigner, scriptedFetch, signedBodyFor, signer } from './scripted-fetch.ts';
import { ScriptedSocket } from './scripted-socket.ts';

const ADDRESS = '11111111111111111111111111111111';
const OTHER = 'SysvarC1ock11111111111111111111111111111111';

/** Returns the network in a frame of the gateway; its slot is its number. */
const network = (seq: number, stream = 'a'): string => JSON.stringify({ slot: seq, seq, stream, health: 'ok' });
const frame = (seq: number, stream?: string): string => `{"result":${network(seq, stream)},"slot":${seq}}`;

/** Returns a text as long as an address; each number gives another. */
const addressFrom = (i: number): string => String(i).padStart(44, 'A');

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open(t: Test, options: StreamOptions = {}, client: Partial<ClientOptions> = {}) {
  const clock = new ManualClock(NOW_MS);
  const sockets: ScriptedSocket[] = [];
  const seen: number[] = [];
  const gaps: (number | null)[] = [];
  const states: StreamState[] = [];
  const errors: any[] = [];
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
    onError: (error) => errors.push(error),
    ...options,
  });
  t.teardown(() => stream.close());
  const last = (): ScriptedSocket => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error('no socket');
    return socket;
  };
  const receive = async (...texts: readonly string[]): Promise<void> => {
    for (const text of texts) last().receive(text);
    await settled();
  };
  return { clock, stream, sockets, last, receive, seen, gaps, states, errors, headers };
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

t.test('a closed socket reconnects, and the frames missed meanwhile are reported', async (t) => {
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
  clock.advance(500);
  last().open();
  await receive(frame(5));
  last().end(1006);
  clock.advance(500);
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
    signedFrame(6),
  );
  t.same(receipts, [
    [1, 1],
    [6, 6],
  ]);
  t.same(
    errors.map(({ code }) => code),
    ['malformed', 'request', 'digest'],
  );
});

const lamports = (amount: number, slot: number, target = `/api/v1/balance/${ADDRESS}`): string =>
  signedBodyFor(target, `{"lamports":${amount},"sol":"0"}`, { slot });
const pushed = (head: string, answer: string): string => `{${head},"answer":${answer}}`;

t.test('an account is subscribed to on every connection, and its values are verified', async (t) => {
  const { clock, stream, last, receive } = open(t);
  const updates: unknown[] = [];
  const faults: any[] = [];
  const stop = stream.subscribe('balance', ADDRESS, {
    onUpdate: ({ result, slot, seq, reorg }) => updates.push([result.lamports, slot, seq, reorg]),
    onError: (error) => faults.push(error),
  });
  stream.subscribe('account', OTHER, { commitment: 'processed', onUpdate: () => {} });
  const wishes = (firstId: number) => [
    { op: 'subscribe', topic: 'balance', addresses: [ADDRESS], id: firstId },
    { op: 'subscribe', topic: 'account', addresses: [OTHER], commitment: 'processed', id: firstId + 1 },
  ];
  last().open();
  await settled();
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
  t.same(
    faults.map(({ code }) => code),
    ['digest', 'request'],
  );
  last().end(1001);
  clock.advance(500);
  last().open();
  await settled();
  t.same(last().sent, wishes(3), 'again');
  stop();
  await settled();
  t.same(last().sent.at(-1), { op: 'unsubscribe', topic: 'balance', addresses: [ADDRESS], id: 5 });
  await receive(pushed(`"type":"balance","id":3,"address":"${ADDRESS}","seq":1`, lamports(6, 15)));
  t.equal(updates.length, 3);
  last().end(1001);
  clock.advance(500);
  last().open();
  await settled();
  t.same(last().sent, [{ ...wishes(3)[1], id: 6 }]);
});

t.test('a refused subscription is reported; one with a transient error is retried', async (t) => {
  const { clock, stream, last, receive } = open(t);
  const faults: any[] = [];
  const follow = { onUpdate: () => {}, onError: (error: unknown) => faults.push(error) };
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
  last().open();
  await settled();
  clock.advance(5000);
  await settled();
  t.same(
    last().sent.map(({ addresses }) => addresses),
    [[ADDRESS]],
    'the new connection has sent it by itself',
  );
});

t.test("many subscriptions go into few messages, within the gateway's limit", async (t) => {
  const { clock, stream, last } = open(t);
  const addresses = Array.from({ length: 1000 }, (_, i) => addressFrom(i));
  for (const address of addresses) stream.subscribe('balance', address, { onUpdate: () => {} });
  for (const address of addresses.slice(0, 3)) stream.subscribe('account', address, { onUpdate: () => {} });
  last().open();
  await settled();
  const sizes = (): number[] => last().sent.map(({ addresses }) => addresses.length);
  t.same(sizes(), Array(8).fill(80));
  clock.advance(999);
  await settled();
  t.equal(sizes().length, 8);
  clock.advance(1);
  await settled();
  t.same(sizes().slice(8), [80, 80, 80, 80, 40, 3]);
  const named = last().sent.filter(({ topic }) => topic === 'balance');
  t.same(
    named.flatMap(({ addresses }) => addresses),
    addresses,
  );
  for (const message of last().sent) t.ok(JSON.stringify(message).length <= 4096);
});

t.test('one account that is subscribed to twice is named once in a message', async (t) => {
  const { stream, last } = open(t);
  for (let i = 0; i < 2; i++) stream.subscribe('balance', ADDRESS, { onUpdate: () => {} });
  last().open();
  await settled();
  t.same(
    last().sent.map(({ addresses }) => addresses),
    [[ADDRESS], [ADDRESS]],
  );
});

t.test('messages that the gateway did not handle are sent again', async (t) => {
  const { clock, stream, last, receive } = open(t);
  const faults: unknown[] = [];
  const follow = { onUpdate: () => {}, onError: (error: unknown) => faults.push(error) };
  const stop = stream.subscribe('balance', ADDRESS, follow);
  last().open();
  await settled();
  stream.subscribe('account', ADDRESS, follow);
  stop();
  await settled();
  t.same(
    last().sent.map(({ op, id }) => [op, id]),
    [
      ['subscribe', 1],
      ['unsubscribe', 2],
      ['subscribe', 3],
    ],
  );
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
  const { stream, last } = open(t, {
    onState: (state) => state === 'open' && stream.subscribe('balance', ADDRESS, { onUpdate: () => {} }),
  });
  last().open();
  await settled();
  t.equal(last().sent.length, 1);
});

t.test('an unreadable message is reported, and the stream goes on', async (t) => {
  const { last, receive, seen, errors } = open(t);
  last().open();
  await receive('{"type":"balance"', '{"result":{"seq":1,', 'x', frame(1));
  t.equal(errors.length, 3);
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
  await receive(signedBodyFor(TARGET, network(3), { request: `SUB ${TARGET}`, slot: 3, signer: other }));
  for (let i = 0; i < 1001; i++) last().receive(frame(4));
  t.ok(sockets[0]?.isClosed);
});
