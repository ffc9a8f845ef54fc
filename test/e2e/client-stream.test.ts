import t from 'tap';
import { WebSocket as NodeSocket } from 'ws';
import { generateApiKey } from '../../src/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/access/api-keys/api-key-store.ts';
import { createClient, type Snapshot } from '../../src/client/client.ts';
import { WALLETS } from '../../src/localnet/traffic/demo-accounts.ts';
import { apiKeyRecord, issueKeys } from '../support/access/api-key-fixtures.ts';
import { startStepped, waitFor } from '../support/harness.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';

const [WALLET = ''] = WALLETS.map(({ address }) => address);

t.test(
  'the stream of a real gateway: verified frames, a verified balance, and both again after a reconnect',
  async (t) => {
    const { gateway, cluster, clock, step } = await startStepped(t, { perSlot: 2 });
    const sockets: NodeSocket[] = [];
    const client = createClient({
      url: gateway.url,
      publicKey: gateway.publicKey,
      clock,
      random: () => 0,
      openSocket: (url, headers) => {
        const socket = new NodeSocket(url, { headers });
        sockets.push(socket);
        return socket;
      },
    });
    const frames: Snapshot[] = [];
    const signed: boolean[] = [];
    const missed: (number | null)[] = [];
    const updates: { readonly seq: number; readonly slot: number; readonly lamports: bigint }[] = [];
    const errors: unknown[] = [];
    const stream = client.stream({
      receipts: true,
      onSnapshot(snapshot, { receipt }) {
        frames.push(snapshot);
        signed.push(receipt?.slot === snapshot.slot);
      },
      onGap: (gap) => missed.push(gap.missed),
      onError: (error) => errors.push(error),
      silenceMs: 3_600_000, // the manual clock runs ahead of the sockets
    });
    t.teardown(() => stream.close());
    stream.subscribe('balance', WALLET, {
      onUpdate: ({ seq, slot, result }) => updates.push({ seq, slot, lamports: BigInt(result.lamports) }),
      onError: (error) => errors.push(error),
    });
    await waitFor(() => frames.length > 0 && updates.length > 0, 'the first of both');
    for (let i = 0; i < 40 && updates.length < 3; i++) await step();
    await waitFor(() => frames.at(-1)?.slot === cluster.chain.slot('processed'), 'the newest frame');
    t.same(missed, []);
    t.same(
      updates.slice(0, 3).map(({ seq }) => seq),
      [0, 1, 2],
    );

    sockets[0]?.terminate();
    await waitFor(() => sockets[0]?.readyState === NodeSocket.CLOSED, 'the end');
    const before = updates.length;
    await step(5);
    await waitFor(() => sockets.length === 2 && updates.length > before, 'the new connection');
    t.equal(updates[before]?.seq, 0);
    for (const { slot, lamports } of updates) t.equal(lamports, cluster.chain.accountAt(WALLET, slot)?.lamports);
    await waitFor(() => frames.at(-1)?.slot === cluster.chain.slot('processed'), 'the newest frame');
    t.same(
      frames.map(({ seq }) => seq),
      frames.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
    t.equal(
      frames.length + missed.reduce<number>((sum, count) => sum + (count ?? 0), 0),
      (frames.at(-1)?.seq ?? 0) - (frames[0]?.seq ?? 0) + 1,
      'every frame was told or told missing',
    );
    t.same(errors, []);
    t.ok(signed.every(Boolean));
  },
);

t.test(
  'in a runtime with WebSocket the option openSocket is not needed',
  { skip: typeof WebSocket !== 'function' },
  async (t) => {
    const { gateway } = await startStepped(t);
    const slots: number[] = [];
    const stream = createClient({ url: gateway.url }).stream({ onSnapshot: ({ slot }) => slots.push(slot) });
    t.teardown(() => stream.close());
    await waitFor(() => slots.length > 0, 'a frame');
    t.ok(Number(slots[0]) > 0);
  },
);

t.test('200 accounts are subscribed to with three messages, on each connection', async (t) => {
  const { gateway, clock } = await startStepped(t, { perSlot: 0, set: ['limits.free.subscriptions=200'] });
  const sockets: NodeSocket[] = [];
  const sent: string[] = [];
  const client = createClient({
    url: gateway.url,
    publicKey: gateway.publicKey,
    clock,
    random: () => 0,
    openSocket(url) {
      const socket = new NodeSocket(url);
      const send = socket.send.bind(socket);
      socket.send = (text: string): void => {
        sent.push(text);
        send(text);
      };
      sockets.push(socket);
      return socket;
    },
  });
  const stream = client.stream({ silenceMs: 3_600_000 }); // the manual clock runs ahead of the sockets
  t.teardown(() => stream.close());
  const live: string[] = [];
  const errors: unknown[] = [];
  for (let i = 0; i < 200; i++) {
    const account = addressFromByte(i + 50);
    stream.subscribe('balance', account, {
      onUpdate: ({ receipt }) => live.push(receipt.request),
      onError: (error) => errors.push(error),
    });
  }
  await waitFor(() => live.length === 200, 'all first values');
  sockets[0]?.terminate();
  await waitFor(() => sockets[0]?.readyState === NodeSocket.CLOSED, 'the end');
  clock.advance(2000);
  await waitFor(() => live.length === 400, 'all first values again');
  t.equal(new Set(live).size, 200);
  t.same(errors, []);
  t.same(
    sent.map((text) => JSON.parse(text).addresses.length),
    [80, 80, 40, 80, 80, 40],
  );
});

t.test('the WebSocket of the runtime sends the API key', { skip: typeof WebSocket !== 'function' }, async (t) => {
  const state = t.testdir();
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key));
  const { gateway } = await startStepped(t, { state, set: ['limits.free.streams=0'] });
  const client = createClient({ url: gateway.url, headers: { 'X-Api-Key': key } });
  const slot = await new Promise<number>((resolve) => {
    const stream = client.stream({ onSnapshot: (snapshot) => resolve(snapshot.slot) });
    t.teardown(() => stream.close());
  });
  t.ok(slot > 0, 'a stream that nobody may open without a key');
});

t.test('a runtime without WebSocket fails at once', async (t) => {
  const { WebSocket } = globalThis;
  t.teardown(() => Object.assign(globalThis, { WebSocket }));
  Object.assign(globalThis, { WebSocket: undefined });
  t.throws(() => createClient({ url: 'http://gateway.test' }).stream(), { message: /openSocket/ });
});
