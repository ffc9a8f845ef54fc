import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import bs58 from 'bs58';
import t, { type Test } from 'tap';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { DOLLAR, WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { COMMITMENTS } from '../../src/shared/domain/commitment.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { issueKey, revokeKey } from '../support/access/api-key-fixtures.ts';
import { type SteppedHarness, startStepped, waitFor } from '../support/harness.ts';
import { pluck } from '../support/pluck.ts';
import { type PubsubTestClient as Client, connect, type Notification } from '../support/pubsub-test-client.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { rpcRequest } from '../support/rpc-request.ts';
import { stallPeers } from '../support/stalled-peers.ts';
import { addressFromByte, tokenAccountFixture } from '../support/token-account-fixtures.ts';
import { untilCurrent } from '../support/until-current.ts';
import { untilSettled } from '../support/until-settled.ts';
import { frame, OP } from '../support/websocket-frame.ts';
import { WebSocketPeer } from '../support/websocket-peer.ts';

const UPGRADE = [
  ...['GET /api/v1/rpc HTTP/1.1', 'Host: localhost', 'Connection: Upgrade', 'Upgrade: websocket'],
  ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
];

/** A signature of no transaction. */
const SIGNATURE = '1'.repeat(64);

const pubsubOf = ({ gateway }: Pick<SteppedHarness, 'gateway'>): string => `${gateway.url}/api/v1/rpc`;

t.test('pubsub-conformance', async (t) => {
  const world = await startStepped(t, { perSlot: 2, set: ['limits.free.subscriptions=100', 'limits.free.streams=50'] });
  const { cluster, step } = world;
  const [{ address: wallet }] = WALLETS;
  const account = addressFromByte(40);
  const put = (lamports: bigint, bytes = 0): void =>
    cluster.chain.setAccount(account, {
      lamports,
      owner: SYSTEM_PROGRAM,
      executable: false,
      data: new Uint8Array(bytes).fill(Number(lamports % 256n)),
    });
  put(1n);
  await step(40, 4);
  await untilCurrent(world);
  const open = (t: Test): Promise<Client> => connect(t, pubsubOf(world));
  const confirmed = { commitment: 'confirmed' };
  /** Steps until a promise is settled: accounts become live with slots. */
  const stepped = <T>(pending: Promise<T>): Promise<T> => untilSettled(pending, step);
  /** Steps until a subscription has been notified that often. */
  const until = async (client: Client, subscription: unknown, count: number): Promise<readonly Notification[]> => {
    for (let steps = 0; client.of(subscription).length < count; steps++) {
      if (steps > 100) throw new Error(`${client.of(subscription).length} of ${count} notifications`);
      await step();
    }
    return client.of(subscription);
  };

  t.test('no first value: the first notification is a change', async (t) => {
    const client = await open(t);
    const { result: id } = await client.call('accountSubscribe', account, confirmed);
    t.type(id, 'number');
    await step(4);
    t.same(client.of(id), []);
    put(2n);
    t.match(await until(client, id, 1), [{ context: { slot: Number }, value: { lamports: 2 } }]);
    t.same(Object.keys(client.of(id)[0]?.context ?? {}), ['slot'], 'the context has a slot only');
  });

  t.test('equal parameters give the same id on a connection, and one unsubscribe ends it', async (t) => {
    const client = await open(t);
    const { result: id } = await client.call('accountSubscribe', account, confirmed);
    t.equal((await client.call('accountSubscribe', account, { ...confirmed, encoding: null })).result, id);
    t.not((await client.call('accountSubscribe', account, { ...confirmed, encoding: 'base64' })).result, id);
    t.equal((await client.call('accountUnsubscribe', id)).result, true);
    t.match((await client.call('accountUnsubscribe', id)).error, { code: -32602, message: 'Invalid subscription id.' });
    put(3n);
    await step(4);
    t.same(client.of(id), []);
  });

  t.test('messages of one packet are answered in order once their account or logs are live', async (t) => {
    const logs = { mentions: [account] };
    const client = await open(t);
    await client.call('accountSubscribe', account, confirmed);
    await stepped(client.call('logsSubscribe', logs, confirmed));
    const peer = await WebSocketPeer.open(world.gateway.url, '', undefined, '/api/v1/rpc');
    t.teardown(() => peer.connection.reset());
    const calls = [
      ['accountSubscribe', [account, confirmed]],
      ['accountSubscribe', [account, { ...confirmed, encoding: 'base64' }]],
      ['logsSubscribe', [logs, confirmed]],
      ['accountUnsubscribe', [0]],
    ];
    await peer.send(
      Buffer.concat(
        calls.map(([method, params], id) => frame(OP.text, JSON.stringify({ jsonrpc: '2.0', id, method, params }))),
      ),
    );
    const answers = peer.replies.map(({ payload }) => JSON.parse(String(payload)));
    t.same(pluck(answers, 'id'), [0, 1, 2, 3]);
  });

  t.test('a batch, as of solana-py, is answered by one message before it is notified', async (t) => {
    const client = await open(t);
    const { signature = '' } =
      cluster.chain.transactionsOf(wallet).findLast(({ slot }) => slot <= cluster.chain.slot('finalized')) ?? {};
    const batch = (...calls: readonly (readonly [method: string, ...params: readonly unknown[]])[]): unknown =>
      calls.map(([method, ...params], i) => ({ jsonrpc: '2.0', id: 100 + i, method, params }));
    client.say(
      batch(['signatureSubscribe', signature], ['accountSubscribe', account, confirmed], ['programSubscribe', wallet]),
    );
    while (client.texts.length < 2) await step(); // the answers, and the landed transaction
    const answers = JSON.parse(client.texts[0] ?? '').sort((a: { id: number }, b: { id: number }) => a.id - b.id);
    t.match(answers, [
      { id: 100, result: Number },
      { id: 101, result: Number },
      { id: 102, error: { code: -32601 } },
    ]);
    t.match(JSON.parse(client.texts[1] ?? ''), { params: { subscription: answers[0].result } });
    put(4n);
    await until(client, answers[1].result, 1);
  });

  t.test('the default is finalized, and base58 without its name', async (t) => {
    const client = await open(t);
    const { result: id } = await client.call('accountSubscribe', account);
    for (const commitment of ['finalized', null, 'recent', 'max', 7])
      t.equal((await client.call('accountSubscribe', account, { commitment })).result, id, `${commitment}`);
    put(300n, 5);
    const isCurrent = (): boolean => client.of(id).at(-1)?.value['lamports'] === 300;
    for (let steps = 0; !isCurrent() && steps < 60; steps++) await step();
    const newest = client.of(id).at(-1);
    t.ok((newest?.context.slot ?? Number.POSITIVE_INFINITY) <= cluster.chain.slot('finalized'));
    t.equal(newest?.value['data'], bs58.encode(new Uint8Array(5).fill(300 % 256)));
  });

  t.test('with slotgate in its parameters a subscription begins with the present value', async (t) => {
    const client = await open(t);
    const params = [account, { ...confirmed, encoding: 'base64', slotgate: {} }];
    const { value } = await rpcRequest<{ value: object }>(cluster.url, 'getAccountInfo', [
      account,
      { ...confirmed, encoding: 'base64' },
    ]);
    const { result: id } = await stepped(client.call('accountSubscribe', ...params));
    const [first] = await until(client, id, 1);
    t.same(
      { ...first, value: { ...first?.value, rentEpoch: 0 } },
      {
        context: { slot: Number(first?.slotgate?.event.split('.')[0]) },
        value: { ...value, rentEpoch: 0 },
        slotgate: { event: first?.slotgate?.event, gap: null },
      },
    );
    t.equal((await client.call('accountSubscribe', ...params)).result, id, 'equal parameters have one id');
    const other = await open(t);
    const { result: otherId } = await stepped(other.call('accountSubscribe', ...params));
    await until(other, otherId, 1);
    put(301n);
    for (const [each, eachId] of [
      [client, id],
      [other, otherId],
    ] as const) {
      const [, change] = await until(each, eachId, 2);
      t.match(change, { value: { lamports: 301 }, slotgate: { event: /^\d+\.0$/ } });
      t.notOk(change?.slotgate && 'gap' in change.slotgate, 'a change has none');
    }
    t.equal((await client.call('accountUnsubscribe', id)).result, true);
    put(300n, 5);
    await until(other, otherId, 3);
    t.equal(client.of(id).length, 2, 'the subscription has ended');
  });

  t.test('bytes that only a Geyser feed has are refused, and what a node parses is given', async (t) => {
    const client = await open(t);
    const token = cluster.setup.tokenAccountOf(DOLLAR, WALLETS[0]);
    const subscribe = (encoding: string) =>
      stepped(client.call('accountSubscribe', token, { ...confirmed, encoding, slotgate: {} }));
    t.match((await subscribe('base64')).error, { code: -32602, message: /no bytes of what a node parses/ });
    const { result: id } = await subscribe('jsonParsed');
    const [first] = await until(client, id, 1);
    t.match(first?.value, { data: { program: 'spl-token', parsed: { type: 'account' } } });
  });

  t.test('a deleted account arrives zeroed', async (t) => {
    const client = await open(t);
    const { result: id } = await client.call('accountSubscribe', account, { ...confirmed, encoding: 'base64' });
    put(0n);
    const [closed] = await until(client, id, 1);
    t.strictSame(closed?.value, {
      lamports: 0,
      data: ['', 'base64'],
      owner: SYSTEM_PROGRAM,
      executable: false,
      rentEpoch: 0,
      space: 0,
    });
    put(1n);
    await step(2);
  });

  t.test('each encoding and slice is notified as by the node, member by member', async (t) => {
    const [client, direct] = [await open(t), await connect(t, cluster.wsUrl)];
    const views = [
      {},
      { encoding: 'base58', dataSlice: { offset: 0, length: 8 } },
      { encoding: 'base64' },
      { encoding: 'base64', dataSlice: { offset: 64, length: 8 } },
      { encoding: 'base64+zstd' },
      { encoding: 'jsonParsed' },
    ];
    const token = addressFromByte(41);
    const change = (amount: number): void => {
      put(BigInt(amount), 70);
      cluster.chain.setAccount(token, {
        ...tokenAccountFixture(wallet, amount, DOLLAR.mint.address),
        owner: TOKEN_PROGRAM,
      });
    };
    change(500);
    await step(4);
    await untilCurrent(world);
    const ids: unknown[][] = [];
    for (const address of [account, token])
      for (const view of views) {
        const params = [address, { ...confirmed, ...view }];
        const subscribed = await Promise.all([client, direct].map((each) => each.call('accountSubscribe', ...params)));
        ids.push(subscribed.map(({ result }) => result));
      }
    for (let amount = 501; amount < 504; amount++) {
      change(amount);
      await step(4);
      for (const [id, directId] of ids) {
        await until(client, id, amount - 500);
        await until(direct, directId, amount - 500);
      }
    }
    for (const [id, directId] of ids) {
      const valuesOf = (notified: readonly Notification[]): unknown => notified.map(({ value }) => value);
      t.strictSame(valuesOf(client.of(id)), valuesOf(direct.of(directId)));
      const slots = client.of(id).map(({ context }) => context.slot);
      t.same(
        slots,
        slots.toSorted((a, b) => a - b),
        'no slot goes back',
      );
    }
    const keysOf = (text: string): readonly string[] => Object.keys(JSON.parse(text).params.result.value);
    const notified = client.texts.find((text) => text.includes('Notification')) ?? '';
    t.same(keysOf(notified), ['lamports', 'data', 'owner', 'executable', 'rentEpoch', 'space']);
  });

  t.test('a transaction is notified once it has the commitment, immediately if it has it, and once', async (t) => {
    const client = await open(t);
    const { signature = '' } =
      cluster.chain.transactionsOf(wallet).findLast(({ slot }) => slot <= cluster.chain.slot('finalized')) ?? {};
    const { result: landed } = await client.call('signatureSubscribe', signature);
    t.same(client.of(landed), [], 'not with the answer: kit drops what it reads together with that');
    await until(client, landed, 1);
    t.match(client.of(landed), [{ context: { slot: Number }, value: { err: null } }]);
    const sent = await rpcRequest<string>(cluster.url, 'requestAirdrop', [wallet, 1]);
    const { result: pending } = await client.call('signatureSubscribe', sent, { commitment: 'finalized' });
    await step(3);
    t.same(client.of(pending), []);
    await until(client, pending, 1);
    const landedAt = cluster.chain.transaction(sent)?.slot ?? 0;
    t.ok(landedAt <= cluster.chain.slot('finalized'));
    t.match((await client.call('signatureUnsubscribe', pending)).error, { code: -32602 }, 'the subscription has ended');
    t.equal(client.of(pending).length, 1);
  });

  t.test('the transactions that mention an address are notified as by the node', async (t) => {
    const [client, direct] = [await open(t), await connect(t, cluster.wsUrl)];
    for (const commitment of ['processed', 'confirmed', 'finalized']) {
      const params = [{ mentions: [wallet] }, { commitment }];
      const ids = await Promise.all([client, direct].map((each) => each.call('logsSubscribe', ...params)));
      const [id, directId] = ids.map(({ result }) => result);
      const texts = (each: Client, subscription: unknown): readonly string[] =>
        each.texts.flatMap((text) =>
          text.split(`,"subscription":${subscription}}}`).slice(1).length > 0
            ? (text.split(',"subscription"')[0] ?? '')
            : [],
        );
      const common = (): number => Math.min(texts(client, id).length, texts(direct, directId).length);
      for (let steps = 0; common() < 3 && steps < 100; steps++) await step();
      t.ok(common() >= 3, commitment);
      t.strictSame(texts(client, id).slice(0, common()), texts(direct, directId).slice(0, common()), commitment);
      t.equal((await client.call('logsUnsubscribe', id)).result, true);
    }
  });

  t.test('slots and roots are notified in order, slots with their parents', async (t) => {
    interface SlotNotification {
      readonly slot: number;
      readonly parent: number;
      readonly root: number;
    }
    const [client, direct] = [await open(t), await connect(t, cluster.wsUrl)];
    const [{ result: directId }, { result: id }] = [
      await direct.call('slotSubscribe'),
      await client.call('slotSubscribe'),
    ];
    const { result: root } = await client.call('rootSubscribe');
    const slotsOf = (each: Client, subscription: unknown) =>
      each.of(subscription) as unknown as readonly SlotNotification[];
    const parents = (): ReadonlyMap<number, number> =>
      new Map(slotsOf(direct, directId).map(({ slot, parent }) => [slot, parent]));
    const known = () => slotsOf(client, id).filter(({ slot }) => parents().has(slot));
    for (let steps = 0; known().length < 5 && steps < 100; steps++) await step();
    t.ok(known().length >= 5);
    for (const { slot, parent, root } of known()) {
      t.equal(parent, parents().get(slot), 'as the node names it');
      t.ok(root <= slot);
    }
    const slots = slotsOf(client, id).map(({ slot }) => slot);
    t.strictSame(
      slots,
      [...new Set(slots)].toSorted((a, b) => a - b),
    );
    t.ok((client.of(root) as unknown as number[]).every(Number.isSafeInteger));
    t.equal((await client.call('slotUnsubscribe', id)).result, true);
  });

  t.test('what is refused has the code of a node, and names the alternative', async (t) => {
    const client = await open(t);
    const refused: readonly (readonly [
      code: number,
      message: RegExp,
      method: string,
      ...params: readonly unknown[],
    ])[] = [
      [-32601, /programSubscribe is not offered: use accountSubscribe/, 'programSubscribe', SYSTEM_PROGRAM],
      [-32601, /GET \/api\/v1\/block\/SLOT/, 'blockSubscribe', 'all'],
      [-32601, /voteSubscribe is not offered/, 'voteSubscribe'],
      [-32601, /is offered for {"mentions":\[ADDRESS\]}, not "all"/, 'logsSubscribe', 'all'],
      [-32602, /^Invalid Request: Only 1 address supported$/, 'logsSubscribe', { mentions: [] }],
      [-32602, /^Invalid Request: Invalid mentions provided$/, 'logsSubscribe', { mentions: ['nobody'] }],
      [-32602, /the first parameter must be/, 'logsSubscribe', {}],
      [-32601, /POST all other methods to \/api\/v1\/rpc/, 'getSlot'],
      [-32601, /POST all other methods/, '__proto__Subscribe'],
      [-32602, /^Invalid Request: Invalid pubkey provided$/, 'accountSubscribe', 'nobody'],
      [-32602, /`params` should have at least 1 argument\(s\)/, 'accountSubscribe'],
      [-32602, /encoding must be one of/, 'accountSubscribe', account, { encoding: 'hex' }],
      [-32602, /dataSlice/, 'accountSubscribe', account, { dataSlice: { offset: -1 } }],
      [-32602, /Invalid Request: Invalid signature provided/, 'signatureSubscribe', account],
      [-32602, /^Invalid parameters: No parameters were expected$/, 'slotSubscribe', { commitment: 'confirmed' }],
      [-32602, /^slotgate must be an object$/, 'accountSubscribe', account, { slotgate: true }],
      [-32602, /slotgate has only the members since and/, 'accountSubscribe', account, { slotgate: { first: true } }],
      [-32602, /slotgate.since must be null or/, 'accountSubscribe', account, { slotgate: { since: 'x' } }],
      [-32602, /slotgate.receipts must be true/, 'accountSubscribe', account, { slotgate: { receipts: 1 } }],
      [-32602, /may take back/, 'accountSubscribe', account, { commitment: 'processed', slotgate: {} }],
      [-32602, /^slotgate is for accountSubscribe$/, 'logsSubscribe', { mentions: [wallet] }, { slotgate: {} }],
      [-32602, /^slotgate is for accountSubscribe$/, 'signatureSubscribe', SIGNATURE, { slotgate: {} }],
      [-32602, /Invalid subscription id/, 'accountUnsubscribe', 1e9],
    ];
    for (const [code, message, method, ...params] of refused) {
      world.clock.advance(100); // what is refused has the pace of messages
      t.match((await client.call(method, ...params)).error, { code, message }, method);
    }
    client.say('{"jsonrpc":"2.0","id":9223372036854775807,"method":"slotSubscribe"}');
    await waitFor(() => client.texts.some((text) => text.endsWith('"id":9223372036854775807}')), 'an id of solana-go');
    client.say({ op: 'subscribe', topic: 'balance', id: 'own' });
    await waitFor(() => client.texts.some((text) => text.includes('/api/v1/stream')));
  });

  t.test('messages that no client should send are answered as by a node (agave 4.2.2)', async (t) => {
    const call = (id: string, method = 'slotSubscribe'): string => `{"jsonrpc":"2.0","id":${id},"method":"${method}"}`;
    const unsubscribe = (id: string): string => `{"jsonrpc":"2.0","id":1,"method":"slotUnsubscribe","params":[${id}]}`;
    const PARSE = '-32700 null';
    const answered: Record<string, string> = {
      ...Object.fromEntries(['{', '1', '"a"', 'null', '', '['.repeat(4000)].map((message) => [message, PARSE])),
      ...Object.fromEntries(['[1]', '[[]]', `[[${call('1')}]]`, `[${call('1')},1]`].map((message) => [message, PARSE])),
      [`[${'1,'.repeat(1000)}1]`]: PARSE,
      ...Object.fromEntries(['1.5', '1.0', '-1', '1e3', '{}', '[1]', 'true'].map((id) => [call(id), PARSE])),
      [call('18446744073709551616')]: PARSE,
      [call('18446744073709551615')]: 'result 18446744073709551615',
      [call('"a\\u0000"')]: 'result "a\\u0000"',
      [call('null')]: 'result null',
      '{}': '-32600 null',
      '{"id":1}': '-32600 1',
      '{"id":1,"method":"slotSubscribe"}': '-32600 1',
      '{"jsonrpc":"1.0","id":1,"method":"slotSubscribe"}': '-32600 1',
      '{"jsonrpc":"2.0","id":1,"method":["slotSubscribe"]}': '-32600 1',
      '{"jsonrpc":"2.0","id":1,"method":"accountSubscribe","params":{"a":1}}': '-32602 1',
      [call('1', 'nopeUnsubscribe')]: '-32601 1',
      [call('1', 'slotUnsubscribe')]: '-32602 1',
      ...Object.fromEntries(
        ['999999', '18446744073709551616', '-1', '1.5', 'null', '"1"', '{}', '[0]', 'true'].map((id) => [
          unsubscribe(id),
          '-32602 1',
        ]),
      ),
      '[]': '',
      '{"jsonrpc":"2.0","method":"slotSubscribe"}': '',
      '[{"jsonrpc":"2.0","method":"ping"}]': '',
    };
    const other = await open(t);
    const { result: foreign } = await other.call('rootSubscribe');
    const client = await open(t);
    const live = call('9', 'accountSubscribe').replace('}', `,"params":${JSON.stringify([account, confirmed])}}`);
    await other.call('accountSubscribe', account, confirmed);
    answered[live] = 'result 9';
    t.match((await client.call('rootUnsubscribe', foreign)).error, {
      code: -32602,
      message: 'Invalid subscription id.',
    });
    for (const [message, expected] of Object.entries(answered)) {
      world.clock.advance(200); // the pace of two messages
      const before = client.texts.length;
      client.say(message);
      await client.call('getHealth'); // which is answered after it
      const answers = client.texts.slice(before).filter((text) => !text.includes('Notification'));
      const summaries = answers.slice(0, -1).map((text) => {
        const [, code] = /"code":(-\d+)/.exec(text) ?? [];
        return `${code ?? 'result'} ${/"id":([^}]+)}$/.exec(text)?.[1]}`;
      });
      t.equal(summaries.join(), expected, message.slice(0, 80));
    }
    client.say(Buffer.from(call('7')));
    client.say(Buffer.from([0xff, 0xfe]));
    await waitFor(() => client.texts.some((text) => text.endsWith('"id":7}')), 'a binary frame');
    t.equal((await other.call('rootUnsubscribe', foreign)).result, true);
    client.say(call('8') + ' '.repeat(4096));
    t.match(await client.closed, { code: 1009 });
  });
});

t.test('pubsub-cost', async (t) => {
  const world = await startStepped(t, {
    set: [
      'limits.free.streams=200',
      'limits.free.subscriptions=10',
      'limits.free.units=100',
      'limits.free.messages=20',
      'live.logs=1',
    ],
  });
  const { cluster, step } = world;
  await step(4);
  const addresses = Array.from({ length: 10 }, (_, i) => addressFromByte(60 + i));
  const put = (address: string, lamports: bigint): void =>
    cluster.chain.setAccount(address, { lamports, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) });
  const upstream = async (): Promise<number> =>
    (await cluster.control.subscriptionCounts()).reduce((sum, count) => sum + count, 0);

  t.test('a subscription costs a unit, and those beyond the limit are refused', async (t) => {
    const client = await connect(t, pubsubOf(world));
    const remaining = async (): Promise<number> =>
      Number((await world.get('/health')).headers.get('x-ratelimit-remaining'));
    const before = await remaining();
    const answers = await Promise.all(addresses.map((address) => client.call('accountSubscribe', address)));
    t.equal(new Set(answers.map(({ result }) => result)).size, 10);
    t.equal(await remaining(), before - 10);
    t.match(await client.call('accountSubscribe', addressFromByte(99)), {
      error: { code: -32603, message: 'a connection may have 10 subscriptions', data: { error: 'rate_limited' } },
    });
    client.close();
    world.clock.advance(10_000);
    await step();
  });

  t.test('any number of clients cost one subscription of the node for each account and its logs', async (t) => {
    const before = await upstream();
    const ofSessions = 2 * 4; // of logs, and of accounts if the last one has ended: the Clock at each commitment, slots
    const clients: Client[] = [];
    const ids: unknown[][] = [];
    for (let i = 0; i < 20; i++) {
      const client = await connect(t, pubsubOf(world));
      clients.push(client);
      const named = addresses.slice(i % 5, (i % 5) + 5);
      ids.push(
        await Promise.all(
          named.map(async (address) => {
            world.clock.advance(1000); // the pace of subscriptions
            return (await client.call('accountSubscribe', address, { commitment: 'confirmed' })).result;
          }),
        ),
      );
      t.type((await client.call('logsSubscribe', { mentions: [addresses[0]] })).result, 'number');
    }
    const another = Promise.resolve(clients[0]?.call('logsSubscribe', { mentions: [addresses[1]] }));
    t.match((await untilSettled(another, step))?.error, {
      message: /no place is left for the logs of another address/,
    });
    await step(2);
    t.ok((await upstream()) - before <= 10 + 1 + ofSessions, String((await upstream()) - before));
    for (const [i, address] of addresses.entries()) put(address, BigInt(1000 + i));
    await step(4);
    for (const [i, client] of clients.entries())
      for (const [j, id] of (ids[i] ?? []).entries()) {
        await waitFor(() => client.of(id).length > 0, 'the change');
        t.equal(client.of(id).at(-1)?.value['lamports'], 1000 + (i % 5) + j);
      }
  });

  t.test('to end subscriptions costs no message; a client that repeats what is refused is slowed down', async (t) => {
    world.clock.advance(10_000);
    const client = await connect(t, pubsubOf(world));
    const ids = await Promise.all(addresses.map(async (each) => (await client.call('accountSubscribe', each)).result));
    const refused = async (): Promise<string> => {
      const { error } = await client.call('accountSubscribe', addressFromByte(99));
      return String(error?.data?.error);
    };
    for (let i = 0; i < 10; i++) t.equal(await refused(), 'rate_limited', 'in the pace of ten messages');
    const repeated = refused();
    await client.call('accountUnsubscribe', ids[0]);
    for (const id of ids.slice(1)) t.equal((await client.call('accountUnsubscribe', id)).result, true);
    const unanswered = Symbol();
    t.equal(await Promise.race([repeated, unanswered]), unanswered);
    world.clock.advance(1000);
    t.equal(await repeated, 'rate_limited', 'a second later');
    client.close();
  });

  t.test('a flood of requests that are refused, or of messages without an answer, ends the connection', async (t) => {
    const client = await connect(t, pubsubOf(world));
    for (let i = 0; i < 1100; i++) client.say({ jsonrpc: '2.0', id: i, method: 'programSubscribe', params: [] });
    t.match(await client.closed, { code: 4429 });
    const silent = await connect(t, pubsubOf(world));
    for (let i = 0; i < 100; i++) silent.say({ jsonrpc: '2.0', method: 'ping' });
    t.match(await silent.closed, { code: 4429 });
  });

  t.test('a batch gets no more subscriptions than a connection may have', async (t) => {
    world.clock.advance(10_000);
    const batching = await connect(t, pubsubOf(world));
    const batch = Array.from({ length: 15 }, (_, i) => addressFromByte(60 + i)).map((address, id) => {
      return { jsonrpc: '2.0', id, method: 'accountSubscribe', params: [address] };
    });
    batching.say(batch);
    while (batching.texts.length === 0) await step();
    t.equal((JSON.parse(batching.texts[0] ?? '') as { result?: number }[]).filter(({ result }) => result).length, 10);
    batching.close();
  });
});

