import { type Address, address } from '@solana/web3.js';
import bs58 from 'bs58';
import t from 'tap';
import { METADATA_PROGRAM, TOKEN_PROGRAM } from '../../src/domain/well-known-addresses.ts';
import { deriveKeypair } from '../../src/localnet/traffic/demo-keypair.ts';
import { findMetadataAddress } from '../../src/solana/accounts/metaplex-metadata-account.ts';
import { findAssociatedTokenAddress, findProgramAddress } from '../../src/solana/accounts/program-derived-address.ts';
import { startStepped } from '../support/harness.ts';
import { mintFixture, tokenAccountFixture } from '../support/token-account-fixtures.ts';

const mintNamed = (name: string): Address => address(findProgramAddress(TOKEN_PROGRAM, [name]));
const picture = mintNamed('picture');
const edition = mintNamed('edition');
const [collector, other] = ['collector', 'other collector'].map((name) => deriveKeypair(name).address) as [
  Address,
  Address,
];

// A price of one dollar is configured, which must not count for an NFT.
const { get, cluster, node, step } = await startStepped(t, {
  perSlot: 0,
  set: ['prices.sources=["static"]', `prices.static=${JSON.stringify({ [picture]: 1, [edition]: 1 })}`],
});
const { chain } = cluster;

function putHolding(mint: Address, owner: Address): Address {
  const at = address(findAssociatedTokenAddress(owner, mint, 'spl-token'));
  chain.setAccount(at, tokenAccountFixture(owner, 1, mint));
  return at;
}

/** Stores metadata in Metaplex's format without what comes after the first part. */
function putMetadata(mint: Address, name: string, symbol: string): void {
  const padded = (text: string, size: number): Buffer => {
    const field = Buffer.alloc(4 + size);
    field.writeUInt32LE(size);
    field.write(text, 4);
    return field;
  };
  const texts = [padded(name, 32), padded(symbol, 10), padded('https://example.com/7.json', 200)];
  const data = Buffer.alloc(679);
  const royalties = Buffer.from([420 % 256, 420 >> 8, 1, 1, 0, 0, 0, ...bs58.decode(other), 1, 100]); // of one creator
  const flags = Buffer.from([1, 0]); // sold before, immutable
  Buffer.concat([Buffer.from([4]), bs58.decode(collector), bs58.decode(mint), ...texts, royalties, flags]).copy(data);
  const account = { lamports: 2_000_000n, owner: METADATA_PROGRAM, executable: false, data };
  chain.setAccount(address(findMetadataAddress(mint)), account);
}

chain.setAccount(picture, mintFixture(0, 1));
putMetadata(picture, 'Picture #7', 'PIC');
const held = putHolding(picture, collector);
chain.setAccount(edition, mintFixture(0, 2));
putHolding(edition, collector);
putHolding(edition, other);
await step(4);

t.test('an indivisible mint with supply 1 is an NFT with the name from its Metaplex metadata', async (t) => {
  const { result } = (await get(`/token/${picture}`)).json;
  t.match(result, {
    isNft: true,
    decimals: 0,
    supply: '1',
    uiSupplyString: '1',
    metadata: {
      name: 'Picture #7',
      symbol: 'PIC',
      source: 'metaplex',
      updateAuthority: collector,
      isMutable: false,
      sellerFeeBasisPoints: 420,
      creators: [{ address: other, share: 100, verified: true }],
      primarySaleHappened: true,
    },
    owner: collector,
    holders: null,
  });
  t.equal((await get(`/token/${edition}`)).json.result.isNft, false, 'one of two is not one of a kind');
});

t.test('a portfolio names and counts an NFT and never values it', async (t) => {
  const { result } = (await get(`/address/${collector}/portfolio`)).json;
  const [valued, unvalued, ...rest] = result.items;
  t.same(rest, []);
  t.match(valued, { mint: edition, isNft: false, priceUsd: 1, valueUsd: 1, share: 1 });
  t.match(unvalued, { mint: picture, name: 'Picture #7', symbol: 'PIC', amount: '1', isNft: true });
  t.match(unvalued, { priceUsd: null, priceSource: null, valueUsd: null, share: null });
  t.match(result, { totalUsd: 1, pricedCount: 1, unpricedCount: 1 });
});

t.test('its only holder holds all of it', async (t) => {
  const { result } = (await get(`/token/${picture}/holders`)).json;
  t.match(result, { total: 1, hasMore: false, source: 'largest-accounts' });
  t.same(result.items, [
    { rank: 1, address: held, owner: collector, amount: '1', uiAmountString: '1', percentage: 100, label: null },
  ]);
});

t.test('the number of holders is told once they were listed, without a scan for it', async (t) => {
  const { slot } = (await get(`/token/${picture}/holders?by=owner`)).json;
  await step(20, 4);
  t.match((await get(`/token/${picture}`)).json.result, { owner: collector, holders: { count: 1, slot } });
});

t.test('an NFT whose owner no node tells is told all the same, but not while that may pass', async (t) => {
  for (const [code, status, owner] of [
    [-32012, 200, null],
    [-32005, 503, undefined],
  ] as const) {
    node.overrides.set('getTokenLargestAccounts', () => ({ error: `{"code":${code},"message":"no"}` }));
    await step(20, 4);
    const got = await get(`/token/${picture}?commitment=${owner === null ? 'processed' : 'finalized'}`);
    t.strictSame([got.status, got.json.result?.owner], [status, owner]);
  }
  node.overrides.clear();
});

t.test('a search by its address finds the mint', async (t) => {
  const { result } = (await get(`/search?q=${picture}`)).json;
  t.match(result, { type: 'mint', path: `/api/v1/token/${picture}`, exists: true, kind: 'spl-token:mint' });
});
