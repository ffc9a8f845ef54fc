import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getTransferSolInstruction } from '@solana-program/system';
import { getTransferCheckedInstruction } from '@solana-program/token';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import type { Block, LandedTransaction } from '../../../src/localnet/bank/produced-block.ts';
import { feeOf } from '../../../src/localnet/bank/transaction-fee.ts';
import { startEmbeddedCluster } from '../../../src/localnet/embedded-cluster.ts';
import { listenOnPair } from '../../../src/localnet/port-pair.ts';
import { type Subscriber, SubscriptionRegistry } from '../../../src/localnet/pubsub/subscription-registry.ts';
import { InjectedFaults } from '../../../src/localnet/rpc/injected-faults.ts';
import { buildTransaction } from '../../../src/localnet/traffic/build-transaction.ts';
import {
  COINS,
  DOLLAR,
  GOLD,
  POINTS,
  POOL,
  TOLL,
  TRANSIENT_WALLETS,
  WALLETS,
  WHALE,
} from '../../../src/localnet/traffic/demo-accounts.ts';
import type { Keypair } from '../../../src/localnet/traffic/demo-keypair.ts';
import { createFaucet } from '../../../src/localnet/traffic/faucet.ts';
import { startTraffic } from '../../../src/localnet/traffic/traffic-generator.ts';
import { StartError } from '../../../src/shared/domain/start-error.ts';
import { CLOCK_SYSVAR, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/shared/domain/well-known-addresses.ts';
import { findMetadataAddress } from '../../../src/transactions/accounts/metaplex-metadata-account.ts';
import { addressOfNumber } from '../../support/address-of-number.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rpcPost, rpcRequest } from '../../support/rpc-request.ts';
import { startLiveCluster, startTestCluster } from '../../support/test-cluster.ts';
import { createTestChain } from './test-chain.ts';

t.test('embedded-cluster', async (t) => {
  const first = await startEmbeddedCluster({ slotMs: 50, transactionsPerSlot: 1, ...lastingPort() });
  const port = Number(new URL(first.url).port);

  t.test('a cluster in a thread answers like a node', async (t) => {
    t.equal(await rpcRequest(first.url, 'getGenesisHash'), first.genesisHash);
    const slots: number[] = [];
    while (slots.length < 5) {
      const slot = await rpcRequest<number>(first.url, 'getSlot', [{ commitment: 'processed' }]);
      if (slot !== slots.at(-1)) slots.push(slot);
    }
    t.same(
      slots,
      [...slots].sort((a, b) => a - b),
    );
  });

  t.test('pubsub is on the port of RPC and on the next one, also when it listens again', async (t) => {
    const {
      url: own,
      control,
      close,
    } = await startLiveCluster({ slotMs: 50, transactionsPerSlot: 0, ...lastingPort() });
    t.teardown(close);
    const next = `http://127.0.0.1:${Number(new URL(own).port) + 1}`;
    await control.stopListening();
    for (const closed of [own, next]) await t.rejects(fetch(closed), closed);
    await control.startListening();
    for (const url of [own, next]) {
      const socket = new WebSocket(url.replace('http', 'ws'));
      await once(socket, 'open');
      socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
      const [acknowledgement] = await once(socket, 'message');
      t.match(JSON.parse(acknowledgement), { id: 1, result: Number });
      socket.terminate();
    }
    t.equal((await fetch(next)).status, 426, 'which has no RPC over HTTP');
    await rpcRequest(own, 'getGenesisHash');
    t.match(await control.requestCounts(), { getGenesisHash: 1 });
  });

  t.test('a cluster that must have a port which is in use reports the reason', async (t) => {
    const starting = startEmbeddedCluster({ transactionsPerSlot: 0, port });
    const message = new RegExp(
      `can't listen on port ${port}, and on ${port + 1} for WebSocket \\(.*EADDRINUSE.*\\): choose`,
    );
    await t.rejects(starting, { message });
    await starting.catch((thrown) => t.ok(thrown instanceof StartError));
    const fed = startEmbeddedCluster({ transactionsPerSlot: 0, geyserPort: port });
    await t.rejects(fed, { exitCode: 1, message: /in use; embedded\.geyserPort chooses another/ });
  });

  t.test('one that may have others is another cluster, with the same demo accounts', async (t) => {
    const second = await startEmbeddedCluster({ transactionsPerSlot: 0, port, orFreePorts: true });
    t.equal(second.takenPort?.port, port);
    t.not(await rpcRequest(second.url, 'getGenesisHash'), first.genesisHash);
    t.same(second.accounts, first.accounts);
    await second.close();
    t.equal(await second.ended, undefined);
  });

  t.test('a closed cluster refuses connections, and may be closed again', async (t) => {
    await first.close();
    t.equal(await first.ended, undefined);
    await t.rejects(rpcRequest(first.url, 'getSlot'), 'connections are refused');
    await first.close();
  });
});

t.test('port-pair', async (t) => {
  const GENESIS = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';

  const portOf = (server: Server): number => (server.address() as AddressInfo).port; // it listens on TCP

  /** Creates two servers, which are closed when the test ends. */
  function twoServers(t: Test): [Server, Server] {
    const servers: [Server, Server] = [createServer(), createServer()];
    t.teardown(() => {
      for (const server of servers) server.close();
    });
    return servers;
  }

  /** Listens on a port, as another process does; returns it. */
  async function occupy(t: Test, respond: RequestListener): Promise<number> {
    const server = createServer(respond).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    return portOf(server);
  }

  t.test('two free ports are neighbours', async (t) => {
    for (const wanted of [{}, { port: 0 }, { port: 0, orFreePorts: true }]) {
      const [first, next] = twoServers(t);
      const { port, taken } = await listenOnPair(first, next, wanted);
      t.same([portOf(first), portOf(next)], [port, port + 1]);
      t.equal(taken, undefined);
    }
  });

  t.test('a port that is wanted, or the next one, is in use', async (t) => {
    const port = await occupy(t, (_, response) => response.end());
    for (const wanted of [port, port - 1]) {
      const [first, next] = twoServers(t);
      await t.rejects(listenOnPair(first, next, { port: wanted }), { code: 'EADDRINUSE' });
      t.notOk(first.listening || next.listening, 'neither is kept');
    }
  });

  t.test('two free ports may do instead, and the cluster at the wanted one is named', async (t) => {
    const cluster = await occupy(t, (_, response) => response.end(`{"jsonrpc":"2.0","result":"${GENESIS}","id":1}`));
    const other = await occupy(t, (_, response) => response.writeHead(404).end('no such page'));
    const silent = await occupy(t, ({ socket }) => socket.destroy());
    for (const [wanted, genesisHash] of [
      [cluster, GENESIS],
      [other, null],
      [other - 1, null],
      [silent, null],
    ] as const) {
      const [first, next] = twoServers(t);
      const { port, taken } = await listenOnPair(first, next, { port: wanted, orFreePorts: true });
      t.not(port, wanted);
      t.same([portOf(first), portOf(next)], [port, port + 1]);
      t.match(taken, { port: Number, genesisHash });
    }
  });
});

t.test('cluster-control', async (t) => {
  const SLOT_MS = 400;
  const processed = [{ commitment: 'processed' }];

  /** Starts a cluster without traffic whose slots pass with the test's clock. */
  async function start(t: Test) {
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, new Uint8Array(32).fill(7), {
      transactionsPerSlot: 0,
      skipEvery: 0,
      ...lastingPort(),
    });
    t.teardown(() => cluster.close());
    const slots = (count: number): void => clock.advance(count * SLOT_MS);
    const slot = (): Promise<number> => rpcRequest(cluster.url, 'getSlot', processed);
    return { ...cluster, clock, slots, slot };
  }

  /** Opens a WebSocket that is subscribed to slots. */
  async function followSlots(wsUrl: string) {
    const socket = new WebSocket(wsUrl);
    const slots: number[] = [];
    await once(socket, 'open');
    const subscribed = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.method === 'slotNotification') slots.push(message.params.result.slot);
        else resolve();
      });
    });
    socket.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}');
    await subscribed;
    return { socket, slots };
  }

  /** Waits for a pong: all that was sent through the WebSocket before has arrived by then. */
  async function waitForPong(socket: WebSocket): Promise<void> {
    const pong = once(socket, 'pong');
    socket.ping();
    await pong;
  }

  t.test('slots stop, continue, lag and catch up', async (t) => {
    const { control, slots, slot } = await start(t);
    slots(3);
    const before = await slot();
    await control.pauseSlots();
    slots(10);
    t.equal(await slot(), before);
    await control.resumeSlots();
    slots(2);
    t.equal(await slot(), before + 2);
    await control.lagBehind(5);
    slots(5);
    t.equal(await slot(), before + 2);
    await control.lagBehind(0);
    t.equal(await slot(), before + 7);
  });

  t.test('a fork abandons slots, which are then skipped', async (t) => {
    const { control, slots, slot, url } = await start(t);
    slots(5);
    const head = await slot();
    const abandoned = await control.fork();
    t.ok(abandoned.includes(head));
    slots(40);
    t.ok((await slot()) > head);
    await t.rejects(rpcRequest(url, 'getBlock', [head]), { code: -32007 });
  });

  t.test('WebSockets are cut, closed, or silenced', async (t) => {
    const { control, slots, wsUrl } = await start(t);

    const cut = await followSlots(wsUrl);
    const ending = once(cut.socket, 'close');
    await control.dropWebSockets();
    t.equal((await ending)[0], 1006, 'without a close frame');

    const closed = await followSlots(wsUrl);
    const closing = once(closed.socket, 'close');
    await control.closeWebSockets();
    t.equal((await closing)[0], 1000, 'politely');

    const silent = await followSlots(wsUrl);
    await control.silenceWebSockets(true);
    slots(3);
    let pongs = 0;
    silent.socket.on('pong', () => pongs++);
    silent.socket.ping();
    await control.silenceWebSockets(false);
    slots(1);
    await waitForPong(silent.socket);
    t.equal(silent.slots.length, 1, 'missed notifications are not sent later');
    silent.socket.terminate();
  });

  t.test('a WebSocket may have some subscriptions; one more is refused, ends it or is late', async (t) => {
    const { control, clock, wsUrl } = await start(t);
    const { socket } = await followSlots(wsUrl);
    const answers: object[] = [];
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === undefined) answers.push(message);
    });
    const subscribe = async (id: number): Promise<void> => {
      socket.send(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'logsSubscribe',
          params: [{ mentions: [addressOfNumber(id)] }],
        }),
      );
      await waitForPong(socket);
    };
    await control.limitSubscriptions(2, 'error');
    await subscribe(2);
    await subscribe(3);
    t.match(answers, [
      { id: 2, error: undefined },
      { id: 3, error: { code: -32603, message: /limit reached/ } },
    ]);
    t.strictSame(await control.subscriptionCounts(), [2]);
    await control.limitSubscriptions(2, 'late');
    await subscribe(4);
    t.equal(answers.length, 2);
    clock.advance(10_000);
    await waitForPong(socket);
    t.match(answers[2], { id: 4, error: undefined });
    await control.limitSubscriptions(2, 'close');
    const closed = once(socket, 'close');
    void subscribe(5).catch(() => {});
    t.equal((await closed)[0], 1006);
    t.strictSame(await control.subscriptionCounts(), []);
  });

  t.test('a number of requests is refused, then requests are served again', async (t) => {
    const { control, url, slot } = await start(t);
    await control.rateLimit(2, 7);
    const refused = await rpcPost(url, 'getSlot');
    t.equal(refused.status, 429);
    t.equal(refused.headers.get('retry-after'), '7');
    await control.rateLimit(1);
    t.equal((await rpcPost(url, 'getSlot')).headers.get('retry-after'), null);
    t.type(await slot(), 'number');

    await control.failMinContextSlot(1);
    await t.rejects(slot(), { code: -32016 });
    t.type(await slot(), 'number');
  });

  t.test('answers are delayed, and report a wrong slot', async (t) => {
    const { control, clock, slot } = await start(t);
    const truth = await slot();
    await control.delayResponses(60_000);
    let answered = false;
    const late = slot().then((reported) => {
      answered = true;
      return reported;
    });
    await control.pauseSlots();
    while (!answered) {
      clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(await late, truth);
    await control.delayResponses(0);
    await control.skewSlots(1000);
    t.equal(await slot(), truth + 1000);
    await control.skewSlots(0);
    t.equal(await slot(), truth);
  });

  t.test('the node refuses connections, then answers at the same address', async (t) => {
    const { control, url, wsUrl, slot } = await start(t);
    const { socket } = await followSlots(wsUrl);
    const cut = once(socket, 'close');
    await control.stopListening();
    await cut;
    await t.rejects(rpcPost(url, 'getSlot'));
    await control.startListening();
    t.type(await slot(), 'number');
  });

  t.test('calls are counted by method', async (t) => {
    const { control, url } = await start(t);
    await rpcRequest(url, 'getSlot');
    await rpcRequest(url, 'getSlot');
    await rpcRequest(url, 'getVersion');
    await t.rejects(rpcRequest(url, 'noSuchMethod'));
    t.same(await control.requestCounts(), { getSlot: 2, getVersion: 1, unknown: 1 });
  });
});