t.test('pubsub-callers', async (t) => {
  const state = t.testdir();
  const set = ['stream.maxBackpressureBytes=4096', 'limits.free.streams=5'];
  const limits = ['limits.free.subscriptions=2', 'limits.build.subscriptions=3', 'live.maxAccountBytes=2000000'];
  const world = await startStepped(t, { state, set: [...set, ...limits] });
  const { cluster, step, gateway } = world;
  await step(4);
  const stepUntil = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
    for (let steps = 0; !(await isDone()); steps++) {
      if (steps > 200) throw new Error('nothing comes');
      await step();
    }
  };

  t.test('a key works by header and by subprotocol, with the limits of its tier, until it is revoked', async (t) => {
    const url = pubsubOf(world);
    const key = await issueKey(state);
    await stepUntil(async () => (await world.get('/slot', { headers: { 'x-api-key': key } })).status === 200);
    const methods: readonly (readonly [method: string, ...params: readonly unknown[]])[] = [
      ['slotSubscribe'],
      ['rootSubscribe'],
      ...COMMITMENTS.map((commitment) => ['signatureSubscribe', SIGNATURE, { commitment }] as const),
    ];
    const callers = { free: {}, header: { headers: { 'x-api-key': key } }, browser: { protocols: ['slotgate', key] } };
    const keyed: Client[] = [];
    for (const [caller, options] of Object.entries(callers)) {
      const client = await connect(t, url, options);
      const subscribed = Promise.all(methods.map(([method, ...params]) => client.call(method, ...params)));
      const answers = await untilSettled(subscribed, step); // subscriptions have a pace
      const limit = caller === 'free' ? 2 : 3;
      t.equal(answers.filter(({ result }) => result !== undefined).length, limit, caller);
      t.match(answers.at(-1)?.error, { message: `a connection may have ${limit} subscriptions` }, caller);
      t.match(answers.at(-1)?.error, { code: -32603, data: { error: 'rate_limited' } });
      if (caller === 'free') client.close();
      else keyed.push(client);
    }
    await revokeKey(apiKeysPath(state), key.slice(-8));
    const codes: number[] = [];
    for (const { closed } of keyed) void closed.then(({ code }) => codes.push(code));
    await stepUntil(() => codes.length === 2);
    t.same(codes, [4401, 4401]);
    await t.rejects(connect(t, url, { protocols: ['slotgate', key] }), 'refused before the upgrade');
    await t.rejects(connect(t, url, { headers: { 'x-api-key': 'sg_live_wrong' } }));
  });

  t.test('a first read that fails is repeated until the account is known', async (t) => {
    const account = addressFromByte(81);
    let failed = 0;
    world.node.overrides.set('getMultipleAccounts', ([addresses]) => {
      if (failed === 3 || !addresses.includes(account)) return undefined;
      failed++;
      return { error: '{"code":-32603,"message":"the node is busy"}' };
    });
    const client = await connect(t, pubsubOf(world));
    let result: unknown;
    const subscribed = client.call('accountSubscribe', account, { commitment: 'confirmed' }).then((answer) => {
      result = answer.result;
    });
    await waitFor(() => {
      world.clock.advance(100);
      return result !== undefined;
    }, 'the subscription');
    await subscribed;
    t.type(result, 'number');
    t.equal(failed, 3);
    world.node.overrides.clear();
    client.close();
  });

  t.test('data of a node that are no text are read again, and those of a megabyte are notified', async (t) => {
    const account = addressFromByte(82);
    const put = (lamports: bigint, bytes: number): void =>
      cluster.chain.setAccount(account, {
        lamports,
        owner: SYSTEM_PROGRAM,
        executable: false,
        data: new Uint8Array(bytes),
      });
    put(1n, 1);
    const slot = cluster.chain.slot('confirmed');
    const value = `{"lamports":1,"owner":"${SYSTEM_PROGRAM}","executable":false,"rentEpoch":0,"space":1,"data":[5,"base64"]}`;
    world.node.overrides.set('getMultipleAccounts', ([addresses]) =>
      addresses.includes(account) ? { result: `{"context":{"slot":${slot}},"value":[${value}]}` } : undefined,
    );
    const client = await connect(t, pubsubOf(world));
    const { result } = await client.call('accountSubscribe', account, { commitment: 'confirmed', encoding: 'base64' });
    world.node.overrides.clear();
    put(2n, 1_000_000);
    await stepUntil(() => client.of(result).some(({ value }) => value['lamports'] === 2));
    t.match(client.of(result).at(-1)?.value, { data: [Buffer.alloc(1_000_000).toString('base64'), 'base64'] });
    client.close();
  });

  t.test('a transaction is not final before a node says so, and has an outcome', async (t) => {
    const early = [
      '{"slot":1,"err":null}',
      '{"slot":1,"confirmations":0,"err":null}',
      '{"slot":1,"confirmations":31,"err":null,"confirmationStatus":null}',
      '{"slot":1,"confirmations":31,"err":null,"confirmationStatus":"rooted"}',
      '{"slot":1,"confirmations":null,"confirmationStatus":"finalized"}',
    ];
    const given = [...early];
    world.node.overrides.set('getSignatureStatuses', () => {
      const status = given.shift() ?? '{"slot":2,"confirmations":null,"err":null}';
      return { result: `{"context":{"slot":${cluster.chain.slot('processed')}},"value":[${status}]}` };
    });
    const client = await connect(t, pubsubOf(world));
    const { result } = await client.call('signatureSubscribe', SIGNATURE, { commitment: 'finalized' });
    await stepUntil(() => client.of(result).length > 0);
    t.strictSame(client.of(result), [{ context: { slot: 2 }, value: { err: null } }]);
    t.strictSame(given, []);
    world.node.overrides.clear();
    client.close();
  });

  t.test('a slow reader is closed with a reason, and events wait for it', async (t) => {
    const account = addressFromByte(80);
    const put = (lamports: bigint): void =>
      cluster.chain.setAccount(account, {
        lamports,
        owner: SYSTEM_PROGRAM,
        executable: false,
        data: new Uint8Array(0),
      });
    const open = async (config: object): Promise<WebSocketPeer> => {
      const peer = await WebSocketPeer.open(gateway.url, '', undefined, '/api/v1/rpc');
      t.teardown(() => peer.connection.reset());
      const params = [account, { commitment: 'confirmed', ...config }];
      const request = { jsonrpc: '2.0', id: 1, method: 'accountSubscribe', params };
      peer.connection.write(frame(OP.text, Buffer.from(JSON.stringify(request))));
      return peer;
    };
    const [slow, patient, ...readers] = await Promise.all([{}, { slotgate: {} }, {}, { slotgate: {} }].map(open));
    const [reader, eventReader] = readers;
    const hasNewest = (peer: WebSocketPeer | undefined): boolean =>
      peer?.connection.text.includes('"lamports":3') === true;
    await stepUntil(() => [slow, reader].every((peer) => peer?.frames.length === 1));
    await stepUntil(() => [patient, eventReader].every((peer) => peer?.frames.length === 2));
    if (slow === undefined || patient === undefined) throw new Error('no readers');
    await stallPeers(gateway.url, [slow, patient]);
    put(3n);
    await stepUntil(() => hasNewest(reader)); // it and the slow one are notified together
    slow.connection.socket.resume();
    await waitFor(() => slow.closeCode !== undefined, 'the end');
    t.equal(slow.closeCode, 1013);
    t.ok(slow.connection.text.includes('too slow: a notification could not be sent'));
    t.notOk(hasNewest(slow));
    await stepUntil(() => hasNewest(eventReader));
    patient.connection.socket.resume();
    await waitFor(() => hasNewest(patient), 'the newest event');
    t.equal(patient.closeCode, undefined);
  });

  t.test('after the end of the gateway a client is closed with a reason', async (t) => {
    const client = await connect(t, pubsubOf(world));
    await gateway.close();
    t.match(await client.closed, { code: 1001 });
  });
});

