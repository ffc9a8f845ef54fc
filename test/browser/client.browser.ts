import t from 'tap';
import type * as Slotgate from '../../src/client/client.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { issueKey } from '../support/access/api-key-fixtures.ts';
import { startGateway } from '../support/harness.ts';
import { openTab } from './chromium.ts';
import { openTamperingProxy } from './tampering-proxy.ts';
import { waitFor } from './watch-page.ts';
import { serveModules } from './web-modules.ts';

declare const slotgate: typeof Slotgate;

const [WALLET = ''] = WALLETS.map(({ address }) => address);

const folders = t.testdir({ gateway: {}, keyed: {} });
const cluster = await startEmbeddedCluster({ slotMs: 200, transactionsPerSlot: 3, geyserPort: 0 });
t.teardown(() => cluster.close());
const nodes = [`${cluster.url},${cluster.wsUrl}`];
const { gateway } = await startGateway(t, nodes, { state: `${folders}/gateway`, geyser: cluster.geyserUrl });
const pinnedTo = ({ publicKey, cluster }: typeof gateway) => ({ publicKey, cluster });
const pinned = pinnedTo(gateway);
const keyedState = `${folders}/keyed`;
const apiKey = await issueKey(keyedState);
const { gateway: keyed } = await startGateway(t, nodes, { state: keyedState, set: ['limits.free.streams=0'] });
const meddler = await openTamperingProxy(t, gateway.url);
const { page, problems } = await openTab(t);
await page.goto(await serveModules(t));
await page.waitForFunction(() => typeof slotgate === 'object');

t.test('a page of another origin reads, and its answers are verified', async (t) => {
  const got = await page.evaluate(
    async ([url, pinned, addr]) => {
      const client = slotgate.createClient({ url, ...pinned });
      const { result, slot, receipt } = await client.get('/balance/:addr', { addr });
      const later = await client.get('/balance/:addr', { addr }, { minSlot: slot });
      const { result: height } = await client.post('/rpc', { method: 'getBlockHeight' });
      const learned = await slotgate.createClient({ url }).get('/epoch', { commitment: 'finalized' });
      return {
        lamports: String(result.lamports),
        type: typeof result.lamports,
        signed: receipt.slot === slot,
        isLater: later.slot >= slot,
        height: typeof height,
        kid: learned.receipt.kid === receipt.kid,
      };
    },
    [gateway.url, pinned, WHALE.address] as const,
  );
  t.same(got, {
    lamports: '9007199254740993',
    type: 'bigint',
    signed: true,
    isLater: true,
    height: 'number',
    kid: true,
  });
  t.same(problems, []);
});

t.test('an answer that was tampered with is refused', async (t) => {
  const read = () =>
    page.evaluate(
      async ([url, pinned, addr]) => {
        const client = slotgate.createClient({ url, ...pinned });
        const reading = client.get('/balance/:addr', { addr });
        return reading.then(
          ({ result }) => String(result.lamports),
          (thrown) => `${thrown.name} ${thrown.code} ${thrown instanceof slotgate.ReceiptError}`,
        );
      },
      [meddler.url, pinned, WHALE.address] as const,
    );
  t.equal(await read(), '9007199254740993');
  meddler.tamper = (packet) => packet.replace('"lamports":9', '"lamports":8');
  t.equal(await read(), 'ReceiptError digest true');
  meddler.tamper = (packet) => packet;
});

t.test('the stream of a page counts for its API key', async (t) => {
  const opened = await page.evaluate(
    async ([url, pinned, keys]) => {
      const outcomeOf = (headers: Record<string, string>) =>
        new Promise<string>((resolve) => {
          const stream = slotgate.createClient({ url, ...pinned, headers }).stream({
            onSnapshot: () => resolve('a frame'),
            onState: (state) => state === 'waiting' && resolve('refused'),
          });
          setTimeout(() => stream.close(), 10_000);
        });
      return await Promise.all(keys.map((key) => outcomeOf({ 'X-Api-Key': key })));
    },
    [keyed.url, pinnedTo(keyed), [apiKey, `${apiKey}x`]] as const,
  );
  t.same(opened, ['a frame', 'refused'], 'where only a key may open a stream');
  const protocol = await page.evaluate(
    ([url, key]) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url, ['slotgate', key]);
        socket.onopen = () => resolve(socket.protocol);
        socket.onclose = ({ code }) => resolve(String(code));
      }),
    [`${keyed.url.replace('http', 'ws')}/api/v1/stream`, apiKey] as const,
  );
  t.equal(protocol, 'slotgate');
});

t.test('the stream reconnects after a cut, with its subscriptions', async (t) => {
  await page.evaluate(
    ([url, pinned, addr]) => {
      const seen = { frames: 0, updates: 0, first: 0, states: [] as string[], errors: [] as string[] };
      Object.assign(globalThis, { seen });
      const onError = (error: unknown): void => {
        seen.errors.push(String(error));
      };
      const stream = slotgate.createClient({ url, ...pinned, random: () => 0 }).stream({
        onSnapshot: () => seen.frames++,
        onState: (state) => seen.states.push(state),
        onError,
      });
      const onUpdate = ({ seq }: { readonly seq: number }): void => {
        seen.updates++;
        if (seq === 0) seen.first++;
      };
      stream.subscribe('balance', addr, { onUpdate, onError });
    },
    [meddler.url, pinned, WALLET] as const,
  );
  const seen = () =>
    page.evaluate('seen') as Promise<{ frames: number; updates: number; first: number; states: string[] }>;
  await waitFor(async () => (await seen()).frames > 3 && (await seen()).first === 1, 'the first connection');
  meddler.cut();
  const { frames } = await seen();
  await waitFor(async () => (await seen()).frames > frames + 3 && (await seen()).first === 2, 'the second connection');
  t.match(await seen(), { states: ['connecting', 'open', 'waiting', 'connecting', 'open'], errors: [] });
});

t.test('EventSource of a page resumes by itself after a cut, without a loss', async (t) => {
  const topics = WALLETS.slice(0, 5).map(({ address }) => `balance:${address}`);
  await page.evaluate((url) => {
    const followed = { ids: [] as string[], gaps: 0, opened: 0 };
    Object.assign(globalThis, { followed });
    const source = new EventSource(url);
    source.onopen = () => followed.opened++;
    source.addEventListener('change', (event) => {
      if (event instanceof MessageEvent) followed.ids.push(event.lastEventId);
    });
    source.addEventListener('snapshot', (event) => {
      if (event instanceof MessageEvent && !String(event.data).includes('"gap":null')) followed.gaps++;
    });
  }, `${meddler.url}/api/v1/stream?topics=${topics}`);
  const followed = () => page.evaluate('followed') as Promise<{ ids: readonly string[]; gaps: number; opened: number }>;
  for (let connection = 1; connection < 4; connection++) {
    const before = (await followed()).ids.length;
    await waitFor(async () => {
      const { ids, opened } = await followed();
      return opened === connection && ids.length > before + 2;
    }, `changes over connection ${connection}`);
    meddler.cut();
  }
  const { ids, gaps } = await followed();
  const slots = ids.map((id) => Number(id.split('.')[0]));
  t.same([gaps, new Set(ids).size], [0, ids.length], 'none is lost, none comes twice');
  t.same(
    slots,
    slots.toSorted((a, b) => a - b),
  );
});
