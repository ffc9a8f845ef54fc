import { once } from 'node:events';
import { Unpackr } from 'msgpackr';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { parseTarget } from '../../src/shared/domain/canonical-request.ts';
import { issueKey, revokeKey } from '../support/access/api-key-fixtures.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { exchange, parseResponses } from '../support/raw-http.ts';

interface Listener {
  readonly socket: WebSocket;
  readonly frames: Buffer[];
  readonly headers: Record<string, unknown>;
  readonly closed: Promise<number>;
}

async function listen(t: Test, { gateway }: SteppedHarness, query = ''): Promise<Listener> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream${query}`);
  t.teardown(() => socket.terminate());
  const frames: Buffer[] = [];
  socket.on('message', (data: Buffer) => frames.push(data));
  const closed = once(socket, 'close').then(([code]) => code as number);
  const [[{ headers }]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
  return { socket, frames, headers, closed };
}

/** Opens a stream that must be refused; returns the refusal. */
async function refused({ gateway }: SteppedHarness, query = '', headers: Readonly<Record<string, string>> = {}) {
  const lines = Object.entries({
    host: 'localhost',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const packet = `GET /api/v1/stream${query} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const [answer] = parseResponses((await exchange(gateway.url, [packet])).text);
  if (answer === undefined) throw new Error('no answer');
  const headerFields = answer.head.split('\r\n').map((line) => /^([^:]+): (.*)$/.exec(line) ?? []);
  return {
    status: answer.status,
    headers: Object.fromEntries(headerFields.map(([, name = '', value = '']) => [name.toLowerCase(), value])),
    json: JSON.parse(answer.body),
  };
}

const text = (frame: Buffer | undefined): string => String(frame);