t.test('pubsub-over-node', async (t) => {
  const world = await startStepped(t, { perSlot: 1, hasSecondNode: true, set: ['http.engine=node'] });
  const { cluster, step } = world;
  await step(4);
  const client = await connect(t, pubsubOf(world));
  const stream = await connect(t, `${world.gateway.url}/api/v1/stream`);
  const account = addressFromByte(70);
  const put = (lamports: bigint): void =>
    cluster.chain.setAccount(account, { lamports, owner: SYSTEM_PROGRAM, executable: false, data: new Uint8Array(0) });
  put(1n);
  await step(2);
  const { result: id } = await client.call('accountSubscribe', account, { commitment: 'confirmed' });

  t.test('both WebSockets of the gateway are served, each with its own messages', async (t) => {
    await waitFor(() => stream.texts.length > 0, 'a frame');
    t.notMatch(stream.texts[0], /jsonrpc/);
  });

  const [{ address: wallet }] = WALLETS;
  const logIds = await Promise.all(
    COMMITMENTS.map(
      async (commitment) => (await client.call('logsSubscribe', { mentions: [wallet] }, { commitment })).result,
    ),
  );
  const firstSlot = cluster.chain.slot('processed') + 1;

  t.test('the death of the node closes no client, and the value is right after it', async (t) => {
    for (let kills = 1; kills <= 3; kills++) {
      await cluster.control.dropWebSockets();
      await rpcRequest(cluster.url, 'requestAirdrop', [wallet, kills]);
      put(BigInt(100 + kills));
      world.clock.advance(800); // slots that no node notifies of
      const isNotified = (): boolean => client.of(id).at(-1)?.value['lamports'] === 100 + kills;
      await waitFor(() => {
        world.clock.advance(100); // the gateway connects again by its clock
        return isNotified();
      }, 'the value');
    }
    const slots = client.of(id).map(({ context }) => context.slot);
    t.same(
      slots,
      slots.toSorted((a, b) => a - b),
      'no slot goes back',
    );
    t.type((await client.call('slotSubscribe')).result, 'number', 'the connection is open');
  });

  t.test('no transaction of an address is missed or notified twice over the deaths of its nodes', async (t) => {
    for (const [i, commitment] of COMMITMENTS.entries()) {
      const lastSlot = cluster.chain.slot('processed');
      await waitFor(() => {
        world.clock.advance(100);
        return cluster.chain.slot(commitment) >= lastSlot;
      }, commitment);
      const landed = cluster.chain.transactionsOf(wallet).filter(({ slot }) => slot >= firstSlot && slot <= lastSlot);
      t.ok(landed.length >= 3);
      const notified = (): readonly Notification[] =>
        client.of(logIds[i]).filter(({ context }) => context.slot >= firstSlot);
      await waitFor(() => {
        world.clock.advance(100);
        return notified().length >= landed.length;
      }, `the transactions at ${commitment}`);
      t.strictSame(
        notified()
          .slice(0, landed.length)
          .map(({ context, value }) => `${context.slot} ${value['signature']}`),
        landed.map(({ slot, signature }) => `${slot} ${signature}`),
        commitment,
      );
      t.ok(notified().every(({ value }) => Array.isArray(value['logs']) && 'err' in value));
    }
  });
});

