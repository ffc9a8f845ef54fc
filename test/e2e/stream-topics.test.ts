import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SYSTEM_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { answerInFrame } from '../../src/receipts/push-frame.ts';
import { verifyReceipt } from '../../src/receipts/verify/verify-receipt.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { stallPeers } from '../support/stalled-peers.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';
import { frame, OP } from '../support/websocket-frame.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

const [WALLET = '', OTHER = ''] = WALLETS.map(({ address }) => address);

/** A reader of the stream and its account frames. */
interface Reader {
  readonly frames: string[];
  say(message: unknown): void;
  /** Returns the parsed frames of one type. */
  of(type: string): any[];
  readonly closed: Promise<number>;
  close(): void;
}

async function openReader(t: Test, { gateway }: SteppedHarness): Promise<Reader> {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream`);
  const frames: string[] = [];
  socket.onmessage = ({ data }) => {
    if (String(data).startsWith('{"type"')) frames.push(String(data));
  };
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  await once(socket, 'open');
  t.teardown(() => socket.close());
  return {
    frames,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    of: (type) => frames.map((frame) => JSON.parse(frame)).filter((frame) => frame.type === type),
    closed,
    close: () => socket.close(),
  };
}

t.test('a subscriber gets the first value, then each change, as REST returns it and with its receipt', async (t) => {
  const world = await startStepped(t, { perSlot: 2 });
  const { step, gateway, get, cluster } = world;
  const reader = await openReader(t, world);
  reader.say({ op: 'subscribe', topic: 'balance', address: WALLET, id: 'mine' });
  await waitFor(() => reader.of('subscribed').length === 1, 'the first value');
  t.match(reader.of('subscribed')[0], { type: 'subscribed', id: 'mine', topic: 'balance', address: WALLET, seq: 0 });
  // An answer that is read twice in one slot may be signed twice, and the slot may advance before the REST request.
  for (let steps = 0, same = 0; same < 3; steps++) {
    if (steps === 100) throw new Error(`${same} of ${reader.of('balance').length} pushes were what REST answers`);
    const pushes = reader.of('balance').length;
    await step();
    const before = await get(`/balance/${WALLET}`);
    await sleep(5);
    if (reader.of('balance').length === pushes) continue;
    const after = await get(`/balance/${WALLET}`);
    if ([before.text, after.text].includes(answerInFrame(reader.frames.at(-1) ?? ''))) same++;
  }
  reader.frames.forEach((frame, seq) => {
    const { slot, result } = JSON.parse(answerInFrame(frame));
    t.equal(JSON.parse(frame).seq, seq);
    t.equal(BigInt(result.lamports), cluster.chain.accountAt(WALLET, slot)?.lamports ?? 0n, `at slot ${slot}`);
    const { slot: signed } = verifyReceipt(answerInFrame(frame), {
      publicKeys: [gateway.publicKey],
      cluster: gateway.cluster,
      request: `GET /api/v1/balance/${WALLET}`,
    });
    t.equal(signed, slot);
  });
});

t.test('after a fork the value is pushed again, and the abandoned one is not served (I5)', async (t) => {
  const world = await startStepped(t, { perSlot: 0 });
  const { step, get, cluster } = world;
  const account = addressFromByte(31);
  const put = (lamports: bigint): void =>
    cluster.chain.setAccount(account, {
      lamports,
      owner: SYSTEM_PROGRAM,
      executable: false,
      data: new Uint8Array(0),
    });
  put(100n);
  await step(5);
  const reader = await openReader(t, world);
  reader.say({ op: 'subscribe', topic: 'balance', address: account, commitment: 'processed' });
  await waitFor(() => reader.of('subscribed').length === 1);
  const lamports = async (): Promise<number> =>
    (await get(`/balance/${account}?commitment=processed`)).json.result.lamports;
  for (let fork = 1; fork <= 3; fork++) {
    const pushed = (): any[] => reader.of('balance').slice(2 * fork - 2);
    put(777n);
    await step();
    await waitFor(() => pushed().length === 1, 'the value on the fork');
    t.equal(await lamports(), 777);
    await cluster.control.fork();
    await step(2, 2); // the next slot is skipped
    await waitFor(() => pushed().length === 2, 'the value as it is');
    t.equal(await lamports(), 100);
    t.match(pushed(), [
      { seq: 2 * fork - 1, answer: { result: { lamports: 777 } } },
      { seq: 2 * fork, reorg: true, answer: { result: { lamports: 100 } } },
    ]);
    t.notOk(pushed()[0].reorg);
  }
});

t.test('an invalid message gets an error frame, an unreadable one closes the connection', async (t) => {
  const world = await startStepped(t, { set: ['limits.free.subscriptions=1'] });
  const reader = await openReader(t, world);
  const errors = async (count: number): Promise<any[]> => {
    await waitFor(() => reader.of('error').length === count, 'the error');
    return reader.of('error');
  };
  reader.say({ op: 'subscribe', topic: 'balance', address: 'nobody', id: 1 });
  t.match((await errors(1))[0], { type: 'error', id: 1, error: 'invalid_address' });
  reader.say({ op: 'subscribe', topic: 'weather', address: WALLET });
  t.match((await errors(2))[1], { id: null, error: 'invalid_request' });
  reader.say({ op: 'unsubscribe', topic: 'balance', address: WALLET });
  t.match((await errors(3))[2], { error: 'invalid_request' });
  reader.say({ op: 'subscribe', topic: 'account', address: WALLET, commitment: 'finalized' });
  await waitFor(() => reader.of('subscribed').length === 1);
  reader.say({ op: 'subscribe', topic: 'balance', address: OTHER });
  t.match((await errors(4))[3], { error: 'rate_limited' });
  reader.say({ op: 'unsubscribe', topic: 'account', address: WALLET, commitment: 'finalized' });
  await waitFor(() => reader.of('unsubscribed').length === 1);
  reader.say({ op: 'ping' });
  await waitFor(() => reader.of('pong').length === 1);
  reader.say('{"op":"dance"}');
  t.equal(await reader.closed, 4403);
});

t.test('one message subscribes to many addresses, and its id ends them all', async (t) => {
  const world = await startStepped(t, { set: ['limits.free.subscriptions=4'] });
  const reader = await openReader(t, world);
  const [third = '', fourth = '', fifth = ''] = [41, 42, 43].map(addressFromByte);
  const addresses = [WALLET, 'nobody', OTHER, WALLET, third, fourth, fifth];
  reader.say({ op: 'subscribe', topic: 'balance', addresses, commitment: 'confirmed', id: 'mine' });
  await waitFor(() => reader.of('subscribed').length + reader.of('error').length === 7, 'a frame for each');
  t.same(
    new Set(reader.of('subscribed').map(({ id, topic, seq, address }) => `${id} ${topic} ${seq} ${address}`)),
    new Set([WALLET, OTHER, third, fourth].map((address) => `mine balance 0 ${address}`)),
  );
  t.match(reader.of('error'), [
    { type: 'error', id: 'mine', address: 'nobody', error: 'invalid_address' },
    { type: 'error', id: 'mine', address: WALLET, error: 'invalid_request' },
    { type: 'error', id: 'mine', address: fifth, error: 'rate_limited' },
  ]);
  for (const frame of reader.frames) {
    if (!frame.startsWith('{"type":"subscribed"')) continue;
    const { publicKey, cluster } = world.gateway;
    const request = `GET /api/v1/balance/${JSON.parse(frame).address}?commitment=confirmed`;
    verifyReceipt(answerInFrame(frame), { publicKeys: [publicKey], cluster, request });
  }

  reader.say({ op: 'unsubscribe', topic: 'balance', addresses: [third, fifth, 'x'], commitment: 'confirmed', id: 2 });
  await waitFor(() => reader.of('error').length === 5, 'the end of one');
  t.same(reader.of('unsubscribed'), [{ type: 'unsubscribed', id: 2, topic: 'balance', address: third }]);
  t.match(reader.of('error').slice(3), [
    { id: 2, address: fifth, error: 'invalid_request' },
    { id: 2, address: 'x', error: 'invalid_address' },
  ]);

  world.clock.advance(1000); // the caller has subscribed to as many as it may at once
  reader.say({ op: 'subscribe', topic: 'account', address: third, id: 'other' });
  reader.say({ op: 'unsubscribe', id: 'mine' });
  await waitFor(() => reader.of('unsubscribed').length === 4, 'the end of the others');
  t.same(
    new Set(reader.of('unsubscribed').slice(1)),
    new Set(
      [WALLET, OTHER, fourth].map((address) => ({ type: 'unsubscribed', id: 'mine', topic: 'balance', address })),
    ),
  );
  const balances = reader.of('balance').length;
  await world.step(5);
  t.equal(reader.of('balance').length, balances, 'no change is told any more');
  reader.say({ op: 'unsubscribe', id: 'mine' });
  await waitFor(() => reader.of('error').length === 6, 'nothing is left');
  t.match(reader.of('error').at(-1), { id: 'mine', error: 'invalid_request' });
  t.ok(reader.of('subscribed').some(({ id }) => id === 'other'));
});

t.test('to subscribe costs a unit for each address; a message that costs more than is left is refused', async (t) => {
  const world = await startStepped(t, { set: ['limits.free.requests=100', 'limits.free.subscriptions=200'] });
  const remaining = async (): Promise<string | null> =>
    (await world.get('/health')).headers.get('x-ratelimit-remaining');
  const reader = await openReader(t, world);
  const addresses = Array.from({ length: 80 }, (_, i) => addressFromByte(i + 1));
  reader.say({ op: 'subscribe', topic: 'balance', addresses: [...addresses.slice(1), 'nobody'], id: 'first' });
  await waitFor(() => reader.of('subscribed').length === 79 && reader.of('error').length === 1, 'the first values');
  t.equal(await remaining(), '20', 'the upgrade costs one, and what is no address nothing');
  const more = { op: 'subscribe', topic: 'account', addresses: addresses.slice(0, 21), id: 'second' };
  reader.say(more);
  await waitFor(() => reader.of('error').length === 2, 'the refusal');
  t.match(reader.of('error')[1], {
    id: 'second',
    error: 'rate_limited',
    message: /^this message costs 21 units, 20 of 100 are left; wait \d+ s or use an API key$/,
    retryAfter: Number,
  });
  t.equal(await remaining(), '20', 'a refused message costs nothing');
  world.clock.advance(1000 * reader.of('error')[1].retryAfter);
  reader.say(more);
  await waitFor(() => reader.of('subscribed').length === 100, 'the others');
  t.equal(await remaining(), '79');
});

t.test('the first read of an account waits for its turn at the upstream, like a request', async (t) => {
  const set = ['limits.free.inFlight=1', 'limits.queue=1', 'limits.free.subscriptions=80'];
  const world = await startStepped(t, { set });
  const reader = await openReader(t, world);
  const addresses = Array.from({ length: 10 }, (_, i) => addressFromByte(i + 1));
  reader.say({ op: 'subscribe', topic: 'balance', addresses, id: 1 });
  await waitFor(() => reader.of('subscribed').length + reader.of('error').length === 10, 'all answers');
  t.equal(reader.of('subscribed').length, 2, 'one is read, and one waits');
  t.match(reader.of('error')[0], { error: 'overloaded', retryAfter: 1 });
});

t.test('a message about many addresses with an invalid member gets one error', async (t) => {
  const world = await startStepped(t);
  const reader = await openReader(t, world);
  const subscribe = { op: 'subscribe', topic: 'balance' };
  const invalid = [
    { ...subscribe, addresses: [] },
    { ...subscribe, addresses: Array(81).fill('x') },
    { ...subscribe, addresses: [7] },
    { ...subscribe, addresses: WALLET },
    { ...subscribe, addresses: [WALLET], address: WALLET },
    { ...subscribe, addresses: [WALLET], commitment: 'soon' },
    { ...subscribe, addresses: [WALLET], id: 1.5 },
    { op: 'unsubscribe' },
    { op: 'unsubscribe', id: null },
    { op: 'unsubscribe', id: 1, topic: 'balance' },
  ];
  for (const [i, message] of invalid.entries()) {
    world.clock.advance(200); // within the pace
    reader.say(message);
    await waitFor(() => reader.of('error').length === i + 1, JSON.stringify(message));
    const { error, address, message: text } = reader.of('error').at(-1);
    t.equal(address, undefined);
    t.match(error, /^invalid_(request|address)$/);
    t.match(text, /address|commitment|id/);
  }
  t.same(reader.of('subscribed'), []);
});

t.test('80 addresses fit into one message, and their first values are read together', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['limits.free.subscriptions=100'] });
  const reader = await openReader(t, world);
  const addresses = Array.from({ length: 80 }, (_, i) => addressFromByte(100 + i));
  reader.say({ op: 'subscribe', topic: 'balance', addresses, id: 'x'.repeat(64) });
  await waitFor(() => reader.of('subscribed').length === 80, 'all first values');
  t.same(new Set(reader.of('subscribed').map(({ address }) => address)), new Set(addresses));
  const reads = world.node.requestCounts.get('getMultipleAccounts') ?? 0;
  t.ok(reads < 20, `${reads} reads`);
});

t.test('a client that reads nothing causes no reads, and gets every first value once it reads', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: ['limits.free.subscriptions=200'] });
  const peer = await WebSocketPeer.open(world.gateway.url);
  t.teardown(() => peer.connection.reset());
  await stallPeers(world.gateway.url, [peer]);
  const addresses = Array.from({ length: 80 }, (_, i) => addressFromByte(100 + i));
  const subscribe = frame(OP.text, JSON.stringify({ op: 'subscribe', topic: 'account', addresses, id: 1 }));
  const reads = (): number => world.node.requestCounts.get('getMultipleAccounts') ?? 0;
  const before = reads();
  await peer.send(subscribe);
  await sleep(50);
  t.equal(reads(), before);
  peer.connection.socket.resume();
  const subscribed = (): number =>
    peer.replies.filter(({ payload }) => String(payload).startsWith('{"type":"subscribed"')).length;
  await waitFor(() => subscribed() === 80, 'the first values');
  t.equal(peer.closeCode, undefined);
});
