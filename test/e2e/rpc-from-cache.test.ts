import t from 'tap';
import { COINS, DOLLAR, WALLETS, WHALE } from '../../src/localnet/traffic/demo-accounts.ts';
import { member } from '../../src/upstream/json/raw-json.ts';
import { type HttpAnswer, startStepped, waitFor } from '../support/harness.ts';
import { addressFromByte } from '../support/token-account-fixtures.ts';

const { get, rpc, step, cluster, node } = await startStepped(t, { perSlot: 0 });

interface Config {
  readonly encoding?: string;
  readonly dataSlice?: object;
  readonly minContextSlot?: number;
}

const accountInfo = (address: string, config: Config = {}): Promise<HttpAnswer> =>
  rpc({ method: 'getAccountInfo', params: [address, { commitment: 'confirmed', ...config }] });

/** Returns the node's own answer, byte for byte. */
async function asked(address: string, config: Config): Promise<Buffer> {
  const params = [address, { commitment: 'confirmed', ...config }];
  const response = await fetch(cluster.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAccountInfo', params }),
  });
  const result = member(Buffer.from(await response.arrayBuffer()), 'result');
  if (result === undefined) throw new Error('the node refuses');
  return result;
}

const sourceOf = (got: HttpAnswer): string | null => got.headers.get('x-cache');

t.test("an account cached by a route is returned in the node's exact bytes", async (t) => {
  const { setup } = cluster;
  const addresses = [
    WALLETS[0]?.address ?? '',
    WHALE.address,
    addressFromByte(40),
    ...setup.lookupTable.entries,
    ...COINS.flatMap((coin) => [coin.mint.address, setup.tokenAccountOf(coin, WALLETS[0])]),
    'SysvarC1ock11111111111111111111111111111111',
    'SysvarRent111111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  ];
  let hits = 0;
  for (const address of new Set(addresses)) {
    const path = `/account/${address}`;
    await get(path); // at a slot that the node has not left
    const kept = (await get(path)).json;
    for (const encoding of ['jsonParsed', 'base64']) {
      const before = node.requestCounts.get('getAccountInfo') ?? 0;
      const got = await accountInfo(address, { encoding });
      t.equal(got.text, `{"result":${await asked(address, { encoding })}}`, `${address} in ${encoding}`);
      const isParsed = kept.result !== null && !Array.isArray(kept.result.data);
      const isHit = encoding === 'jsonParsed' || !isParsed;
      t.equal(sourceOf(got), isHit ? 'HIT' : 'MISS', `${address} in ${encoding}`);
      t.equal(node.requestCounts.get('getAccountInfo') ?? 0, before + (isHit ? 0 : 1));
      if (isHit) hits++;
    }
  }
  t.ok(hits > addresses.length);
});

t.test('other requests for an account go to the node', async (t) => {
  const mint = DOLLAR.mint.address;
  await get(`/account/${mint}`);
  const configs: readonly Config[] = [
    {},
    { encoding: 'base64+zstd' },
    { encoding: 'base64', dataSlice: { offset: 1, length: 3 } },
    { encoding: 'jsonParsed', dataSlice: { offset: 1, length: 3 } },
  ];
  for (const config of configs) {
    const got = await accountInfo(mint, config);
    if (got.status === 200) t.equal(got.text, `{"result":${await asked(mint, config)}}`);
    t.not(sourceOf(got), 'HIT', JSON.stringify(config));
  }
  t.equal(sourceOf(await accountInfo(mint, { encoding: 'jsonParsed' })), 'HIT');
  const minContextSlot = cluster.chain.slot('confirmed') + 50;
  t.equal((await accountInfo(mint, { encoding: 'jsonParsed', minContextSlot })).status, 503);
});

t.test('a live account costs no reads, and /rpc requests keep it live', async (t) => {
  const wallet = WALLETS[3]?.address ?? '';
  const upstream = (): number =>
    (node.requestCounts.get('getAccountInfo') ?? 0) + (node.requestCounts.get('getMultipleAccounts') ?? 0);
  const ask = (): Promise<HttpAnswer> => accountInfo(wallet, { encoding: 'base64' });
  let quiet = 0;
  await waitFor(async () => {
    const before = upstream();
    await get(`/account/${wallet}`);
    await step();
    await get(`/account/${wallet}`);
    quiet = upstream() === before ? quiet + 1 : 0;
    return quiet === 4;
  }, 'a live account');
  const before = upstream();
  const slots: number[] = [];
  for (let i = 0; i < 200; i++) {
    const got = await ask();
    if (sourceOf(got) !== 'HIT') t.fail(`${sourceOf(got)} after ${i} slots`);
    slots.push(got.json.result.context.slot);
    await step();
  }
  t.ok((slots.at(-1) ?? 0) - (slots[0] ?? 0) > 190, 'its slot moves on');
  t.ok(upstream() - before <= 3, `${upstream() - before} reads in 80 seconds: its audit alone`);
});