t.test('notifications', async (t) => {
  const [alice, bob = alice, carol = alice] = WALLETS;
  const [visitor] = TRANSIENT_WALLETS;
  const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

  /** Starts a cluster whose blocks the test produces. */
  async function start(t: Test) {
    const clock = new ManualClock();
    const cluster = await startTestCluster(clock, new Uint8Array(32).fill(7), { transactionsPerSlot: 0, skipEvery: 0 });
    t.teardown(() => cluster.close());
    const { chain } = cluster;
    const produceBlocks = (slots: number): void => {
      for (let i = 0; i < slots; i++) chain.produceBlock();
    };
    const pay = (from: Keypair, to: Keypair, amount: bigint): string => {
      const instructions = [getTransferSolInstruction({ source: from, destination: to.address, amount })];
      return chain.send(
        buildTransaction({ payer: alice, instructions, blockhash: chain.latestBlockhash('processed').hash }),
      ).signature;
    };
    return { ...cluster, produceBlocks, pay };
  }

  /** What the tests read of the results of notifications. */
  interface Received {
    readonly context: { readonly slot: number };
    readonly value: {
      readonly lamports: number;
      readonly err: unknown;
      readonly pubkey: string;
      readonly account: object;
    };
    readonly slot: number;
    readonly parent: number;
    readonly type?: string;
  }

  interface Notification {
    readonly method: string;
    readonly params: { readonly subscription: number; readonly result: Received };
  }

  interface Reply {
    readonly result: unknown;
  }

  /** Opens a WebSocket that records its notifications. */
  async function openListener(t: Test, wsUrl: string) {
    const socket = new WebSocket(wsUrl);
    t.teardown(() => socket.terminate());
    const notifications: Notification[] = [];
    const replies = new Map<number, (reply: Reply) => void>();
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.method === undefined) replies.get(message.id)?.(message);
      else notifications.push(message);
    });
    await once(socket, 'open');
    const call = (method: string, ...params: unknown[]): Promise<Reply> =>
      new Promise((resolve) => {
        const id = replies.size + 1;
        replies.set(id, resolve);
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      });
    const subscribe = async (kind: string, ...params: unknown[]): Promise<number> =>
      Number((await call(`${kind}Subscribe`, ...params)).result);
    /** Returns the results received so far, of one subscription or of all. */
    const received = async (subscription?: number): Promise<Received[]> => {
      const pong = once(socket, 'pong');
      socket.ping();
      await pong;
      return notifications
        .map(({ params }) => params)
        .filter((params) => subscription === undefined || params.subscription === subscription)
        .map(({ result }) => result);
    };
    return { socket, notifications, call, subscribe, received };
  }

  t.test('the notifications of a slot have the order of a node', async (t) => {
    const { chain, wsUrl, produceBlocks } = await start(t);
    produceBlocks(40);
    while (chain.slot('processed') % 3 !== 1) produceBlocks(1); // before a slot that confirms one block: others confirm none or two
    const { subscribe, received, notifications } = await openListener(t, wsUrl);
    for (const commitment of COMMITMENTS) await subscribe('account', CLOCK_SYSVAR, { commitment });
    await subscribe('slot');
    produceBlocks(1);
    await received();
    const [processed, confirmed, finalized] = COMMITMENTS.map((commitment) => chain.slot(commitment));
    const describe = ({ method, params: { result } }: Notification): string =>
      `${method} ${result.context?.slot ?? result.slot}`;
    t.strictSame(notifications.map(describe), [
      `accountNotification ${finalized}`,
      `accountNotification ${processed}`,
      `slotNotification ${Number(processed) + 1}`,
      `accountNotification ${confirmed}`,
    ]);
  });

  for (const commitment of COMMITMENTS) {
    t.test(`the clock of a slot is notified after all changes of the slots before it (${commitment})`, async (t) => {
      const { chain, wsUrl, produceBlocks, pay } = await start(t);
      const { subscribe, received, notifications } = await openListener(t, wsUrl);
      const clockId = await subscribe('account', CLOCK_SYSVAR, { commitment, encoding: 'base64' });
      const watched = new Map<number, string>();
      for (const { address } of [alice, bob, carol])
        watched.set(await subscribe('account', address, { commitment }), address);
      const firstSlot = chain.slot(commitment) + 1;
      for (let i = 0; i < 60; i++) {
        if (i % 3 === 0) pay(alice, bob, 1n + BigInt(i));
        if (i % 5 === 0) pay(bob, carol, 1n);
        produceBlocks(1);
      }
      await received();
      const lastNotified = new Map<string, bigint>();
      let clockUpdates = 0;
      for (const { params } of notifications) {
        const { slot } = params.result.context;
        if (params.subscription !== clockId) {
          lastNotified.set(watched.get(params.subscription) ?? '', BigInt(params.result.value.lamports));
          continue;
        }
        clockUpdates++;
        for (const address of watched.values()) {
          let before: bigint | undefined;
          for (let earlier = firstSlot; earlier < slot; earlier++) {
            for (const { accountKeys, postBalances } of chain.block(earlier)?.transactions ?? []) {
              before = postBalances[accountKeys.indexOf(address)] ?? before;
            }
          }
          const known = lastNotified.get(address);
          const now = chain.block(slot)?.transactions.findLast(({ accountKeys }) => accountKeys.includes(address));
          const at = now?.postBalances[now.accountKeys.indexOf(address)];
          t.ok(known === before || known === at, `${address} at ${slot}`);
        }
      }
      t.equal(clockUpdates, chain.slot(commitment) - firstSlot + 1, 'each slot has its clock');
    });
  }

  t.test('equal subscriptions share an id, and each connection unsubscribes separately', async (t) => {
    const { wsUrl, produceBlocks } = await start(t);
    const first = await openListener(t, wsUrl);
    const second = await openListener(t, wsUrl);
    const id = await first.subscribe('slot');
    t.equal(await first.subscribe('slot'), id);
    t.equal(await second.subscribe('slot'), id);
    t.not(await second.subscribe('logs', 'all'), id);
    produceBlocks(1);
    t.equal((await first.received(id)).length, 1, 'notified once, however often subscribed');
    t.strictSame((await first.call('slotUnsubscribe', id)).result, true);
    t.match(await first.call('slotUnsubscribe', id), { error: { code: -32602, message: 'Invalid subscription id.' } });
    produceBlocks(1);
    t.equal((await first.received(id)).length, 1);
    t.equal((await second.received(id)).length, 2);
  });

  t.test('a closed account is notified with zero lamports', async (t) => {
    const { wsUrl, produceBlocks, pay } = await start(t);
    const { subscribe, received } = await openListener(t, wsUrl);
    const id = await subscribe('account', visitor.address, { commitment: 'processed', encoding: 'base64' });
    pay(alice, visitor, 1_000_000_000n);
    produceBlocks(1);
    pay(visitor, alice, 1_000_000_000n);
    produceBlocks(1);
    t.strictSame(
      (await received(id)).map(({ value }) => value),
      [
        {
          lamports: 1_000_000_000,
          data: ['', 'base64'],
          owner: '11111111111111111111111111111111',
          executable: false,
          rentEpoch: 18_446_744_073_709_552_000,
          space: 0,
        },
        {
          lamports: 0,
          data: ['', 'base64'],
          owner: '11111111111111111111111111111111',
          executable: false,
          rentEpoch: 0,
          space: 0,
        },
      ],
    );
  });

  t.test('a program subscription notifies of the accounts that match its filters', async (t) => {
    const { chain, setup, wsUrl, produceBlocks } = await start(t);
    const { subscribe, received, call } = await openListener(t, wsUrl);
    const ofBob = { memcmp: { offset: 32, bytes: bob.address } };
    const options = { commitment: 'processed', encoding: 'jsonParsed' };
    const filtered = await subscribe('program', TOKEN_PROGRAM, { ...options, filters: [ofBob, { dataSize: 165 }] });
    const other = await subscribe('program', TOKEN_PROGRAM, { ...options, filters: [ofBob, { dataSize: 82 }] });
    const all = await subscribe('program', TOKEN_PROGRAM, options);
    for (const coin of [DOLLAR, GOLD]) {
      const transfer = getTransferCheckedInstruction({
        source: setup.tokenAccountOf(coin, alice),
        mint: coin.mint.address,
        destination: setup.tokenAccountOf(coin, bob),
        authority: alice,
        amount: 5n,
        decimals: coin.decimals,
      });
      const { hash: blockhash } = chain.latestBlockhash('processed');
      chain.send(buildTransaction({ payer: carol, instructions: [transfer], blockhash }));
    }
    produceBlocks(1);
    const [matching, silent, everything] = [await received(filtered), await received(other), await received(all)];
    const pubkeys = matching.map(({ value }) => value.pubkey).sort();
    t.strictSame(pubkeys, [DOLLAR, GOLD].map((coin) => setup.tokenAccountOf(coin, bob) as string).sort());
    t.match(matching[0]?.value.account, { data: { parsed: { info: { owner: bob.address } } } });
    t.strictSame(silent, []);
    t.equal(everything.length, 4);
    t.match(await call('programSubscribe', TOKEN_PROGRAM, { filters: Array(5).fill(ofBob) }), {
      error: { code: -32602, message: 'Too many filters provided; max 4' },
    });
    const dataSlice = { offset: -1, length: 1 };
    for (const [method, key] of [
      ['accountSubscribe', bob.address],
      ['programSubscribe', TOKEN_PROGRAM],
    ] as const) {
      t.match(await call(method, key, { encoding: 'jsonparsed' }), {
        error: { message: /unknown variant `jsonparsed`/ },
      });
      t.match(await call(method, key, { dataSlice }), {
        error: { code: -32602, message: /invalid value: integer `-1`/ },
      });
      t.match(await call(method, key, { dataSlice: 'all' }), { error: { code: -32602, message: /expected a map/ } });
    }
  });

  t.test('a logs subscription notifies of transactions that mention an address, failed ones too', async (t) => {
    const { wsUrl, produceBlocks, pay } = await start(t);
    const { subscribe, received } = await openListener(t, wsUrl);
    const mentions = (address: string) => [{ mentions: [address] }, { commitment: 'processed' }];
    const ofBob = await subscribe('logs', ...mentions(bob.address));
    const ofNobody = await subscribe('logs', ...mentions(visitor.address));
    const good = pay(alice, bob, 1n);
    const bad = pay(bob, alice, 10n ** 18n);
    produceBlocks(1);
    t.match(
      (await received(ofBob)).map(({ value }) => value),
      [
        { signature: good, err: null },
        { signature: bad, err: { InstructionError: [0, { Custom: 1 }] } },
      ],
    );
    t.strictSame(await received(ofNobody), []);
  });

  t.test('a signature subscription notifies once, at the requested commitment', async (t) => {
    const { chain, wsUrl, produceBlocks, pay } = await start(t);
    const { subscribe, received } = await openListener(t, wsUrl);
    const signature = pay(alice, bob, 1n);
    const soon = await subscribe('signature', signature, { commitment: 'confirmed' });
    const later = await subscribe('signature', signature);
    produceBlocks(4);
    t.strictSame([(await received(soon)).length, (await received(later)).length], [1, 0]);
    const { slot } = chain.transaction(signature) ?? { slot: 0 };
    t.strictSame(await received(soon), [{ context: { slot }, value: { err: null } }]);
    produceBlocks(40);
    t.strictSame([(await received(soon)).length, (await received(later)).length], [1, 1]);
  });

  t.test('roots and updates of slots are notified', async (t) => {
    const { chain, wsUrl, produceBlocks, pay } = await start(t);
    const { subscribe, received } = await openListener(t, wsUrl);
    produceBlocks(40);
    const [roots, updates] = [await subscribe('root'), await subscribe('slotsUpdates')];
    pay(alice, bob, 1n);
    const before = chain.slot('confirmed');
    produceBlocks(1);
    const newest = chain.slot('processed');
    const confirmed = chain.slotsWithBlock(before + 1, chain.slot('confirmed'));
    t.strictSame(await received(roots), [chain.slot('finalized')]);
    t.match(await received(updates), [
      { type: 'root', slot: chain.slot('finalized') },
      { type: 'completed', slot: newest },
      { type: 'frozen', slot: newest, stats: { numSuccessfulTransactions: 1, numFailedTransactions: 0 } },
      { type: 'createdBank', slot: newest + 1, parent: newest },
      ...confirmed.map((slot) => ({ type: 'optimisticConfirmation', slot })),
    ]);
  });

  t.test('a fork notifies processed subscribers of the reverted accounts', async (t) => {
    const { control, wsUrl, produceBlocks, pay, url } = await start(t);
    const { subscribe, received } = await openListener(t, wsUrl);
    const id = await subscribe('account', bob.address, { commitment: 'processed' });
    const slots = await subscribe('slot');
    const balance = await rpcRequest<{ value: number }>(url, 'getBalance', [bob.address, { commitment: 'processed' }]);
    pay(alice, bob, 7n);
    produceBlocks(1);
    const abandoned = await control.fork();
    produceBlocks(1);
    const created = await received(slots);
    t.notOk(created.slice(1).some(({ parent }) => abandoned.includes(parent)));
    t.equal(created[1]?.parent, (abandoned[0] ?? 0) - 1, 'the fork is announced with its first slot');
    t.equal(created[2]?.parent, created[1]?.slot);
    const spent = (await received(id)).map(({ value }) => value.lamports - balance.value);
    t.strictSame(spent, [7, 0]);
  });

  t.test('a message that is too long closes the connection', async (t) => {
    const { wsUrl } = await start(t);
    const { socket, call } = await openListener(t, wsUrl);
    t.match(await call('accountSubscribe', 'x'.repeat(4000)), { error: { code: -32602 } });
    const closed = once(socket, 'close');
    socket.send('x'.repeat(4097));
    const [code] = await closed;
    t.ok(code === 1009 || code === 1006, `closed with ${code}`);
  });
});