t.test('pubsub-kit', async (t) => {
  const world = await startStepped(t, { perSlot: 2, set: ['rpc.profile=standard'] });
  const { gateway, step } = world;
  await step(40, 4);
  const http = `${gateway.url}/api/v1/rpc`;
  const program = new URL('../../../test/examples/bot-kit.mjs', import.meta.url).pathname;
  const bot = execFile(process.execPath, [
    ...(process.versions.node.startsWith('20.') ? ['--experimental-websocket'] : []),
    ...[program, http, http.replace('http', 'ws'), '2'],
  ]);
  let out = '';
  for (const stream of [bot.stdout, bot.stderr])
    stream?.on('data', (text) => {
      out += text;
    });
  let code: unknown;
  bot.on('exit', (exitCode) => {
    code = exitCode;
  });
  await Promise.race([once(bot, 'exit'), once(bot.stdout ?? bot, 'data')]); // until then it loads its modules
  while (code === undefined) await step();
  t.equal(code, 0, out);
  t.match(out, /^balance \d+\n(token \w+ [\d.]+\n)+confirmed \w+\n(changed at \d+ to \d+\n){2}$/);
});

/** Occupies a port behind one that is free. */
async function occupyPort(): Promise<readonly [blocker: Server, port: number]> {
  const listen = async (port: number): Promise<Server> => {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  for (;;) {
    const blocker = await listen(0);
    const { port } = blocker.address() as AddressInfo;
    const before = await listen(port - 1).catch(() => undefined);
    (before ?? blocker).close();
    if (before !== undefined) return [blocker, port];
  }
}

t.test('pubsub-ports', async (t) => {
  for (const engine of ['auto', 'node']) {
    const [blocker, next] = await occupyPort();
    const start = (t: Test): Promise<SteppedHarness> =>
      startStepped(t, { port: next - 1, set: [`http.engine=${engine}`, 'admin.port=0'] });
    await t.test(`${engine}: a port that is in use is left out`, async (t) => {
      const { logged, get } = await start(t);
      t.ok(logged.some(({ message }) => message.startsWith(`port ${next} is in use`)));
      t.equal((await get('/health')).status, 200);
    });
    blocker.close();
    await once(blocker, 'close');
    if (engine === 'auto')
      await t.test('no next port is opened where the operator wants none', async (t) => {
        await startStepped(t, { port: next - 1, set: ['rpc.nextPort=false'] });
        const other = createServer().listen(next, '127.0.0.1');
        await once(other, 'listening'); // rejects where the port is in use
        other.close();
        await once(other, 'close');
      });
    await t.test(`${engine}: pubsub answers on the next port, and the listener for operators names it`, async (t) => {
      const { gateway } = await start(t);
      const client = await connect(t, `http://127.0.0.1:${next}/api/v1/rpc`);
      t.type((await client.call('slotSubscribe')).result, 'number');
      const headers = { connection: 'Upgrade', upgrade: 'websocket' };
      const [answer] = await once(request(`${gateway.admin}/`, { headers }).end(), 'response');
      t.equal(answer.statusCode, 404);
      const [body] = await once(answer.setEncoding('utf8'), 'data');
      t.match(
        body,
        `WebSockets are at /api/v1/rpc (Solana's pubsub) and /api/v1/stream of the gateway's own port, ${next - 1}`,
      );
      const places = 5;
      const status = async (...lines: readonly string[]): Promise<string> => {
        const connection = await RawConnection.open(gateway.url);
        connection.write(`${[...UPGRADE, ...lines].join('\r\n')}\r\n\r\n`);
        await waitFor(() => connection.text.includes('\r\n\r\n') || connection.closed, 'the answer');
        connection.reset();
        return connection.text.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3);
      };
      for (let i = 0; i <= places; i++) t.equal(await status('Sec-WebSocket-Version: 8'), '400');
      t.not(await status('Sec-WebSocket-Key: BBBBBBBBBBBBBBBBBBBBBA=='), '101');
      t.equal(await status('Upgrade: websocket'), '101', 'no place was kept by what was refused');
      await gateway.close();
    });
  }
});
