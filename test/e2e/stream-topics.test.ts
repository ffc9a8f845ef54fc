import { once } from 'node:events';
import { address } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { answerInFrame } from '../../src/client/verify/push-frame.ts';
import { verifyReceipt } from '../../src/client/verify/verify-receipt.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { ChannelHub, ChannelMember } from '../support/channel-hub.ts';
import {
  type GatewayHarness,
  type SteppedHarness,
  startGatewayOver,
  startStepped,
  untilIdle,
  waitFor,
} from '../support/harness.ts';
import { barrierOf } from '../support/raw-http.ts';
import { stallPeers } from '../support/stalled-peers.ts';
import type { TestScope } from '../support/test-scope.ts';
import { addressFromByte, tokenAccountFixture } from '../support/token-account-fixtures.ts';
import { frame, OP } from '../support/websocket-frame.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

t.test('stream-topics', async (t) => {
  const [WALLET = '', OTHER = ''] = WALLETS.map(({ address }) => address);

  /** A frame, with the members that the tests read. */
  interface Frame {
    readonly type: string;
    readonly id: unknown;
    readonly seq: number;
    readonly topic: string;
    readonly address: string;
    readonly reorg?: true;
    readonly answer: object;
    readonly error: string;
    readonly message: string;
    readonly retryAfter: number;
  }

  interface Reader {
    readonly frames: string[];
    say(message: unknown): void;
    of(type: string): Frame[];
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
      await barrierOf(gateway.url).wait(); // its pushes are sent
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
    const world = await startStepped(t);
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
      const pushed = (): Frame[] => reader.of('balance').slice(2 * fork - 2);
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
      t.notOk(pushed()[0]?.reorg);
    }
  });

  t.test('an invalid message gets an error frame, an unreadable one closes the connection', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.subscriptions=1'] });
    const reader = await openReader(t, world);
    const errors = async (count: number): Promise<Frame[]> => {
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

    world.clock.advance(1000); // the caller has made all subscriptions of one second
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
    t.equal(reader.of('balance').length, balances, 'no change is published any more');
    reader.say({ op: 'unsubscribe', id: 'mine' });
    await waitFor(() => reader.of('error').length === 6, 'nothing is left');
    t.match(reader.of('error').at(-1), { id: 'mine', error: 'invalid_request' });
    t.ok(reader.of('subscribed').some(({ id }) => id === 'other'));
  });

  t.test('to subscribe costs a unit for each address; a message that costs more than is left is refused', async (t) => {
    const world = await startStepped(t, { set: ['limits.free.units=100', 'limits.free.subscriptions=200'] });
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
    world.clock.advance(1000 * Number(reader.of('error')[1]?.retryAfter));
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

  /** A world in which only the next tests subscribe, each to addresses of its own. */
  const world = await startStepped(t, { set: ['limits.free.subscriptions=200'] });
  const reads = (): number => world.node.requestCounts.get('getMultipleAccounts') ?? 0;

  t.test('a message about many addresses with an invalid member gets one error', async (t) => {
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
      const { error, address, message: text } = reader.of('error').at(-1) ?? {};
      t.equal(address, undefined);
      t.match(error, /^invalid_(request|address)$/);
      t.match(text, /address|commitment|id/);
    }
    t.same(reader.of('subscribed'), []);
  });

  t.test('80 addresses fit into one message, and their first values are read together', async (t) => {
    const before = reads();
    const reader = await openReader(t, world);
    const addresses = Array.from({ length: 80 }, (_, i) => addressFromByte(100 + i));
    reader.say({ op: 'subscribe', topic: 'balance', addresses, id: 'x'.repeat(64) });
    await waitFor(() => reader.of('subscribed').length === 80, 'all first values');
    t.same(new Set(reader.of('subscribed').map(({ address }) => address)), new Set(addresses));
    t.ok(reads() - before < 20, `${reads() - before} reads`);
  });

  t.test('a client that reads nothing causes no reads, and gets every first value once it reads', async (t) => {
    const peer = await WebSocketPeer.open(world.gateway.url);
    t.teardown(() => peer.connection.reset());
    await stallPeers(world.gateway.url, [peer]);
    const addresses = Array.from({ length: 80 }, (_, i) => addressFromByte(1 + i));
    const subscribe = frame(OP.text, JSON.stringify({ op: 'subscribe', topic: 'account', addresses, id: 1 }));
    const before = reads();
    await peer.send(subscribe);
    await untilIdle(world, world.cluster);
    t.equal(reads(), before);
    peer.connection.socket.resume();
    const subscribed = (): number =>
      peer.replies.filter(({ payload }) => String(payload).startsWith('{"type":"subscribed"')).length;
    await waitFor(() => subscribed() === 80, 'the first values');
    t.equal(peer.closeCode, undefined);
  });
});