t.test('triggers', async (t) => {
  const PROGRAMS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

  interface Notification {
    readonly context: { readonly slot: number };
    readonly value: { readonly pubkey: string; readonly account: { readonly data: readonly [string, string] } };
  }

  /** Starts a chain with traffic; the returned function opens a subscription and returns what it receives from then on. */
  async function startSubscriptions() {
    const { clock, chain } = await createTestChain('triggers');
    const faucet = createFaucet(chain);
    await startTraffic(chain, { transactionsPerSlot: 5, seed: 5 });
    chain.produceBlock();
    const node = { chain, faucet, faults: new InjectedFaults(), clock, address: '127.0.0.1:1' };
    const defects: unknown[] = [];
    const registry = new SubscriptionRegistry(node, (thrown) => defects.push(thrown));
    chain.onSlot((event) => registry.publish(event));
    const subscribe = (program: string, commitment: string, filters: readonly object[]): Notification[] => {
      const received: Notification[] = [];
      const subscriber: Subscriber = { send: (text) => received.push(JSON.parse(text).params.result) };
      registry.call(subscriber, 'programSubscribe', [program, { encoding: 'base64', commitment, filters }]);
      return received;
    };
    return { chain, subscribe, node, registry, defects };
  }

  t.test('a notification that cannot be made ends its subscription, and nothing else', async (t) => {
    const { chain, subscribe, node, registry, defects } = await startSubscriptions();
    const defect = new TypeError('no time');
    node.clock.now = () => {
      throw defect; // read by slotsUpdates alone
    };
    const subscriber: Subscriber = { send: () => {} };
    registry.call(subscriber, 'slotsUpdatesSubscribe', []);
    const changes = subscribe(TOKEN_PROGRAM, 'processed', []);
    chain.produceBlock();
    chain.produceBlock();
    t.strictSame(defects, [defect], 'reported once');
    t.equal(registry.countOf(subscriber), 0);
    const slots = new Set(changes.map(({ context }) => context.slot));
    t.equal(slots.size, 2, 'other subscribers have the changes of both blocks');
  });

  t.test('a program subscription with filters receives what one without them does, and they match', async (t) => {
    const { chain, subscribe } = await startSubscriptions();
    const [wallet] = WALLETS;
    const byOwner = { memcmp: { offset: 32, bytes: wallet.address } };
    const filterSets = [
      [byOwner],
      [{ dataSize: 165 }, byOwner],
      ...COINS.map(({ mint }) => [{ memcmp: { offset: 0, bytes: mint.address } }]),
      [{ memcmp: { offset: 0, bytes: DOLLAR.mint.address } }, byOwner],
      [{ memcmp: { offset: 33, bytes: Buffer.from(wallet.address).toString('base64'), encoding: 'base64' } }],
      [{ dataSize: 182 }],
    ];
    const pairs = ['processed', 'confirmed', 'finalized'].flatMap((commitment) =>
      PROGRAMS.map((program) => ({
        all: subscribe(program, commitment, []),
        filtered: filterSets.map((filters) => subscribe(program, commitment, filters)),
      })),
    );
    for (let block = 0; block < 60; block++) {
      chain.produceBlock();
      if (block === 20) chain.fork();
    }
    for (const { all, filtered } of pairs) {
      t.ok(all.length > 0, `${all.length} notifications without filters`);
      filterSets.forEach((filters, index) => {
        const wanted = all.filter((notification) => filters.every((filter) => matches(notification, filter)));
        t.same(filtered[index], wanted, JSON.stringify(filters));
      });
    }
    t.ok(
      pairs.some(({ filtered: [ofOwner] }) => Number(ofOwner?.length) > 0),
      'accounts of the owner changed',
    );
  });

  /** Returns whether a notified account matches. */
  function matches({ value }: Notification, filter: object): boolean {
    const data = Buffer.from(value.account.data[0], 'base64');
    const { dataSize, memcmp } = filter as {
      dataSize?: number;
      memcmp?: { offset: number; bytes: string; encoding?: string };
    };
    if (memcmp === undefined) return data.length === dataSize;
    if (memcmp.encoding === 'base64') return false; // bytes that no account has
    return data.subarray(memcmp.offset, memcmp.offset + 32).equals(bs58.decode(memcmp.bytes));
  }
});

