import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { address } from '@solana/web3.js';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { DOLLAR, GOLD, TOLL, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { PRICE_FEEDS, PYTH_PUSH_ORACLE } from '../../src/localnet/traffic/demo-price-feeds.ts';
import { WRAPPED_SOL } from '../../src/shared/domain/known-mints.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { findMetadataAddress } from '../../src/transactions/accounts/metaplex-metadata-account.ts';
import { findPriceFeedAddress } from '../../src/transactions/accounts/pyth-price.ts';
import { addressOfNumber } from '../support/address-of-number.ts';
import type { JsonAt } from '../support/answer-json.ts';
import {
  type HarnessOptions,
  type HttpAnswer,
  type RequestOptions,
  type SteppedHarness,
  startGatewayOver,
  startStepped,
  untilIdle,
  waitFor,
} from '../support/harness.ts';
import { accountReads, keepLive } from '../support/keep-live.ts';
import { connect as connectPubsub } from '../support/pubsub-test-client.ts';
import { exchange, parseResponses } from '../support/raw-http.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { runSlotgate } from '../support/run-slotgate.ts';
import { SLOT_TIME_BOUNDS } from '../support/slot-times.ts';
import {
  addressFromByte,
  metadataFixture,
  mintFixture,
  tokenAccountFixture,
  tokenOwner,
} from '../support/token-account-fixtures.ts';

t.test('live-accounts', async (t) => {
  const [WALLET = '', OTHER = '', THIRD = ''] = WALLETS.map(({ address }) => address);

  const recorded = ({ cluster }: SteppedHarness, slot: number, address = WALLET): number =>
    Number(cluster.chain.accountAt(address, slot)?.lamports ?? 0n);

  for (const slotMs of SLOT_TIME_BOUNDS) {
    t.test(`${slotMs} ms a slot`, async (t) => {
      const world = await startStepped(t, { perSlot: 1, slotMs });

      t.test('a live account costs no reads, and its slot advances with the Clock updates (I2)', async (t) => {
        await keepLive(world, `/balance/${WALLET}`);
        const before = await accountReads(world);
        const slots: number[] = [];
        for (let i = 0; i < 10; i++) {
          await world.step();
          const { json, headers } = await world.get(`/balance/${WALLET}`);
          t.equal(json.result.lamports, recorded(world, json.slot));
          t.equal(headers.get('x-slot'), String(json.slot));
          slots.push(json.slot);
        }
        t.equal(await accountReads(world), before);
        const [first = 0, last = 0] = [slots[0], slots.at(-1)];
        t.ok(last - first >= 7, `${slots}`);
      });

      t.test('X-Min-Slot gets an answer that is not older, or a refusal (I7)', async (t) => {
        const path = `/balance/${OTHER}`;
        const atLeast = (slot: number | string) => world.get(path, { headers: { 'x-min-slot': String(slot) } });
        const { slot } = (await world.get(path)).json;
        t.equal((await atLeast(slot)).headers.get('x-cache'), 'HIT');
        do await world.step();
        while (world.cluster.chain.slot('confirmed') <= slot + 1);
        await waitFor(async () => (await atLeast(slot + 1)).json.slot > slot, 'the newer answer');
        for (const bad of ['x', '-1', '1.5', '01', '99999999999999999999']) {
          t.match((await atLeast(bad)).json, { error: 'invalid_slot' }, bad);
        }
        await world.step(Math.ceil(1000 / slotMs) + 1); // so that the slot time is measured
        const far = await atLeast(world.cluster.chain.slot('confirmed') + Math.ceil(1000 / slotMs) + 4);
        t.match([far.status, far.json.error, far.headers.get('retry-after')], [503, 'min_slot_not_reached', '1']);
        const near = world.cluster.chain.slot('confirmed') + Math.ceil(1000 / slotMs) - 1;
        const soon = atLeast(near);
        await untilIdle(world, world.cluster); // it has come
        while (world.cluster.chain.slot('confirmed') < near) await world.step();
        t.equal((await soon).status, 200, 'waits for a slot that comes within a second');
      });

      t.test('an answer is what the chain records at its slot, at each commitment, of no future (I1)', async (t) => {
        for (let i = 0; i < 12; i++) {
          for (const commitment of ['processed', 'confirmed', 'finalized'] as const) {
            const { result, slot } = (await world.get(`/balance/${THIRD}?commitment=${commitment}`)).json;
            if (result.lamports !== recorded(world, slot, THIRD)) t.fail(`${commitment} at ${slot}`);
            t.ok(slot <= world.cluster.chain.slot(commitment));
          }
          await world.step();
        }
      });

      t.test('when a session is lost, all accounts on it are stale immediately and live again soon (I6)', async (t) => {
        const path = `/balance/${WALLET}`;
        await keepLive(world, path);
        const { slot } = (await world.get(path)).json;
        await world.cluster.control.delayResponses(2000); // so that no answer can be newer
        await world.cluster.control.dropWebSockets();
        await waitFor(async () => (await world.get(path)).headers.get('x-cache') === 'STALE', 'the loss');
        t.equal((await world.get(path)).json.slot, slot, 'claims what was proven, and no more');
        await world.cluster.control.delayResponses(0);
        await waitFor(async () => {
          world.clock.advance(100);
          await sleep(5);
          return (await world.get('/health')).json.result?.upstreams[0].ws === 'up';
        }, 'the connection');
        await world.step();
        await keepLive(world, path);
        t.equal((await world.get(path)).headers.get('x-cache'), 'HIT');
      });
    });
  }

  const world = await startStepped(t);

  t.test('a processed answer is valid for one slot (I5)', async (t) => {
    const path = `/balance/${WALLET}?commitment=processed`;
    for (let i = 0; i < 6; i++) {
      const before = await accountReads(world);
      const { json, headers } = await world.get(path);
      t.match([json.slot, headers.get('x-cache')], [world.cluster.chain.slot('processed'), 'MISS']);
      t.equal((await world.get(path)).headers.get('x-cache'), 'HIT');
      t.equal(await accountReads(world), before + 1);
      await world.step();
    }
  });

  t.test('one subscription serves the balance and the account of an address', async (t) => {
    await keepLive(world, `/balance/${WALLET}`);
    const before = await accountReads(world);
    const { result, slot } = (await world.get(`/account/${WALLET}`)).json;
    t.match(result, { address: WALLET, kind: 'system', lamports: recorded(world, slot) });
    t.equal(await accountReads(world), before);
  });

  t.test('a missing account is an answer too, and its creation and closing are notified (I11)', async (t) => {
    const address = bs58.encode(Buffer.alloc(32, 7));
    await keepLive(world, `/balance/${address}`);
    t.match((await world.get(`/account/${address}`)).json, { result: null });
    const empty = { lamports: 0n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
    for (const lamports of [5n, 0n, 7n]) {
      world.cluster.chain.setAccount(address, { ...empty, lamports });
      const before = await accountReads(world);
      await world.step(3);
      const { result, slot } = (await world.get(`/balance/${address}`)).json;
      t.equal(result.lamports, Number(lamports), `at ${slot}`);
      t.equal(await accountReads(world), before);
    }
  });

  t.test('requests in flight are answered in order, in each slot, also about accounts that have changed', async (t) => {
    const world = await startStepped(t, { set: ['cache.presign=0', 'limits.free.units=100000'] });
    const addresses = Array.from({ length: 8 }, (_, i) => bs58.encode(Buffer.alloc(32, i + 1)));
    const several = `/balances?addresses=${addresses.slice(0, 4).join('%2C')}` as const;
    const paths = [...addresses.flatMap((address) => [`/balance/${address}`, `/account/${address}`]), several];
    const readAll = () => Promise.all(paths.map((path) => world.get(path)));
    for (let quiet = 0; quiet < 4; ) {
      const before = await accountReads(world);
      await readAll();
      await world.step();
      quiet = (await accountReads(world)) === before ? quiet + 1 : 0;
    }
    const packet = paths.map((path) => `GET /api/v1${path} HTTP/1.1\r\nHost: gateway.example\r\n\r\n`).join('');
    const cut: unknown[] = [];
    const slots = Number(process.argv[2] ?? 20);
    const account = { owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
    for (let i = 0; i < slots; i++) {
      // each is made, changed and closed in turn
      const address = addresses[i % addresses.length] ?? '';
      world.cluster.chain.setAccount(address, { ...account, lamports: BigInt(i % 3) });
      await world.step();
      const { text, closed } = await exchange(world.gateway.url, [packet], { responses: paths.length });
      const answered = parseResponses(text).map(({ body }) => /"request":"GET .api.v1([^"]*)"/.exec(body)?.[1]);
      if (closed || `${answered}` !== `${paths}`) cut.push({ i, answered });
    }
    t.same(cut, []);
    await world.step(3);
    const lamports = addresses.map((_, k) => (slots - 1 - ((slots - 1 - k) % addresses.length)) % 3);
    const [balances, accounts] = await Promise.all(
      (['balance', 'account'] as const).map((kind) =>
        Promise.all(addresses.map((address) => world.get(`/${kind}/${address}`))),
      ),
    );
    const lamportsOf = balances?.map(({ json }) => json.result.lamports);
    t.same(lamportsOf, lamports);
    const ofAccounts = accounts?.map(({ json }) => json.result?.lamports ?? 0);
    t.same(ofAccounts, lamports);
    t.same(
      (await world.get(several)).json.result.map((each) => each.lamports),
      lamports.slice(0, 4),
    );
  });
});

t.test('live-places', async (t) => {
  /** The addresses that a message may name. */
  const BATCH = 80;
  const TRUST_THIS_MACHINE = 'trustedProxies=["127.0.0.1"]';
  const UNAUDITED = 'live.auditMs=3600000';
  const STEADY = addressOfNumber(900_001);

  interface Frame {
    readonly type: string;
  }

  /** A stream of a caller, by its address. */
  interface Subscriber {
    say(message: unknown): void;
    count(type: string): number;
    of(type: string): Frame[];
  }

  async function openStream(t: Test, { gateway }: SteppedHarness, caller: string): Promise<Subscriber> {
    // Node's WebSocket accepts headers, which its types leave out.
    const init = { headers: { 'x-forwarded-for': caller } } as unknown as string[];
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/api/v1/stream?interval=10000`, init);
    const frames: Frame[] = [];
    socket.onmessage = ({ data }) => {
      if (String(data).startsWith('{"type"')) frames.push(JSON.parse(String(data)));
    };
    await once(socket, 'open');
    t.teardown(() => socket.close());
    const of = (type: string): Frame[] => frames.filter((frame) => frame.type === type);
    return { say: (message) => socket.send(JSON.stringify(message)), of, count: (type) => of(type).length };
  }

  t.test('whoever subscribes and unsubscribes many times leaves the subscriptions of others working', async (t) => {
    const total = 1600;
    const world = await startStepped(t, {
      set: [TRUST_THIS_MACHINE, UNAUDITED, 'live.accounts=40', 'limits.free.subscriptions=80'],
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

  t.test('after strangers have read as many lists as are kept, a steady reader still costs no reads', async (t) => {
    const world = await startStepped(t, { set: [UNAUDITED, TRUST_THIS_MACHINE, 'live.lists=40'] });
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

  t.test('as few WebSockets as the subscriptions need are opened, and unneeded ones are closed', async (t) => {
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
    const set = [UNAUDITED, `upstreamPolicy.subscriptions=${perSocket}`, 'live.idleMs=4000'];
    const { get, step } = await startStepped(t, { set, proxyWsUrl });
    const before = open.size;
    const addresses = Array.from({ length: 20 }, (_, i) => addressOfNumber(i));
    const counts: number[] = [];
    const fewest = addresses.length / perSocket;
    const isSettled = (): boolean => (counts.at(-1) ?? 0) >= fewest && counts.at(-1) === counts.at(-13);
    for (let slot = 0; slot < 200 && !isSettled(); slot++) {
      await get(`/balances?addresses=${addresses.join('%2C')}`);
      await step();
      counts.push(open.size - before);
    }
    const most = Math.max(...counts);
    const needed = addresses.length / (perSocket - 4); // four are for the slots of the node
    t.ok(most >= fewest && most <= Math.ceil(needed) + 1, `${most} for 20 accounts`);
    t.equal(counts.at(-1), counts.at(-13), 'no more are opened');
    // An empty session stays open for thirty seconds, from a slot that depends on when its accounts were last read.
    for (let slots = 0; open.size > before && slots < 400; slots += 8) await step(8, 8);
    t.equal(open.size, before, 'what nobody needs has ended');
  });
});

t.test('live-subscriptions', async (t) => {
  const UNAUDITED = 'live.auditMs=3600000';
  /** The addresses that one request may name. */
  const PER_REQUEST = 40;

  const addresses = (count: number, from = 0): string[] =>
    Array.from({ length: count }, (_, i) => addressOfNumber(from + i));

  type Reader = Pick<SteppedHarness, 'get'>;

  async function readAll({ get }: Reader, wanted: readonly string[]): Promise<void> {
    for (let i = 0; i < wanted.length; i += PER_REQUEST) {
      const { status } = await get(`/balances?addresses=${wanted.slice(i, i + PER_REQUEST).join('%2C')}`);
      if (status !== 200) throw new Error(`status ${status}`);
    }
  }

  /** Returns the subscriptions of each WebSocket, those with most of them first. */
  const subscriptions = async ({ cluster }: SteppedHarness): Promise<number[]> =>
    [...(await cluster.control.subscriptionCounts())].sort((a, b) => b - a);

  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

  const reads = ({ node }: SteppedHarness): number => node.requestCounts.get('getMultipleAccounts') ?? 0;

  /** Reads accounts in slot after slot until reading them costs nothing; returns the most WebSockets that were open. */
  async function untilLive(world: SteppedHarness, wanted: readonly string[], reader: Reader = world): Promise<number> {
    let most = 0;
    for (let quiet = 0, slots = 0; quiet < 3; slots++) {
      if (slots > 150) throw new Error(`not live: ${await subscriptions(world)}`);
      const before = reads(world);
      await readAll(reader, wanted);
      await world.step();
      most = Math.max(most, (await subscriptions(world)).length);
      quiet = reads(world) === before ? quiet + 1 : 0;
    }
    return most;
  }

  t.test('accounts share one WebSocket of a node that sets no limit, more than are tried at first', async (t) => {
    const world = await startStepped(t, { set: [UNAUDITED, 'live.callerShare=1'] });
    const wanted = addresses(1200);
    t.ok((await untilLive(world, wanted)) <= 2);
    t.ok(Math.max(...(await subscriptions(world))) >= 1200);
  });

  /** More accounts than a WebSocket of a node with a limit may have. */
  const LIMITED = addresses(120);

  t.test('the limit of a node is learned, however it shows; a restarted gateway remembers it', async (t) => {
    const set = [UNAUDITED, 'upstreamPolicy.ackTimeoutMs=5000', 'live.callerShare=1'];
    const rows = [];
    for (const refusal of ['error', 'close', 'late'] as const) {
      const state = t.testdir();
      const world = await startStepped(t, { state, set });
      await world.cluster.control.limitSubscriptions(50, refusal);
      await untilLive(world, LIMITED);
      const counts = await subscriptions(world);
      rows.push({
        refusal,
        isKept: Math.max(...counts) <= 50,
        isTight: counts.length <= (refusal === 'error' ? 4 : 6),
      });
      if (refusal === 'close') await restart(t, world, { state, set });
    }
    t.strictSame(
      rows,
      rows.map(({ refusal }) => ({ refusal, isKept: true, isTight: true })),
    );
  });

  /** Restarts a gateway that has learned a limit: it remembers that. */
  async function restart(t: Test, { gateway, logged, node, cluster, clock }: SteppedHarness, options: HarnessOptions) {
    const isLost = ({ message }: { readonly message: string }): boolean =>
      message.includes('session') && message.includes('lost');
    t.ok(logged.some(isLost));
    await gateway.close();
    const again = await startGatewayOver(t, `${node.url},${cluster.wsUrl}`, clock, options);
    await waitFor(async () => {
      await readAll(again, LIMITED);
      clock.advance(400);
      return sum([...(await cluster.control.subscriptionCounts())]) >= LIMITED.length;
    }, 'all subscriptions');
    t.notOk(again.logged.some(isLost));
  }

  t.test('after a lost connection accounts come to be live within the budget, those read most first', async (t) => {
    const perSecond = 2;
    const set = [UNAUDITED, 'live.callerShare=1', `live.requestsPerSecond=${perSecond}`];
    const world = await startStepped(t, { set });
    const all = addresses(500);
    const hot = all.slice(400, 460);
    await untilLive(world, all);
    // more often than any was read until then: of accounts that share a place of the detector, one has forgotten its first reads
    for (let slots = 0; slots < 12; slots++) {
      await readAll(world, hot);
      await world.get(`/balance/${hot[0]}`);
      await world.step();
    }
    const sent: { readonly ms: number; readonly batch: readonly string[] }[] = [];
    let readsOfCallers = 0;
    world.node.overrides.set('getMultipleAccounts', ([batch, { encoding }]) => {
      if (encoding === 'jsonParsed') sent.push({ ms: world.clock.monotonic(), batch });
      else readsOfCallers++;
      return undefined;
    });
    await world.cluster.control.dropWebSockets();
    const cacheStatuses = new Set<string | null>();
    for (let ms = 0; ms < 8000; ms += 20) {
      world.clock.advance(20);
      await sleep(2);
      // from when another session is open: before, a request is read from the node
      if (ms % 2000 === 1500) cacheStatuses.add((await world.get(`/balance/${hot[0]}`)).headers.get('x-cache'));
    }
    // A request takes some time, in which the clock moves.
    const most = Math.max(...sent.map(({ ms: from }) => sent.filter(({ ms }) => ms >= from && ms < from + 900).length));
    t.ok(sent.length >= 8 && most <= perSecond, `${most} requests in a second, ${sent.length} in all`);
    const first = new Set(sent.slice(0, 2).flatMap(({ batch }) => batch));
    const cold = hot.filter((address) => !first.has(address));
    t.strictSame(cold, []);
    t.ok(cacheStatuses.has('STALE'), `${[...cacheStatuses]}`);
    t.equal(readsOfCallers, 0, 'what is stale is served as it is, and what is live again from memory');
  });
});

t.test('live-token-lists', async (t) => {
  const OWNER = addressFromByte(7);
  const [A, B] = [address(addressFromByte(21)), address(addressFromByte(22))];
  const PATH = `/token-accounts/${OWNER}` as const;
  type TokenList = HttpAnswer<JsonAt<typeof PATH>>;
  type Portfolio = HttpAnswer<JsonAt<'/address/A/portfolio'>>;
  const GONE = { lamports: 0n, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) };
  /** The changes until a wallet is surely live, and those after which its reads are counted. */
  const [FIRST_CHANGES, CHANGES] = [14, 12];
  /** Settings without audits, whose reads would be counted. */
  const UNAUDITED = 'live.auditMs=3600000';

  /** Returns a token account in the form of the cluster's chain. */
  const held = (owner: string, amount: number, mint: string = DOLLAR.mint.address, program = TOKEN_PROGRAM) => ({
    ...tokenAccountFixture(owner, amount, mint),
    owner: program,
  });

  const reads = async ({ cluster }: SteppedHarness): Promise<number> =>
    (await cluster.control.requestCounts())['getTokenAccountsByOwner'] ?? 0;

  /** Returns the number of upstream calls that read accounts, by lists or by address. */
  async function accountReads({ cluster }: SteppedHarness): Promise<number> {
    const counts = await cluster.control.requestCounts();
    return (counts['getTokenAccountsByOwner'] ?? 0) + (counts['getMultipleAccounts'] ?? 0);
  }

  /** Reads a path in slot after slot until it has cost no list read for some slots; returns the answers. */
  async function keepLive<const P extends string>(
    world: SteppedHarness,
    path: P,
    slots = 3,
  ): Promise<readonly HttpAnswer<JsonAt<P>>[]> {
    const quiet: HttpAnswer<JsonAt<P>>[] = [];
    for (let i = 0; quiet.length < slots; i++) {
      if (i > 500) throw new Error(`${path} does not come to be kept live`);
      const before = await reads(world);
      await world.step();
      const got = await getInTime(world, path);
      if ((await reads(world)) === before) quiet.push(got);
      else quiet.length = 0;
    }
    return quiet;
  }

  const pyth = [`prices.sources=["pyth-onchain"]`, `prices.pyth.feeds=${JSON.stringify(PRICE_FEEDS)}`];
  const world = await startStepped(t, { set: [UNAUDITED, ...pyth] });
  const { chain } = world.cluster;

  t.test('the token accounts of an owner that is requested repeatedly cost no reads (I15)', async (t) => {
    chain.setAccount(A, held(OWNER, 1_000_000));
    chain.setAccount(B, held(OWNER, 50, TOLL.mint.address, TOKEN_2022_PROGRAM));
    await world.step(3);
    const answers = await keepLive(world, PATH, 6);
    t.ok(answers.every(({ json }) => json.result.length === 2));
    t.ok(Number(answers.at(-1)?.json.slot) > Number(answers[0]?.json.slot), 'their slot moves on');
    t.match(await keepLive(world, `${PATH}?mint=${TOLL.mint.address}`), [{ json: { result: [{ address: B }] } }]);
    t.strictSame((await keepLive(world, `${PATH}?mint=${GOLD.mint.address}`))[0]?.json.result, []);
  });

  t.test('each answer is what the chain holds at its slot, whatever happens to the accounts (I15)', async (t) => {
    const world = await startStepped(t);
    const { chain } = world.cluster;
    const recorded = (slot: number): object =>
      Object.fromEntries(
        [A, B].flatMap((each) => {
          const account = chain.accountAt(each, slot);
          if (account?.owner !== TOKEN_PROGRAM || tokenOwner(account) !== OWNER) return [];
          return [[each, `${Buffer.from(account.data).readBigUInt64LE(64)}`]];
        }),
      );
    const lists = new Set<string>();
    const answered = new Map<number, object>();
    const rowsOf = ({ result }: TokenList['json']): object =>
      Object.fromEntries(result.map(({ address, tokenAmount }) => [address, tokenAmount.amount]));
    const check = ({ json }: TokenList): void => {
      const { slot } = json;
      const rows = rowsOf(json);
      answered.set(slot, rows);
      t.strictSame(rows, recorded(slot), `at ${slot}`);
      lists.add(JSON.stringify(rows));
    };
    (await keepLive(world, PATH)).forEach(check);
    for (const [each, account] of [
      [A, held(OWNER, 1)],
      [B, held(OWNER, 2)],
      [A, held(OWNER, 3)],
      [A, held(addressFromByte(9), 3)],
      [B, GONE],
      [A, held(OWNER, 4)],
    ] as const) {
      chain.setAccount(each, account);
      for (let i = 0; i < 3; i++) {
        await world.step();
        check(await world.get(PATH));
      }
      (await keepLive(world, PATH)).forEach(check);
    }
    t.equal(lists.size, 6, 'all of it was seen');
    const past = new Set<string>();
    for (const [slot, rows] of answered) {
      const { status, json } = await world.get(`${PATH}?slot=${slot}`);
      if (status !== 200) continue; // between two leases
      t.match(json.slot, slot);
      t.strictSame(rowsOf(json), rows, `past slot ${slot}`);
      past.add(JSON.stringify(rows));
    }
    t.equal(past.size, 6, 'all of it is kept');
  });

  t.test('a live portfolio keeps its accounts and is valued again every few slots', async (t) => {
    const wallet = WALLETS[0].address;
    const path = `/address/${wallet}/portfolio` as const;
    const answers = await keepLive(world, path, 10);
    const sol = ({ json }: Portfolio) => json.result.items.find(({ asset }) => asset === 'SOL');
    for (const each of answers) t.equal(sol(each)?.amount, `${chain.accountAt(wallet, each.json.slot)?.lamports}`);
    t.ok(new Set(answers.map(({ json }) => json.slot)).size > 1, 'their slot moves on');
    t.ok(new Set(answers.map((each) => sol(each)?.priceUsd)).size > 1, 'so do the prices');
    chain.setAccount(wallet, { ...GONE, lamports: 77n });
    await world.step(5); // a slot later than the balance alone: the tokens must have reached its slot
    t.equal(sol(await world.get(path))?.amount, '77');
  });

  t.test('a portfolio that is polled costs no upstream call once it is live, and follows what it shows', async (t) => {
    const path = `/address/${WALLETS[1].address}/portfolio` as const;
    const rowOf = ({ json }: Portfolio, mint: string) => json.result.items.find((item) => item.mint === mint);
    /** Requests the portfolio as a dashboard does, every five seconds. */
    const poll = async (): Promise<Portfolio> => {
      await world.step(12);
      return world.get(path);
    };
    for (let i = 0; i < 5; i++) await poll();
    const before = await accountReads(world);
    const feed = address(findPriceFeedAddress(PYTH_PUSH_ORACLE, PRICE_FEEDS[WRAPPED_SOL] ?? ''));
    const priceAt = (slot: number): number =>
      Number(Buffer.from(chain.accountAt(feed, slot)?.data ?? []).readBigInt64LE(73)) / 1e8;
    for (let i = 0; i < 4; i++) {
      const answer = await poll();
      const { slot } = answer.json;
      const recent = Array.from({ length: 6 }, (_, ago) => priceAt(slot + 1 - ago));
      t.ok(recent.includes(Number(rowOf(answer, WRAPPED_SOL)?.priceUsd)), 'the price is at most four slots old');
    }
    t.equal(await accountReads(world), before);

    const mint = DOLLAR.mint.address;
    t.match(rowOf(await poll(), mint), { name: 'Demo Dollar', decimals: 6 });
    const metadata = metadataFixture(mint, 'Another Dollar', 'ADUSD');
    chain.setAccount(address(findMetadataAddress(mint)), { ...metadata, executable: false });
    await world.step(4);
    t.match(rowOf(await world.get(path), mint), { name: 'Another Dollar', symbol: 'ADUSD' });
    chain.setAccount(address(mint), mintFixture(2, 1_000_000_000));
    await world.step(4);
    t.match(rowOf(await world.get(path), mint), { name: 'Another Dollar', decimals: 2 });
  });

  t.test('a list of an owner without accounts, and one that does not exist, comes to be live', async (t) => {
    const path = `/address/${addressFromByte(99)}/portfolio` as const;
    for (const answer of await keepLive(world, path, 5)) t.strictSame(answer.json.result.items, []);
    chain.setAccount(address(addressFromByte(98)), held(addressFromByte(99), 7));
    await world.step(4);
    t.match((await world.get(path)).json.result.items, [{ amount: '7' }]);
  });

  /** Requests a path, and lets slots pass while the answer waits for them. */
  async function getInTime<const P extends string>(
    { get, step, cluster }: SteppedHarness,
    path: P,
    init?: RequestOptions,
  ): Promise<HttpAnswer<JsonAt<P>>> {
    const answers: HttpAnswer<JsonAt<P>>[] = [];
    void get(path, init).then((got) => answers.push(got));
    for (;;) {
      // Both come after it, and after what the node has notified of the slot, and are answered without a wait.
      for (let round = 0; round < 3; round++) {
        await get('/health');
        await rpcRequest(cluster.url, 'getHealth');
      }
      const [answer] = answers;
      if (answer !== undefined) return answer;
      await step();
    }
  }

  /** A world without prices, whose reads would be counted. */
  const bots = await startStepped(t, { set: [UNAUDITED] });
  const { chain: ledger } = bots.cluster;

  for (const [what, slots, kinds] of [
    ['in each slot', 1, { 'a poller and a bot': 100, 'a bot at the tip': 110 }],
    ['each second', 2, { 'a poller': 120, 'a bot at the tip': 130 }],
  ] as const) {
    for (const [readers, byte] of Object.entries(kinds)) {
      t.test(`${readers} of a portfolio that changes ${what} cost hardly an upstream call (I15)`, async (t) => {
        const owner = address(addressFromByte(byte));
        const [token, other] = [address(addressFromByte(byte + 1)), address(addressFromByte(byte + 2))];
        const path = `/address/${owner}/portfolio` as const;
        let amount = 1;
        let answers = 0;
        const check = ({ json: { slot, result } }: Portfolio): void => {
          answers++;
          const amounts = Object.fromEntries(result.items.map((item) => [item.mint, item.amount]));
          const data = ledger.accountAt(token, slot)?.data ?? new Uint8Array(72);
          const amountThen = `${Buffer.from(data).readBigUInt64LE(64)}`;
          const expected = {
            [WRAPPED_SOL]: `${ledger.accountAt(owner, slot)?.lamports}`,
            [GOLD.mint.address]: '5',
          };
          t.strictSame(amounts, { ...expected, [DOLLAR.mint.address]: amountThen }, `at ${slot}`);
        };
        /** Changes the wallet, and reads it: for the bot at the slot of the balance with the change, or at the processed one. */
        const change = async (): Promise<void> => {
          ledger.setAccount(owner, { ...GONE, lamports: BigInt(++amount) });
          ledger.setAccount(token, held(owner, amount));
          await bots.step();
          if (readers !== 'a bot at the tip') check(await getInTime(bots, path));
          if (readers !== 'a poller') {
            const { slot } = (await bots.get(readers === 'a bot at the tip' ? '/slot' : `/balance/${owner}`)).json;
            const answer = await getInTime(bots, path, { headers: { 'x-min-slot': `${slot}` } });
            t.ok(answer.json.slot >= slot);
            check(answer);
          }
          await bots.step(slots - 1);
        };
        ledger.setAccount(other, held(owner, 5, GOLD.mint.address));
        ledger.setAccount(owner, { ...GONE, lamports: 1n });
        ledger.setAccount(token, held(owner, 1));
        await bots.step(3); // so that the first answer has them
        for (let i = 0; i < FIRST_CHANGES; i++) await change(); // until it is live
        answers = 0;
        const before = await accountReads(bots);
        for (let i = 0; i < CHANGES; i++) await change();
        const perAnswer = ((await accountReads(bots)) - before) / answers;
        t.ok(perAnswer <= 0.3, `${perAnswer} upstream calls an answer`);
      });
    }
  }
});

/** Records the balances at each slot: the chain forgets them. Returns how to find one. */
function recordBalances({ chain }: SteppedHarness['cluster'], wallets: readonly string[]) {
  const balances = new Map<string, bigint | undefined>();
  chain.onSlot(({ processed: { slot } }) => {
    for (const wallet of wallets) balances.set(`${wallet} ${slot}`, chain.accountAt(wallet, slot)?.lamports);
  });
  return (wallet: string, slot: number): bigint | undefined => balances.get(`${wallet} ${slot}`);
}

/** Compares what a gateway answers for past slots with the chain. Returns the answers, and those of skipped slots. */
async function comparePast(
  t: Test,
  { get, cluster: { chain } }: SteppedHarness,
  balanceAt: ReturnType<typeof recordBalances>,
  [one, two]: readonly [string, string],
  from: number,
) {
  let [answers, skipped] = [0, 0];
  for (let slot = from; slot <= chain.slot('confirmed') - 3; slot++) {
    const block = chain.slotsWithBlock(0, slot).at(-1);
    const lamports = [one, two].map((wallet) => Number(balanceAt(wallet, block ?? 0)));
    for (const [path, expected] of [
      [`/balance/${one}?slot=${slot}`, { lamports: lamports[0] }],
      [`/account/${two}?slot=${slot}`, { lamports: lamports[1] }],
      [`/balances?addresses=${one}%2C${two}&slot=${slot}`, lamports.map((each) => ({ lamports: each }))],
    ] as const) {
      const { status, json, headers } = await get(path);
      if (status === 404 && json.error === 'slot_not_kept') continue; // one notification showed two changes
      t.match({ status, json }, { status: 200, json: { result: expected, slot: block } }, path);
      t.equal(headers.get('x-skipped'), block === slot ? null : String(slot), path);
      answers++;
      if (block !== slot) skipped++;
    }
  }
  return { answers, skipped };
}

t.test('live-accounts-over-a-geyser-feed', async (t) => {
  const [alice = '', bob = ''] = WALLETS.map(({ address }) => address);
  const world = await startStepped(t, { feed: {}, skipEvery: 7, perSlot: 6, set: ['live.auditMs=2000'] });
  const { control, chain } = world.cluster;
  const feed = async () => (await world.get('/health')).json.result?.geyser;
  const stepUntil = async (isDone: () => Promise<boolean>): Promise<void> => {
    for (let steps = 0; !(await isDone()); steps++) {
      if (steps > 600) throw new Error(`the feed is not there: ${JSON.stringify(await feed())}`);
      await world.step();
      await sleep(2); // for what comes over the feed's own connection
    }
  };
  const balanceAt = recordBalances(world.cluster, [alice, bob]);
  const lastSlots = new Map<string, number>();
  let compared = 0;
  /** Compares what is read with the chain at the slot of the answer. */
  const readAll = async (): Promise<void> => {
    for (const wallet of [alice, bob])
      for (const commitment of ['confirmed', 'finalized'] as const) {
        const path = `/balance/${wallet}?commitment=${commitment}` as const;
        const { status, json } = await world.get(path);
        if (status !== 200) continue;
        const { result, slot } = json;
        const expected = balanceAt(wallet, slot);
        if (expected === undefined) continue; // before this test listened
        if (BigInt(result.lamports) !== expected) t.fail(`${path} at ${slot}`);
        if (slot < (lastSlots.get(path) ?? 0)) t.fail(`${path} went back to ${slot}`);
        lastSlots.set(path, slot);
        compared++;
      }
  };
  /** Reads for some slots, and then until the accounts are known by the feed at the newest confirmed block. */
  const survive = async (): Promise<void> => {
    for (let i = 0; i < 12; i++) {
      await readAll();
      await world.step();
    }
    await stepUntil(async () => {
      await readAll();
      const found = await feed();
      return found?.status === 'up' && found.accounts >= 2 && found.behindSlots === 0;
    });
  };

  t.test('what is read often moves to the feed once it is admitted, without a step back', async (t) => {
    await stepUntil(async () => {
      await readAll();
      const found = await feed();
      return found?.status === 'up' && found.accounts >= 2;
    });
    t.match(await feed(), { id: 'node-1', version: 'yellowstone-grpc-geyser 15.1.2', streams: 1, gaps: 0 });
    await survive();
    const before = await accountReads(world);
    for (let i = 0; i < 5; i++) {
      await readAll();
      await world.step();
    }
    const audits = 5; // what else is read
    t.ok((await accountReads(world)) - before <= audits, 'the accounts are not read any more');
  });

  t.test('past slots are of the WebSocket first, then of the feed', async (t) => {
    const { answers } = await comparePast(t, world, balanceAt, [alice, bob], chain.slot('confirmed') - 40);
    t.ok(answers > 30, `${answers} answers`);
  });

  for (const [what, harm] of [
    ['a restart behind a balancer', () => control.restartGeyser(true)],
    ['a restart that forgets all', () => control.restartGeyser(false)],
    ['a reader that lags', () => control.lagGeyser()],
    ['a block that is never sent', () => control.injectGeyser({ omittedBlocks: 1 })],
    [
      'replays that come twice',
      () => control.injectGeyser({ replaysTwice: true }).then(() => control.restartGeyser(true)),
    ],
    ['the order of Richat', () => control.injectGeyser({ order: 'richat' })],
    ['several banks for a slot', () => control.injectGeyser({ hasTwoBanks: true })],
  ] as const) {
    t.test(`no answer is false or goes back: ${what}`, async (t) => {
      const comparedBefore = compared;
      await harm();
      await survive();
      t.ok(compared - comparedBefore > 15, `${compared - comparedBefore} answers`);
      t.ok((await comparePast(t, world, balanceAt, [alice, bob], chain.slot('confirmed') - 10)).answers > 10);
      t.notOk(world.logged.some(({ message }) => message.startsWith('a lease covered')));
    });
  }

  t.test('G8: an answer at processed is read from a node, and never of a feed', async (t) => {
    const before = await accountReads(world);
    for (let i = 0; i < 3; i++) {
      await world.step();
      const { json } = await world.get(`/balance/${alice}?commitment=processed`);
      t.equal(json.slot, chain.slot('processed'));
      t.equal(BigInt(json.result.lamports), balanceAt(alice, json.slot));
    }
    t.ok((await accountReads(world)) - before >= 3, 'a read for each slot');
  });

  t.test('doctor admits the feed by its blocks, and names what a wrong token gives', async (t) => {
    const { url, wsUrl, geyserUrl = '' } = world.cluster;
    const examine = async () => {
      const args = ['--upstream', `${url},${wsUrl}`, '--geyser', geyserUrl, '--state', `${t.testdir()}/new`];
      let text = '';
      void runSlotgate(['doctor', '--port', '0', '--admin-port', '0', ...args]).then(({ out }) => {
        text = out;
      });
      while (text === '') {
        await world.step(); // it is judged by new blocks
        await sleep(10);
      }
      return text;
    };
    const text = await examine();
    t.match(
      text,
      /^ok {4}node-1 feed +yellowstone-grpc-geyser 15\.1\.2: blocks in a row, with the Clock and wallets in its blocks$/m,
    );
    t.match(text, /^ok {4}node-1 feed replay +from slot \d+$/m);
    await control.injectGeyser({ token: 'secret' });
    t.match(await examine(), /^fail {2}node-1 feed +refuses the token\n +fix: see the chapter on operating/m);
    await control.injectGeyser({ token: undefined });
  });

  t.test('a feed that forges balances is found by an audit, and not used any more', async (t) => {
    const past = `/balance/${alice}?slot=${chain.slot('confirmed')}` as const;
    await stepUntil(async () => (await world.get(past)).status === 200);
    t.equal((await world.get(past)).headers.get('x-cache'), 'HIT');
    await control.injectGeyser({ isForging: true });
    await stepUntil(async () => {
      await world.get(`/balance/${alice}`);
      return (await feed())?.status === 'down';
    });
    t.match(await world.get(past), { status: 404, json: { error: 'slot_not_kept' } }, 'what it gave before is denied');
    t.match(
      (await world.get('/health')).json.result?.problems.join(),
      /Geyser feed of node-1 can't be used: a read at slot/,
    );
    const pubsub = await connectPubsub(t, `${world.gateway.url}/api/v1/rpc`);
    const token = world.cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]);
    const config = { commitment: 'confirmed', encoding: 'base64', slotgate: {} };
    const answer = pubsub.call('accountSubscribe', token, config);
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    await stepUntil(async () => isAnswered);
    const { error } = await answer;
    t.match(error, { message: /Geyser feed is down/, data: { error: 'upstream_unavailable' } }, "not the client's");
    await control.injectGeyser({ isForging: false });
    for (let i = 0; i < 10; i++) {
      await readAll();
      await world.step();
    }
  });
});

t.test('past-slots', async (t) => {
  const [alice = '', bob = ''] = WALLETS.map(({ address }) => address);
  const world = await startStepped(t, { skipEvery: 5, perSlot: 4 });
  const { chain } = world.cluster;
  const balanceAt = recordBalances(world.cluster, [alice, bob]);
  await Promise.all([keepLive(world, `/balance/${alice}`), keepLive(world, `/account/${bob}`)]);
  const from = chain.slot('confirmed');
  for (let i = 0; i < 45; i++) {
    await world.get(`/balances?addresses=${alice}%2C${bob}`);
    await world.step();
  }

  t.test("an account is what the chain records at the block's end, and a skipped slot is its parent", async (t) => {
    const { answers, skipped } = await comparePast(t, world, balanceAt, [alice, bob], from);
    t.ok(answers > 60 && skipped > 6, `${answers} answers, ${skipped} of skipped slots`);
  });

  t.test('an answer about a past slot, also about a skipped one, is made once', async (t) => {
    const paths = Array.from({ length: 6 }, (_, i) => `/balance/${alice}?slot=${from + i}` as const);
    const first = await Promise.all(paths.map((path) => world.get(path)));
    await world.step();
    const again = await Promise.all(paths.map((path) => world.get(path)));
    const facts = (answers: typeof first) => answers.map(({ text, headers }) => [text, headers.get('x-skipped')]);
    t.strictSame(facts(again), facts(first));
    t.same(new Set(again.map(({ headers }) => headers.get('x-cache'))), new Set(['HIT']));
    t.equal(first.filter(({ headers }) => headers.has('x-skipped')).length, 1);
    t.not((await world.get(`/balance/${bob}?slot=${from}`)).text, first[0]?.text);
  });

  t.test('a balance at a finalized slot is exact, and what a node has parsed is observed', async (t) => {
    const slot = chain.slotsWithBlock(0, chain.slot('finalized')).at(-1);
    const claimOf = async (path: string): Promise<string | undefined> =>
      (await world.get(`${path}?slot=${slot}&commitment=finalized`)).json.receipt?.claim;
    t.strictSame([await claimOf(`/balance/${alice}`), await claimOf(`/balance/${alice}`)], ['exact/1', 'exact/1']);
    t.equal(await claimOf(`/account/${bob}`), 'observed/1');
    t.equal((await world.get(`/balance/${alice}?slot=${slot}`)).json.receipt?.claim, 'observed/1');
  });

  for (const [what, query, options, status, error] of [
    ['a slot ahead', `slot=${10 ** 9}`, {}, 404, 'block_not_available'],
    [
      'a slot that is not final yet',
      `commitment=finalized&slot=${chain.slot('confirmed')}`,
      {},
      404,
      'block_not_available',
    ],
    ['a slot that is no number', 'slot=x', {}, 400, 'invalid_slot'],
    ['processed', `commitment=processed&slot=${from}`, {}, 400, 'invalid_query'],
    ['X-Min-Slot', `slot=${from}`, { headers: { 'X-Min-Slot': '1' } }, 400, 'invalid_query'],
  ] as const)
    t.test(`${what} is refused`, async (t) => {
      const nobody = addressFromByte(8);
      for (const path of [`/balance/${alice}`, `/balance/${nobody}`, `/token-accounts/${nobody}`] as const)
        t.match(await world.get(`${path}?${query}`, options), { status, json: { error } }, path);
    });

  t.test('a slot that is too old names the oldest one that is kept', async (t) => {
    const old = await world.get(`/balance/${alice}?slot=1`);
    t.match([old.status, old.json.error], [404, 'slot_not_kept']);
    const oldest = old.headers.get('x-oldest-slot');
    const anySlot = { headers: { 'X-Min-Slot': '0' } };
    t.equal((await world.get(`/balance/${alice}?slot=${oldest}`, anySlot)).status, 200);
    const other = await world.get(`/balance/${addressFromByte(7)}?slot=${from}`);
    t.match([other.status, other.json.error, other.headers.get('x-oldest-slot')], [404, 'slot_not_kept', null]);
  });
});

for (const [what, faults, problem] of [
  ['a wrong token', { token: 'secret' }, /refuses the token/],
  [
    'an old version',
    { version: '{"version":{"package":"yellowstone-grpc-geyser","version":"14.1.0"}}' },
    /14.1.0 loses late/,
  ],
  ['another cluster', { hasOtherGenesis: true }, /follows another cluster/],
  ['rejected wallets', { rejectedOwner: SYSTEM_PROGRAM }, /owner_reject/],
] as const)
  t.test(`a geyser feed with ${what} is refused in one line, and accounts are live without it`, async (t) => {
    const world = await startStepped(t, { feed: faults, perSlot: 6 });
    const lines = (): string[] =>
      world.logged.flatMap(({ message }) => (message.startsWith('the Geyser feed') ? [message] : []));
    for (let i = 0; i < 300 && lines().length === 0; i++) {
      await world.step();
      await sleep(2);
    }
    t.match(lines()[0], problem);
    t.equal(lines().length, 1);
    await keepLive(world, `/balance/${WALLETS[0]?.address}`);
    t.match((await world.get('/health')).json.result, { status: 'degraded', geyser: { status: 'down', accounts: 0 } });
  });
