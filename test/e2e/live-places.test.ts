import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { addressOfNumber } from '../support/address-of-number.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';

/** The addresses that a message may name. */
const BATCH = 80;
const TRUST_THIS_MACHINE = 'trustedProxies=["127.0.0.1"]';
const UNAUDITED = 'watch.auditMs=3600000';
const STEADY = addressOfNumber(900_001);

/** A stream of a caller, by its address. */
interface Subscriber {
  say(message: unknown): void;
  /** Returns the number of frames of one type. */
  count(type: string): number;
  /** Returns the parsed frames of one type. */
  of(type: string): any[];
}

async function openStream(t: Test, { gateway }: SteppedHarness, caller: string): Promise<Subscriber> {
  // Node's WebSocket takes headers, which its types leave out.
  const init = { headers: { 'x-forwarded-for': caller } } as unknown as string[];
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream?interval=10000`, init);
  const frames: any[] = [];
  socket.onmessage = ({ data }) => {
    if (String(data).startsWith('{"type"')) frames.push(JSON.parse(String(data)));
  };
  await once(socket, 'open');
  t.teardown(() => socket.close());
  const of = (type: string): any[] => frames.filter((frame) => frame.type === type);
  return { say: (message) => socket.send(JSON.stringify(message)), of, count: (type) => of(type).length };
}

t.test('whoever subscribes and unsubscribes many times leaves the subscriptions of others working', async (t) => {
  const total = 1600;
  const world = await startStepped(t, {
    perSlot: 0,
    set: [TRUST_THIS_MACHINE, UNAUDITED, 'watch.accounts=40', 'limits.free.subscriptions=80'],
  });
  const other = await openStream(t, world, '10.0.0.2');
  other.say({ op: 'subscribe', topic: 'balance', address: STEADY, id: 'before' });
  await waitFor(() => other.count('subscribed') === 1, 'a subscription before');
  const churner = await openStream(t, world, '10.0.0.1');
  for (let from = 0; from < total; from += BATCH) {
    const addresses = Array.from({ length: BATCH }, (_, i) => addressOfNumber(from + i));
    churner.say({ op: 'subscribe', topic: 'balance', addresses, id: from });
    await waitFor(() => churner.count('subscribed') + churner.count('error') >= from + BATCH, 'all answers');
    churner.say({ op: 'unsubscribe', id: from });
    world.clock.advance(1000);
  }
  t.ok(churner.count('subscribed') > 40);
  const late = Array.from({ length: 4 }, (_, i) => addressOfNumber(800_000 + i));
  other.say({ op: 'subscribe', topic: 'balance', addresses: late, id: 'after' });
  await waitFor(() => other.count('subscribed') + other.count('error') === 5, 'subscriptions after');
  t.strictSame(other.of('error'), []);
  t.equal(other.count('balance'), 0);
});

t.test('after strangers have read as many lists as are kept live, a steady reader still costs no reads', async (t) => {
  const world = await startStepped(t, { perSlot: 0, set: [UNAUDITED, TRUST_THIS_MACHINE, 'watch.lists=40'] });
  let reads = 0;
  world.node.overrides.set('getTokenAccountsByOwner', ([owner]) => {
    if (owner === STEADY) reads++;
    return undefined;
  });
  const read = async (owner: string, caller: string): Promise<void> => {
    await world.get(`/token-accounts/${owner}`, { headers: { 'x-forwarded-for': caller } });
  };
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 40; i++) await read(addressOfNumber(i), `10.1.${i}.1`);
    await world.step();
  }
  let readsBefore = -1;
  for (let i = 0; i < 12 && reads !== readsBefore; i++) {
    readsBefore = reads; // it comes to be live long before the others are idle
    for (let slots = 0; slots < 5; slots++) {
      await world.step();
      await read(STEADY, '10.0.0.9');
    }
  }
  const untilLive = reads;
  for (let i = 0; i < 10; i++) {
    for (const stranger of [1, 2]) await read(addressOfNumber(i), `10.2.${i}.${stranger}`);
    await world.step();
    await read(STEADY, '10.0.0.9');
  }
  t.equal(reads - untilLive, 0);
});

t.test('as few WebSockets as the subscriptions need are opened, and those that nobody needs are closed', async (t) => {
  const open = new Set<Socket>();
  const proxy = createServer((socket) => {
    const toNode = connect(Number(new URL(nodeUrl).port));
    socket.pipe(toNode).pipe(socket);
    open.add(socket);
    socket.on('close', () => {
      open.delete(socket);
      toNode.destroy();
    });
    for (const end of [socket, toNode]) end.on('error', () => {}); // cut at the end of the test
  });
  let nodeUrl = '';
  const proxyWsUrl = async (url: string): Promise<string> => {
    nodeUrl = url;
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return `ws://127.0.0.1:${(proxy.address() as AddressInfo).port}`; // it listens on TCP
  };
  t.teardown(() => {
    proxy.close();
    for (const socket of open) socket.destroy();
  });
  const perSocket = 7;
  const set = [UNAUDITED, `upstream.subscriptions=${perSocket}`, 'watch.idleSlots=10'];
  const { get, step } = await startStepped(t, { perSlot: 0, set, proxyWsUrl });
  const before = open.size;
  const addresses = Array.from({ length: 20 }, (_, i) => addressOfNumber(i));
  const counts: number[] = [];
  for (let slot = 0; slot < 12; slot++) {
    for (const address of addresses) await get(`/balance/${address}`);
    await step();
    counts.push(open.size - before);
  }
  const most = Math.max(...counts);
  const needed = addresses.length / (perSocket - 4); // four are for the slots of the node
  t.ok(most >= addresses.length / perSocket && most <= Math.ceil(needed) + 1, `${most} for 20 accounts`);
  t.equal(counts.at(-1), counts.at(-5), 'no more are opened');
  await step(100, 2); // an empty session stays open for thirty seconds
  await waitFor(() => open.size === before, 'the end of what nobody needs');
});