t.test('traffic-generator', async (t) => {
  const SLOTS = 160;

  /** Starts a chain with a minute of traffic; keeps every block of it. */
  async function playTraffic(seed = 1, slots = SLOTS) {
    const { chain } = await createTestChain('economy', { skipEvery: 23, slotsPerEpoch: 8192 });
    const stage = await startTraffic(chain, { transactionsPerSlot: 5, seed });
    const blocks: Block[] = [];
    chain.onSlot(({ processed }) => blocks.push(processed));
    for (let slot = 0; slot < slots; slot++) chain.produceBlock();
    return { chain, stage, blocks, played: blocks.slice(1).flatMap(({ transactions }) => transactions) };
  }

  const traffic = await playTraffic();

  /**
   * Lists the instructions of a transaction: the program's first letters, and the number that identifies the instruction
   * there.
   */
  const instructionsOf = ({ accountKeys, transaction }: LandedTransaction): string[] =>
    transaction.message.instructions.map(
      ({ programIdIndex, data }) => `${accountKeys[programIdIndex]?.slice(0, 7)} ${data[0]}`,
    );

  t.test('about five transactions land in a slot, and some fail', async (t) => {
    const { played } = traffic;
    const perSlot = played.length / SLOTS;
    t.ok(perSlot > 4 && perSlot < 6, `${perSlot} per slot`);
    const failed = played.filter(({ error }) => error !== null);
    const share = failed.length / played.length;
    t.ok(share > 0.04 && share < 0.16, `${share} fail`);
    t.ok(new Set(failed.map(({ error }) => JSON.stringify(error))).size >= 3, 'for several reasons');
  });

  t.test('every kind of transaction occurs', async (t) => {
    const { played } = traffic;
    const done = new Set(played.filter(({ error }) => error === null).flatMap(instructionsOf));
    for (const [step, what] of Object.entries({
      'Tokenke 12': 'a transfer of a classic coin',
      'TokenzQ 12': 'a transfer of a Token-2022 coin',
      'Tokenke 13': 'an approval',
      'Tokenke 14': 'minting',
      'Tokenke 15': 'burning',
      'TokenzQ 14': 'minting with Token-2022',
      'TokenzQ 15': 'burning with Token-2022',
      'Tokenke 17': 'wrapping SOL',
      'Tokenke 9': 'closing a token account',
      'Tokenke 18': 'opening one',
      'ATokenG 1': 'opening an associated one',
      '1111111 2': 'a transfer of SOL',
      '1111111 4': 'the advance of a nonce',
      'MemoSq4 105': 'a memo',
      'Compute 3': 'a bid for priority',
    })) {
      t.ok(done.has(step), what);
    }
    t.ok(
      played.some(
        ({ transaction: { message }, loadedAddresses }) => message.version === 0 && loadedAddresses.writable.length > 0,
      ),
      'version 0 through the lookup table',
    );
    t.ok(
      played.some(
        (landed) =>
          landed.error === null && instructionsOf(landed).filter((step) => step === 'Tokenke 12').length === 2,
      ),
      'a swap',
    );
    t.ok(
      played.some(({ innerInstructions }) => innerInstructions.some((calls) => calls.length > 0)),
      'programs that call programs',
    );
    const gone = played.some(({ preBalances, postBalances }) =>
      preBalances.some((before, index) => before > 0n && postBalances[index] === 0n),
    );
    t.ok(gone, 'accounts that are closed');
  });

  t.test('the balances in a transaction fall by exactly its fee', async (t) => {
    const wrong = traffic.played.filter(({ fee, transaction }) => fee !== feeOf(transaction.message));
    t.same(wrong, []);
  });

  t.test('a block lists exactly the accounts that it changed', async (t) => {
    const { chain, blocks } = traffic;
    const addresses = new Set(
      blocks.flatMap(({ transactions }) => transactions.flatMap(({ accountKeys }) => accountKeys)),
    );
    const recent = blocks.filter(({ parentSlot }) => parentSlot >= chain.slot('finalized'));
    t.ok(recent.length >= 30);
    const text = (address: string, slot: number): string => {
      const account = chain.accountAt(address, slot);
      return account ? `${account.lamports} ${account.owner} ${Buffer.from(account.data).toString('hex')}` : 'none';
    };
    let changes = 0;
    for (const { slot, parentSlot, changedAccounts } of recent) {
      for (const address of addresses) {
        if (address.startsWith('Sysvar')) continue; // a bank writes those whether or not their bytes differ
        const differs = text(address, slot) !== text(address, parentSlot);
        // An account may be changed and restored within a block; it is listed too.
        if (differs && !changedAccounts.has(address)) t.fail(`${address} changed unnoticed in ${slot}`);
        if (differs) changes++;
      }
    }
    t.ok(changes > 100);
  });

  t.test('the balances before a transaction are those after the one before it', async (t) => {
    const last = new Map<string, bigint>();
    let checked = 0;
    for (const { accountKeys, preBalances, postBalances, signature } of traffic.blocks.flatMap((b) => b.transactions)) {
      accountKeys.forEach((key, index) => {
        if (key.startsWith('Sysvar')) return;
        const before = last.get(key);
        if (before !== undefined && before !== preBalances[index]) t.fail(`${key} jumped before ${signature}`);
        last.set(key, postBalances[index] ?? 0n);
        checked++;
      });
    }
    t.ok(checked > 3000);
  });

  t.test('token balances add up: the sum over the accounts of a mint is its supply', async (t) => {
    const { chain } = traffic;
    for (const { mint, program, symbol } of COINS) {
      const supply = Buffer.from(chain.account(mint.address, 'processed')?.data ?? []).readBigUInt64LE(36);
      let total = 0n;
      for (const [, { data }] of chain.programAccounts(program, 'processed')) {
        const bytes = Buffer.from(data);
        const isAccount = bytes.length === 165 || bytes[165] === 2;
        if (!isAccount || !bytes.subarray(0, 32).equals(addressBytes(mint.address))) continue;
        total += bytes.readBigUInt64LE(64);
        // The fee of a transfer is withheld in the receiver's account, in its TransferFeeAmount extension.
        if (mint === TOLL.mint) total += withheld(bytes);
      }
      t.equal(total, supply, symbol);
    }
  });

  t.test('each coin has its metadata where wallets read it', async (t) => {
    const { chain } = traffic;
    for (const { mint, name, symbol } of [DOLLAR, GOLD]) {
      const account = chain.account(findMetadataAddress(mint.address), 'finalized');
      t.equal(account?.owner, 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s');
      t.match(Buffer.from(account?.data ?? []).toString('latin1'), new RegExp(`${name}.*${symbol}`, 's'));
    }
    for (const { mint, name, symbol } of [POINTS, TOLL]) {
      const account = chain.account(mint.address, 'finalized');
      t.match(Buffer.from(account?.data ?? []).toString('latin1'), new RegExp(`${name}.*${symbol}`, 's'));
    }
  });

  t.test('one account has more lamports than a double can represent, and never changes', async (t) => {
    const { chain } = traffic;
    t.equal(chain.account(WHALE.address, 'finalized')?.lamports, 9_007_199_254_740_993n);
    t.same(chain.transactionsOf(WHALE.address), []);
  });

  t.test('priority fees are the prices that were paid, and higher for a contended account', async (t) => {
    const { chain, stage } = traffic;
    const fees = chain.prioritizationFees([]);
    t.equal(fees.length, 150);
    t.equal(fees.at(-1)?.slot, chain.slot('confirmed'));
    t.ok(fees.some(({ fee }) => fee > 0n) && fees.some(({ fee }) => fee === 0n));
    const vault = chain.prioritizationFees([stage.tokenAccountOf(DOLLAR, POOL)]);
    t.ok(vault.every(({ fee }, index) => fee >= (fees[index]?.fee ?? 0n)));
    t.ok(vault.some(({ fee }, index) => fee > (fees[index]?.fee ?? 0n)));
  });

  t.test('performance samples count slots and transactions', async (t) => {
    const [newest, ...older] = traffic.chain.performanceSamples(720);
    t.ok(newest && older.length > 0);
    const counted = [newest, ...older].reduce((sum, sample) => sum + (sample?.transactions ?? 0), 0);
    const made = traffic.blocks.filter(({ slot }) => slot <= (newest?.slot ?? 0));
    t.equal(
      counted,
      made.reduce((sum, { transactions }) => sum + transactions.length, 0),
    );
    t.equal(newest?.seconds, 60);
  });

  t.test('the same seed gives the same traffic, another seed another', async (t) => {
    const signaturesOf = ({ played }: typeof traffic) => played.map(({ signature }) => signature);
    const again = signaturesOf(await playTraffic(1, 20));
    t.same(again, signaturesOf(traffic).slice(0, again.length));
    t.notSame(signaturesOf(await playTraffic(8, 20)), again);
  });

  t.test('traffic continues after a fork', async (t) => {
    const { chain, blocks } = await playTraffic(3, 10);
    for (let i = 0; i < 20; i++) {
      chain.fork();
      chain.produceBlock();
      chain.produceBlock();
    }
    const branch = blocks.slice(-20).flatMap(({ transactions }) => transactions);
    t.ok(branch.length > 40);
    t.ok(branch.filter(({ error }) => error === null).length > branch.length / 2);
    t.ok(WALLETS.every(({ address }) => (chain.account(address, 'processed')?.lamports ?? 0n) > 0n));
  });

  function addressBytes(address: string): Buffer {
    return Buffer.from(bs58.decode(address));
  }

  /** Walks the extensions of a Token-2022 account to TransferFeeAmount (2). */
  function withheld(account: Buffer): bigint {
    for (let at = 166; at + 4 <= account.length; at += 4 + account.readUInt16LE(at + 2)) {
      if (account.readUInt16LE(at) === 2) return account.readBigUInt64LE(at + 4);
    }
    return 0n;
  }
});
