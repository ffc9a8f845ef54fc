import { type Address, address } from '@solana/web3.js';
import t from 'tap';
import { deriveKeypair } from '../../src/localnet/traffic/demo-keypair.ts';
import { TOKEN_PROGRAM } from '../../src/shared/domain/well-known-addresses.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';
import { findMetadataAddress } from '../../src/transactions/accounts/metaplex-metadata-account.ts';
import {
  findAssociatedTokenAddress,
  findProgramAddress,
} from '../../src/transactions/accounts/program-derived-address.ts';
import { startGateway } from '../support/harness.ts';
import { HOSTILE_NAMES } from '../support/hostile-names.ts';
import { pluck } from '../support/pluck.ts';
import { startTestCluster } from '../support/test-cluster.ts';
import { metadataFixture, mintFixture, tokenAccountFixture } from '../support/token-account-fixtures.ts';
import { openTab } from './chromium.ts';
import { waitFor } from './watch-page.ts';

const USDC = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
const owner = address(deriveKeypair('owner of names').address);

const cluster = await startTestCluster(systemClock, Buffer.alloc(32, 7), { transactionsPerSlot: 1 });
t.teardown(() => cluster.close());
const { gateway, get } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`]);

/** Stores a token of the owner with these texts in its Metaplex account. */
function putToken(mint: Address, symbol: string, name: string, uri = ''): Address {
  const metadata = metadataFixture(mint, name, symbol, uri);
  cluster.chain.setAccount(mint, mintFixture(0, 100));
  const described = { ...metadata, owner: address(metadata.owner), executable: false };
  cluster.chain.setAccount(address(findMetadataAddress(mint)), described);
  const holding = address(findAssociatedTokenAddress(owner, mint, 'spl-token'));
  cluster.chain.setAccount(holding, tokenAccountFixture(owner, 5, mint));
  return mint;
}

const mintOf = (seed: string): Address => address(findProgramAddress(TOKEN_PROGRAM, [seed]));
const hostile = HOSTILE_NAMES;
for (const [i, symbol] of hostile.entries()) putToken(mintOf(`hostile ${i}`), symbol, symbol);
putToken(USDC, 'USDC', 'USD Coin');
const long = putToken(mintOf('long'), '\ufdfd'.repeat(200_000), 'n '.repeat(100_000), 'u'.repeat(1024 * 1024));
await waitFor(
  async () => (await get(`/address/${owner}/portfolio`)).json.result?.items.length === hostile.length + 2,
  'all tokens',
);

t.test('a name stands in quotation marks, and no name draws the mark of a known token', async (t) => {
  const { page } = await openTab(t);
  await page.goto(`${gateway.url}/explorer?q=${owner}`);
  const rows = page.locator('.part', { hasText: 'Portfolio' }).locator('tbody tr');
  await rows.first().waitFor();
  const assets = await rows.evaluateAll((all) =>
    all.map((row) => ({
      name: row.querySelector('a')?.textContent ?? '',
      isIsolated: row.querySelector('a > bdi') !== null,
      hasBadge: row.querySelector('.badge') !== null,
      height: row.getBoundingClientRect().height,
    })),
  );
  t.same(
    pluck(
      assets.filter(({ hasBadge }) => hasBadge),
      'name',
    ),
    ['USDC'],
  );
  const named = assets.filter(({ isIsolated }) => isIsolated);
  t.equal(named.length, hostile.length + 1);
  const unquoted = named.filter(({ name }) => !/^“[^“”\p{C}]+”$/u.test(name));
  t.same(unquoted, []);
  t.equal(await page.locator('td .bad').count(), hostile.length, 'each says that it may mislead');
  const tall = assets.filter(({ height }) => height > 60);
  t.same(tall, []);
});

t.test('no length of a text makes a page long', async (t) => {
  const { page } = await openTab(t);
  await page.setViewportSize({ width: 360, height: 900 });
  await page.goto(`${gateway.url}/explorer?q=${long}`);
  const facts = page.locator('.part', { hasText: 'Metadata at' });
  await facts.waitFor();
  const height: number = await page.evaluate('document.documentElement.scrollHeight');
  t.ok(height < 4000, `${height} px`);
  t.match(await facts.textContent(), /Metadata at“u{255}…”/);
});
