import { once } from 'node:events';
import { getTransferSolInstruction } from '@solana-program/system';
import { getTransferCheckedInstruction } from '@solana-program/token';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { CLOCK_SYSVAR, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { createGenesis } from '../../../../src/localnet/cluster-genesis.ts';
import { startInThreadCluster } from '../../../../src/localnet/in-thread-cluster.ts';
import { buildTransaction } from '../../../../src/localnet/traffic/build-transaction.ts';
import { DOLLAR, GOLD, TRANSIENT_WALLETS, WALLETS } from '../../../../src/localnet/traffic/demo-accounts.ts';
import type { Keypair } from '../../../../src/localnet/traffic/demo-keypair.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { rpcRequest } from '../../../support/rpc-request.ts';
import { setupStore } from '../../../support/setup-store.ts';

const [alice, bob = alice, carol = alice] = WALLETS;
const [visitor] = TRANSIENT_WALLETS;
const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

/** Starts a cluster whose blocks the test produces. */
async function start(t: Test) {
  const clock = new ManualClock();
  const genesis = createGenesis(new Uint8Array(32).fill(7), clock.now());
  const cluster = await startInThreadCluster(clock, genesis, { transactionsPerSlot: 0, skipEvery: 0 }, setupStore);
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

/** Opens a WebSocket that records its notifications. */
async function openListener(t: Test, wsUrl: string) {
  const socket = new WebSocket(wsUrl);
  t.teardown(() => socket.terminate());
  const notifications: any[] = [];
  const replies = new Map<number, (reply: any) => void>();
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.method === undefined) replies.get(message.id)?.(message);
    else notifications.push(message);
  });
  await once(socket, 'open');
  const call = (method: string, ...params: unknown[]): Promise<any> =>
    new Promise((resolve) => {
      const id = replies.size + 1;
      replies.set(id, resolve);
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  const subscribe = async (kind: string, ...params: unknown[]): Promise<number> =>
    (await call(`${kind}Subscribe`, ...params)).result;
  /** Returns the results received so far, of one subscription or of all. */
  const received = async (subscription?: number): Promise<any[]> => {
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
  await subscribe('root');
  await subscribe('slotsUpdates');
  produceBlocks(1);
  await received();
  const [processed, confirmed, finalized] = COMMITMENTS.map((commitment) => chain.slot(commitment));
  const describe = ({ method, params: { result } }: any): string =>
    `${result.type ?? method} ${result.context?.slot ?? result.slot ?? result}`;
  t.strictSame(notifications.map(describe), [
    `frozen ${processed}`,
    `rootNotification ${finalized}`,
    `root ${finalized}`,
    `accountNotification ${finalized}`,
    `accountNotification ${processed}`,
    `slotNotification ${Number(processed) + 1}`,
    `createdBank ${Number(processed) + 1}`,
    `completed ${processed}`,
    `accountNotification ${confirmed}`,
    `optimisticConfirmation ${confirmed}`,
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
  t.not(await second.subscribe('root'), id);
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
  t.strictSame(
    matching.map(({ value }) => value.pubkey).sort(),
    [DOLLAR, GOLD].map((coin) => setup.tokenAccountOf(coin, bob) as string).sort(),
  );
  t.equal(matching[0].value.account.data.parsed.info.owner, bob.address);
  t.strictSame(silent, []);
  t.equal(everything.length, 4);
  t.match(await call('programSubscribe', TOKEN_PROGRAM, { filters: Array(5).fill(ofBob) }), {
    error: { code: -32602, message: 'Too many filters provided; max 4' },
  });
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

t.test('a fork notifies processed subscribers of the reverted accounts', async (t) => {
  const { control, wsUrl, produceBlocks, pay, url } = await start(t);
  const { subscribe, received } = await openListener(t, wsUrl);
  const id = await subscribe('account', bob.address, { commitment: 'processed' });
  const slots = await subscribe('slot');
  const balance = await rpcRequest(url, 'getBalance', [bob.address, { commitment: 'processed' }]);
  pay(alice, bob, 7n);
  produceBlocks(1);
  const abandoned = await control.fork();
  produceBlocks(1);
  const created: { slot: number; parent: number }[] = await received(slots);
  t.notOk(created.slice(1).some(({ parent }) => abandoned.includes(parent)));
  t.equal(created[1]?.parent, (abandoned[0] ?? 0) - 1, 'the fork is announced with its first slot');
  t.equal(created[2]?.parent, created[1]?.slot);
  t.strictSame(
    (await received(id)).map(({ value }) => value.lamports - balance.value),
    [7, 0],
  );
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