t.test('shared-watch', async (t) => {
  const WALLET = WALLETS[0]?.address ?? '';
  const OWNER = addressFromByte(7);
  const [A, B] = [address(addressFromByte(21)), address(addressFromByte(22))];
  const BALANCE = `/balance/${WALLET}` as const;
  const LIST = `/token-accounts/${OWNER}` as const;
  /** Settings without audits, whose reads would be counted. */
  const UNAUDITED = 'live.auditMs=3600000';

  const held = (amount: number) => ({
    ...tokenAccountFixture(OWNER, amount, DOLLAR.mint.address),
    owner: TOKEN_PROGRAM,
  });

  interface Fleet {
    readonly world: SteppedHarness;
    readonly hub: ChannelHub;
    readonly members: readonly ChannelMember[];
    readonly gateways: readonly [GatewayHarness, GatewayHarness];
    /** Comes to the next slot, everywhere. */
    step(slots?: number): Promise<void>;
    /** Returns the calls that read accounts and lists. */
    reads(): Promise<number>;
    subscriptions(): Promise<number>;
  }

  /** Opens two gateways over one cluster; the first one leads. */
  async function openFleet(t: TestScope): Promise<Fleet> {
    const hub = new ChannelHub(true);
    const members = [new ChannelMember(hub, 'first'), new ChannelMember(hub, 'second')] as const;
    const world = await startStepped(t, { set: [UNAUDITED], joinWatch: members[0].joinWatch });
    const { cluster, clock, node } = world;
    const second = await startGatewayOver(t, `${node.url},${cluster.wsUrl}`, clock, {
      set: [UNAUDITED],
      joinWatch: members[1].joinWatch,
    });
    const gateways = [world, second] as const;
    const slotOf = async ({ get }: GatewayHarness): Promise<number> => (await get('/health')).json.result?.slot;
    const step = async (slots = 1): Promise<void> => {
      for (let i = 0; i < slots; i++) {
        clock.advance(400);
        const isThere = async (gateway: GatewayHarness) => (await slotOf(gateway)) === cluster.chain.slot('processed');
        for (const gateway of hub.members.map((_, j) => gateways[j]))
          if (gateway !== undefined) await waitFor(() => isThere(gateway), 'the slot');
      }
    };
    const reads = async (): Promise<number> => {
      const counts = await cluster.control.requestCounts();
      return (counts['getMultipleAccounts'] ?? 0) + (counts['getTokenAccountsByOwner'] ?? 0);
    };
    const subscriptions = async () =>
      (await cluster.control.subscriptionCounts()).reduce((sum, count) => sum + count, 0);
    return { world, hub, members, gateways, step, reads, subscriptions };
  }

  /** Reads a path at a gateway in slot after slot until that costs no reads; returns the number of slots. */
  async function keepLive({ step, reads }: Fleet, { get }: GatewayHarness, path: string): Promise<number> {
    for (let quiet = 0, slots = 0; ; slots++) {
      if (quiet === 4) return slots - quiet;
      if (slots > 60) throw new Error(`${path} does not come to be kept live`);
      const before = await reads();
      await step();
      await get(path);
      quiet = (await reads()) === before ? quiet + 1 : 0;
    }
  }

  t.test('one gateway subscribes for both; what follows costs no reads, and its answers are true', async (t) => {
    const fleet = await openFleet(t);
    const { world, hub, members, gateways, step, reads, subscriptions } = fleet;
    const { chain } = world.cluster;
    chain.setAccount(A, held(1_000_000));
    chain.setAccount(B, held(50));
    hub.elect(members[0]);
    await step(2);
    t.equal(members[1]?.watch?.role, 'following');
    t.match((await gateways[1].get('/health')).json.result, { status: 'ok', upstreams: [{ ws: 'idle' }] });
    await keepLive(fleet, gateways[0], BALANCE);
    await keepLive(fleet, gateways[0], LIST);
    await step(2);
    const ofOne = await subscriptions();
    await keepLive(fleet, gateways[1], BALANCE);
    await keepLive(fleet, gateways[1], LIST);
    t.equal(members[1]?.watch?.followed, 2);
    t.equal(await subscriptions(), ofOne, 'two gateways, one set of subscriptions');

    const before = await reads();
    const wrong: string[] = [];
    const newest = [0, 0];
    for (let i = 1; i <= 8; i++) {
      chain.setAccount(B, held(i));
      await step();
      for (const [j, { get }] of gateways.entries()) {
        const balance = (await get(BALANCE)).json;
        if (balance.result.lamports !== Number(chain.accountAt(WALLET, balance.slot)?.lamports)) wrong.push('balance');
        if (balance.slot < (newest[j] ?? 0)) wrong.push(`back from ${newest[j]} to ${balance.slot}`);
        newest[j] = balance.slot;
        const list = (await get(LIST)).json;
        const row = list.result.find((each) => each.address === B);
        const account = chain.accountAt(B, list.slot);
        const amount = account === undefined ? undefined : Buffer.from(account.data).readBigUInt64LE(64).toString();
        if (row?.tokenAmount.amount !== amount)
          wrong.push(`list at ${list.slot}: ${row?.tokenAmount.amount}, not ${amount}`);
      }
    }
    t.same(wrong, []);
    t.ok((newest[1] ?? 0) >= (newest[0] ?? 0) - 1, `${newest}`);
    t.equal(await reads(), before);
  });

  t.test('the next leader subscribes for what it followed: no slot goes back, and its claims go on soon', async (t) => {
    const fleet = await openFleet(t);
    const { world, hub, members, gateways, step } = fleet;
    hub.elect(members[0]);
    await step(2);
    await keepLive(fleet, gateways[1], BALANCE);
    const slots: number[] = [];
    const read = async (): Promise<void> => {
      slots.push((await gateways[1].get(BALANCE)).json.slot);
    };
    await read();
    if (members[1] !== undefined) hub.lose(members[1]);
    hub.leader = undefined;
    t.equal(members[1]?.watch?.role, 'waiting');
    for (let i = 0; i < 4; i++) {
      await world.step(); // a gateway that waits polls its slots, each second
      await read();
    }
    hub.elect(members[1]);
    t.match(members, [{ watch: { role: 'following' } }, { watch: { role: 'leading' } }]);
    const isUp = async () => (await gateways[1].get('/health')).json.result.upstreams[0].ws === 'up';
    await waitFor(isUp, 'the WebSocket of the next leader');
    const gap = await keepLive(fleet, gateways[1], BALANCE);
    await read();
    t.ok(gap <= 6, `live again after ${gap} slots`);
    t.same(
      slots,
      slots.toSorted((a, b) => a - b),
    );
    await keepLive(fleet, gateways[0], BALANCE);
    t.equal((await gateways[0].get(BALANCE)).json.slot, (await gateways[1].get(BALANCE)).json.slot);
  });
});