t.test('stream', async (t) => {
  const world = await startStepped(t, { perSlot: 1, set: ['limits.free.streams=100'] });
  const { get, step, cluster, gateway } = world;

  t.test('with receipts each frame verifies for the request of its stream', async (t) => {
    const streams = ['?receipts=1', '?receipts=1&interval=1000', '?format=json&receipts=1'];
    const readers = await Promise.all(streams.map((query) => listen(t, world, query)));
    const plain = await listen(t, world);
    await waitFor(() => readers.every(({ frames }) => frames.length === 1), 'the first frames');
    for (let count = 0; count < 8; count++) await step();
    await waitFor(() => readers[0]?.frames.length === plain.frames.length && plain.frames.length >= 8, 'the frames');
    t.ok((readers[1]?.frames.length ?? 0) < plain.frames.length);
    for (const [i, { frames }] of readers.entries()) {
      const { canonical } = parseTarget(`/api/v1/stream${streams[i]}`);
      const expected = { publicKeys: [gateway.publicKey], cluster: gateway.cluster, request: `SUB ${canonical}` };
      for (const frame of frames) {
        const { result, slot, receipt } = verifyReceipt(text(frame), expected);
        t.ok(plain.frames.some((other) => text(other) === `{"result":${result},"slot":${slot}}`));
        t.equal(receipt.claim, 'observed/2');
        t.throws(() => verifyReceipt(text(frame), { ...expected, request: 'GET /api/v1/network' }), {
          code: 'request',
        });
      }
    }
    const [last] = readers.map(({ frames }) => frames.at(-1));
    t.ok(JSON.parse(text(last)).receipt.size >= 2, 'streams of one moment share a signature');
  });

  t.test('receipts need JSON', async (t) => {
    for (const query of ['?receipts=1&format=msgpack', '?receipts=0', '?receipts=', '?receipts=1&interval=7']) {
      const { status, json } = await refused(world, query);
      t.same([status, json.error], [400, 'invalid_query'], query);
    }
  });

  t.test('the current frame on open, then one for each slot, each with the bytes of GET /network', async (t) => {
    const { frames, headers } = await listen(t, world);
    for (const name of ['limit', 'remaining', 'reset']) t.match(headers[`x-ratelimit-${name}`], /^\d+$/);
    await waitFor(() => frames.length === 1, 'the first frame');
    t.equal(text(frames[0]), (await get('/network')).text);
    for (let count = 2; count <= 8; count++) {
      await step();
      await waitFor(() => frames.length === count, 'the next frame');
      const network = await get('/network');
      t.equal(text(frames.at(-1)), network.text);
      t.equal(network.json.slot, cluster.chain.slot('processed'));
    }
    const parsed = frames.map((frame) => JSON.parse(text(frame)).result);
    t.ok(parsed.every(({ seq }, i) => seq === parsed[0].seq + i));
    t.equal(new Set(parsed.map(({ stream }) => stream)).size, 1);
  });

  t.test('MessagePack carries the same object, with integers as integers', async (t) => {
    const json = await listen(t, world);
    const packed = await listen(t, world, '?format=msgpack');
    await world.step(5);
    await waitFor(() => packed.frames.length === 6 && json.frames.length === 6, 'the frames');
    const exact = new Unpackr({ useRecords: false, int64AsType: 'bigint' });
    packed.frames.forEach((frame, i) => {
      const object = exact.unpack(frame);
      t.type(object.result.updatedAt, 'bigint', 'beyond 32 bits: 64 bits, not a double');
      const plain = JSON.stringify(object, (_, value) => (typeof value === 'bigint' ? Number(value) : value));
      t.equal(plain, text(json.frames[i]));
    });
  });

  t.test('an interval makes frames rarer', async (t) => {
    const listeners = await Promise.all([1000, 5000, 10_000].map((ms) => listen(t, world, `?interval=${ms}`)));
    const every = await listen(t, world);
    await world.step(60);
    await waitFor(() => every.frames.length === 61, 'all frames');
    for (const [i, ms] of [1000, 5000, 10_000].entries()) {
      const times = (listeners[i]?.frames ?? []).slice(1).map((frame) => JSON.parse(text(frame)).result.updatedAt);
      const gaps = times.slice(1).map((time, i) => time - times[i]);
      t.ok(
        gaps.every((gap) => gap >= ms - 200 && gap <= ms + 400),
        `${ms}: ${gaps}`,
      );
      t.ok(times.length >= Math.floor(24_000 / (ms + 400)), `${times.length} frames every ${ms} ms`);
    }
  });

  t.test('a ping is answered; an invalid message closes the stream with 4403', async (t) => {
    const { socket, frames } = await listen(t, world);
    socket.send('{"op":"ping"}');
    await waitFor(() => frames.some((frame) => text(frame) === '{"type":"pong"}'), 'the pong');
    for (const message of [
      'x',
      '7',
      'null',
      '[]',
      '{}',
      '{"op":"no such"}',
      '{"op":null}',
      Buffer.from('{"op":"ping"}'),
    ]) {
      const listener = await listen(t, world);
      listener.socket.send(message);
      t.equal(await listener.closed, 4403, String(message));
    }
  });

  t.test('messages over ten a second are refused, with their ids in at most one frame a second', async (t) => {
    const hasty = await listen(t, world);
    const say = (first: number, last: number): void => {
      for (let id = first; id <= last; id++) hasty.socket.send(`{"op":"ping","id":${id}}`);
    };
    const pongs = (): number => hasty.frames.filter((frame) => text(frame) === '{"type":"pong"}').length;
    const errors = (): { readonly ids: readonly number[] }[] =>
      hasty.frames.map((frame) => JSON.parse(text(frame))).filter(({ type }) => type === 'error');
    say(1, 13);
    await waitFor(() => pongs() === 10 && errors().length === 1, 'ten pongs and a refusal');
    t.match(errors()[0], { id: 11, error: 'rate_limited', message: /at most 10 a second.*80 addresses/, ids: [11] });
    world.clock.advance(1000);
    await waitFor(() => errors().length === 2, 'the rest of the refusals');
    t.match(errors()[1], { id: 12, error: 'rate_limited', ids: [12, 13] });
    say(14, 24);
    await waitFor(() => pongs() === 20, 'ten pongs of the next second');
    t.equal(errors().length, 2, 'not twice in a second');
    world.clock.advance(1000);
    await waitFor(() => errors().length === 3, 'the next refusal');
    t.same(errors()[2]?.ids, [24]);
    t.equal(hasty.socket.readyState, WebSocket.OPEN);
  });

  t.test('fifty messages over the pace within five seconds close it with 4429, a long one with 1009', async (t) => {
    const hasty = await listen(t, world);
    for (let i = 0; i < 59; i++) hasty.socket.send('{"op":"ping"}');
    await waitFor(() => hasty.frames.length === 12, 'ten pongs and a refusal');
    t.equal(hasty.socket.readyState, WebSocket.OPEN);
    const reasons: string[] = [];
    hasty.socket.on('close', (_, reason) => reasons.push(String(reason)));
    hasty.socket.send('{"op":"ping"}');
    t.equal(await hasty.closed, 4429);
    t.match(reasons, [/many addresses in one message/]);
    const wordy = await listen(t, world);
    wordy.socket.send(`{"op":"ping","x":"${'x'.repeat(4096)}"}`);
    t.equal(await wordy.closed, 1009);
  });

  t.test('a refusal comes over HTTP before the upgrade where possible', async (t) => {
    const cases: readonly [query: string, headers: Record<string, string>, status: number, code: string][] = [
      ['?format=xml', {}, 400, 'invalid_query'],
      ['?interval=1', {}, 400, 'invalid_query'],
      ['?interval=0', {}, 400, 'invalid_query'],
      ['?interval=1000&interval=1000', {}, 400, 'invalid_query'],
      ['?x=1', {}, 400, 'invalid_query'],
      ['?format=%zz', {}, 400, 'invalid_query'],
      ['?receipts=2', {}, 400, 'invalid_query'],
      ['', { 'x-api-key': 'sg_live_x' }, 401, 'invalid_api_key'],
      ['', { 'x-receipt-nonce': 'AAAAAAAAAAAAAAAAAAAAAA' }, 400, 'invalid_nonce'],
      ['', { 'sec-websocket-version': '8' }, 426, 'upgrade_required'],
      ['', { connection: 'close' }, 426, 'upgrade_required'],
      ['', { 'sec-websocket-key': 'short' }, 426, 'upgrade_required'],
      ['', { 'sec-websocket-key': 'x'.repeat(24) }, 400, 'invalid_request'],
      ['', { host: 'a b' }, 400, 'invalid_request'],
      ['', { 'sec-websocket-protocol': 'slotgate, sg_live_x' }, 401, 'invalid_api_key'],
      ['', { 'sec-websocket-protocol': `slotgate, ${generateApiKey()}` }, 401, 'invalid_api_key'],
      ['', { 'sec-websocket-protocol': 'slotgate, a, b' }, 400, 'invalid_request'],
    ];
    for (const [query, headers, status, code] of cases) {
      const got = await refused(world, query, headers);
      t.equal(got.status, status, `${query} ${JSON.stringify(headers)}`);
      t.same(Object.keys(got.json), ['error', 'message']);
      t.equal(got.json.error, code);
      for (const name of ['limit', 'remaining', 'reset']) t.match(got.headers[`x-ratelimit-${name}`], /^\d+$/);
      t.equal(got.headers['access-control-allow-origin'], '*');
    }
  });

  t.test('a browser sends its API key as a subprotocol, which is never sent back', async (t) => {
    const state = t.testdir();
    const [key, other] = [await issueKey(state), await issueKey(state)];
    const world = await startStepped(t, { state, set: ['limits.free.units=777'] });
    const accepted = async (headers: Readonly<Record<string, string | string[]>>): Promise<object> => {
      const socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}/api/v1/stream`, [], { headers });
      t.teardown(() => socket.terminate());
      const upgraded = once(socket, 'upgrade');
      socket.on('error', () => {}); // `ws` refuses a subprotocol that it did not request itself
      const [{ headers: got, rawHeaders }] = await upgraded;
      t.notOk(String(rawHeaders).includes('sg_live_'), 'the key is not sent back');
      return { limit: got['x-ratelimit-limit'], subprotocol: got['sec-websocket-protocol'] };
    };
    const protocols = 'sec-websocket-protocol';
    t.same(await accepted({ [protocols]: `slotgate, ${key}` }), { limit: '500', subprotocol: 'slotgate' });
    t.same(await accepted({ [protocols]: `${key},slotgate` }), { limit: '500', subprotocol: 'slotgate' });
    t.same(await accepted({ [protocols]: ['slotgate', key] }), { limit: '500', subprotocol: 'slotgate' }, 'two lines');
    t.same(await accepted({ [protocols]: 'slotgate' }), { limit: '777', subprotocol: 'slotgate' });
    t.same(await accepted({ [protocols]: 'slotgate, ,' }), { limit: '777', subprotocol: 'slotgate' });
    t.same(await accepted({ [protocols]: 'slotgate', 'x-api-key': key }), { limit: '500', subprotocol: 'slotgate' });
    t.same(await accepted({ [protocols]: `slotgate, ${key}`, 'x-api-key': key }), {
      limit: '500',
      subprotocol: 'slotgate',
    });
    t.same(await accepted({ [protocols]: 'chat, Slotgate' }), { limit: '777', subprotocol: undefined }, 'not offered');
    t.same(
      (await refused(world, '', { [protocols]: `slotgate, ${key}`, 'x-api-key': other })).json.error,
      'invalid_request',
    );
    t.same((await refused(world, '', { [protocols]: `slotgate, ${key}, ${other}` })).json.error, 'invalid_request');
    t.notOk(JSON.stringify(world.logged).includes(key.slice(8)));
  });

  t.test('a key that was sent as a subprotocol ends its streams with 4401 when it is revoked', async (t) => {
    const state = t.testdir();
    const key = await issueKey(state);
    const world = await startStepped(t, { state });
    const socket = new WebSocket(`${world.gateway.url.replace('http', 'ws')}/api/v1/stream`, ['slotgate', key]);
    t.teardown(() => socket.terminate());
    const closed = once(socket, 'close');
    await once(socket, 'open');
    t.equal(socket.protocol, 'slotgate');
    await revokeKey(apiKeysPath(state), key.slice(-8));
    for (let i = 0; socket.readyState !== WebSocket.CLOSED && i < 1000; i++) await world.step();
    t.equal((await closed)[0], 4401);
  });

  t.test('a caller may open a limited number of streams; closing one allows another', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.streams=2'] });
    const first = await listen(t, world);
    await listen(t, world);
    const got = await refused(world);
    t.equal(got.status, 429);
    t.equal(got.json.error, 'rate_limited');
    t.match(got.headers['retry-after'], /^[1-9]\d*$/);
    const { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining } = got.headers;
    t.equal(Number(limit) - Number(remaining), 2, 'a 429 costs nothing');
    first.socket.terminate();
    await first.closed;
    await waitFor(async () => {
      const opened = await listen(t, world).catch(() => undefined);
      return opened !== undefined;
    }, 'room');
  });

  t.test('an upgrade is a request: it counts, and is refused without quota', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.units=2'] });
    const { headers } = await listen(t, world);
    t.equal(headers['x-ratelimit-remaining'], '1');
    await listen(t, world);
    const got = await refused(world);
    t.equal(got.status, 429);
    t.equal(got.headers['x-ratelimit-remaining'], '0');
    t.match(got.json.message, /^this request costs 1 unit, 0 of 2 are left; wait \d+ s or use an API key$/);
    t.ok(Number(got.headers['retry-after']) <= 10);
  });

  t.test('when the gateway closes, its listeners get 1001', async (t) => {
    const listeners = await Promise.all([listen(t, world), listen(t, world, '?format=msgpack')]);
    const closing = world.gateway.close();
    t.equal(world.gateway.close(), closing, 'a second call waits for the same end');
    for (const { closed } of listeners) t.equal(await closed, 1001);
    world.clock.advance(10_000);
    await closing;
  });
});
