import { createHash } from 'node:crypto';
import t from 'tap';
import { parseExactJson } from '../../../../src/domain/parse-exact-json.ts';
import { METADATA_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../../src/domain/well-known-addresses.ts';
import { type EnhancedTransaction, enhanceTransaction } from '../../../../src/solana/explain/enhanced-transaction.ts';
import { explainTransaction } from '../../../../src/solana/explain/explain-transaction.ts';
import { readRecordings, recordedTransactions } from '../../../support/recorded-transactions.ts';
import {
  addressOf,
  type SyntheticBalance,
  type SyntheticCall,
  type SyntheticTransaction,
  syntheticTransaction,
  u64Bytes,
} from '../../../support/synthetic-transaction.ts';

const recorded = new Map(
  ['transactions', 'mainnet-block']
    .flatMap(recordedTransactions)
    .map(({ name, transaction }) => [name, transaction] as const),
);

function viewOf(name: string): EnhancedTransaction {
  const transaction = recorded.get(name);
  if (transaction === undefined) throw new Error(`no recording ${name}`);
  return enhanceTransaction(transaction);
}

t.test('a bid that its seller accepts is a sale with the whole price, told apart by who got it', async (t) => {
  const view = viewOf('tx/3Mhp6cAfmzmz_json');
  t.equal(view.type, 'NFT_SALE');
  t.strictSame(view.events, {
    nft: {
      nfts: [{ mint: 'FkfMaBkeqt3GAQLoKJrMbQKWpynL51o3JgEbK1jHJ6Qg', tokenStandard: null }],
      seller: 'GhZFamsmV19g8JzPXjNW9sTjjY3oDw9U4EkMdUvMLH4L',
      buyer: 'C4Pxqsppptwq766W3nmfuWxvENQ9xmVwVkdYHqzUGKo9',
      amount: '2150000000',
      currencyMint: null,
      marketplace: 'MAGIC_EDEN',
      royalties: [
        { account: 'DaoSrx3wBdRM8oATwYwfD8BTkHwBibVVv2SLR8LMDnLP', amount: '53750000' },
        { account: '7NsngNMtXJNdHgeK4znQDZ5xVzT2nkGoGRGhMWApejCV', amount: '53750000' },
      ],
    },
  });
  t.equal(
    explainTransaction(view),
    'GhZF…LH4L sold the NFT FkfM…J6Qg to C4Px…GKo9 for 2.15 SOL on Magic Eden, of which the seller got 1.9995 SOL, creators 0.1075 SOL and the marketplace 0.043 SOL. The fee was 0.000005 SOL.',
  );
});

t.test('sales, and the ids and owners of compressed NFTs, equal those of Helius', async (t) => {
  interface HeliusEvents {
    readonly nft?: {
      readonly amount: number;
      readonly buyer: string;
      readonly seller: string;
      readonly nfts: readonly { readonly mint: string }[];
    };
    readonly compressed?: readonly { readonly assetId: string; readonly newLeafOwner: string }[];
  }
  const [ours, theirs]: unknown[][] = [[], []];
  for (const line of readRecordings('helius')) {
    const { name, result } = parseExactJson(line) as { name: string; result: unknown }; // as it was packed
    if (!/NFT/.test(name)) continue;
    const [{ events }] = (Array.isArray(result) ? result : [result]) as [{ events: HeliusEvents }];
    const view = viewOf(`tx-rebuilt/${name.split('/').at(-1)}`);
    const { nfts = [], seller, buyer, amount } = view.events.nft ?? {};
    const mints = nfts.map(({ mint }) => mint);
    if (events.nft === undefined) {
      ours?.push([name, mints, buyer]);
      theirs?.push([name, events.compressed?.map(({ assetId }) => assetId), events.compressed?.[0]?.newLeafOwner]);
    } else {
      ours?.push([name, mints, buyer, seller, amount]);
      const { nft } = events;
      theirs?.push([name, nft.nfts.map(({ mint }) => mint), nft.buyer, nft.seller, `${nft.amount}`]);
    }
  }
  t.equal(ours?.length, 13);
  t.strictSame(ours, theirs);
});

t.test('a listing is one though nothing moves, with the price that it asks', async (t) => {
  const view = viewOf('block/mainnet-361774429-full-base64#1247');
  t.equal(view.type, 'NFT_LISTING');
  t.match(view.events.nft, { amount: '1011227746', currencyMint: null, marketplace: 'MAGIC_EDEN', buyer: null });
});

t.test('NFTs that stand for positions are neither minted nor burned as NFTs', async (t) => {
  const names = ['2D9xoA7oaXvS', '5P8xF7oLokSY', '5HzJs4E3KobY'];
  t.strictSame(
    names.map((name) => viewOf(`tx/${name}_json`)).filter(({ type, events }) => /NFT/.test(type) || events.nft),
    [],
  );
});

const [buyer, seller, mint, vault, fees, creator, escrow, held] = [1, 2, 3, 4, 5, 6, 7, 8].map(addressOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const got = addressOf(9);
const M2 = 'M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K';
const MMM = 'mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc';
const TENSOR_SWAP = 'TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN';
const TENSOR = 'TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp';
const BUBBLEGUM = 'BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY';
const CORE = 'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d';

const discriminator = (name: string): number[] =>
  [...createHash('sha256').update(`global:${name}`).digest()].slice(0, 8);

/** Returns accounts that nobody asks for, with those that matter at their positions. */
const placed = (positions: Readonly<Record<number, string>>, length = 30): string[] =>
  Array.from({ length }, (_, index) => positions[index] ?? addressOf(100 + index));

const anchorCall = (
  programId: string,
  name: string,
  positions: Readonly<Record<number, string>>,
  data: readonly number[] = [],
  length?: number,
): SyntheticCall => ({ programId, accounts: placed(positions, length), data: [...discriminator(name), ...data] });

const pay = (source: string, destination: string, lamports: bigint): SyntheticCall => ({
  programId: SYSTEM_PROGRAM,
  program: 'system',
  parsed: { type: 'transfer', info: { source, destination, lamports: Number(lamports) } },
});
const tokenCall = (type: string, info: object): SyntheticCall => ({
  programId: TOKEN_PROGRAM,
  program: 'spl-token',
  parsed: { type, info },
});
const move = (source: string, destination: string, amount = '1'): SyntheticCall =>
  tokenCall('transfer', { source, destination, amount, authority: seller });

const nftBalance = (
  account: string,
  owner: string,
  before: bigint | null,
  after: bigint | null,
  of = mint,
): SyntheticBalance => ({
  account,
  mint: of,
  owner,
  before,
  after,
  decimals: 0,
});
const changesHands = [nftBalance(held, seller, 1n, 0n), nftBalance(got, buyer, 0n, 1n)];

/** Tells of a transaction whose first signer pays the fee and nothing else, if no lamports are given. */
const tell = (transaction: SyntheticTransaction): EnhancedTransaction =>
  enhanceTransaction(syntheticTransaction({ lamports: { before: [9_000n], after: [4_000n] }, ...transaction }));

t.test(
  'a programmable NFT that a pool buys is a sale by whoever signs, paid from the escrow of the pool',
  async (t) => {
    const fulfil = anchorCall(MMM, 'sol_mip1_fulfill_buy', {
      0: seller,
      1: buyer,
      3: fees,
      4: addressOf(50),
      5: escrow,
      7: mint,
    });
    const transfer = {
      programId: METADATA_PROGRAM,
      accounts: placed({ 1: seller, 3: buyer, 4: mint, 7: addressOf(51) }),
      data: [0x31],
    };
    const { type, events, description } = tell({
      calls: [fulfil],
      inner: [transfer, move(held, got), pay(escrow, seller, 900n), pay(escrow, creator, 70n), pay(escrow, fees, 30n)],
      signers: [seller],
      tokens: changesHands,
    });
    t.equal(type, 'NFT_SALE');
    t.match(events.nft, {
      nfts: [{ mint, tokenStandard: 'ProgrammableNonFungible' }],
      seller,
      buyer,
      amount: '1000',
      royalties: [{ account: creator, amount: '70' }],
    });
    t.match(description, `${seller} sold the NFT ${mint} to ${buyer} for 0.000001 SOL`);
  },
);

t.test('a sale that a program pays by changing lamports is told by the balances, or without a price', async (t) => {
  const sell = anchorCall(TENSOR_SWAP, 'sell_nft_token_pool', { 1: fees, 6: mint, 8: escrow, 9: buyer, 10: seller });
  const told = (loser: bigint): EnhancedTransaction['events'] =>
    tell({
      calls: [sell],
      inner: [move(held, got)],
      signers: [seller],
      accounts: [seller, escrow, fees, creator, vault],
      lamports: {
        before: [10_000n, 5_000n, 0n, 0n, 400n],
        after: [10_000n - 5_000n + 930n + loser, 4_000n, 20n, 50n, 400n - loser],
      },
      tokens: changesHands,
    }).events;
  t.match(told(0n).nft, { seller, buyer, amount: '1000', royalties: [{ account: creator, amount: '50' }] });
  t.match(told(300n).nft, { seller, buyer, amount: null, royalties: null }); // which part is rent isn't known
});

t.test('a sale in another currency has its mint, and several in one transaction have one sum', async (t) => {
  const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const other = addressOf(60);
  const tokenAccounts = [40, 41].map(addressOf) as [string, string];
  const buy = (of: string): SyntheticCall =>
    anchorCall(TENSOR, 'buy_legacy_spl', { 0: fees, 2: buyer, 6: of, 8: seller });
  const view = tell({
    calls: [buy(mint), buy(other)],
    inner: [
      move(held, got),
      tokenCall('transfer', {
        source: tokenAccounts[0],
        destination: tokenAccounts[1],
        amount: '2500000',
        authority: buyer,
      }),
    ],
    signers: [buyer],
    tokens: [
      ...changesHands,
      { account: tokenAccounts[0], mint: usdc, owner: buyer, before: 5_000_000n, after: 2_500_000n },
      { account: tokenAccounts[1], mint: usdc, owner: seller, before: 0n, after: 2_500_000n },
    ],
  });
  t.match(view.events.nft, { seller, buyer, amount: '2500000', currencyMint: usdc, royalties: [] });
  t.strictSame(
    view.events.nft?.nfts.map((nft) => nft.mint),
    [mint, other],
  );
});

t.test('a listing that moves the NFT to an escrow is a listing, and bids name what they offer', async (t) => {
  const price = u64Bytes(1_500_000_000n);
  const listing = tell({
    calls: [anchorCall(TENSOR_SWAP, 'list', { 2: mint, 5: seller }, [...price, 0, 0])],
    inner: [move(held, escrow)],
    signers: [seller],
    tokens: [nftBalance(held, seller, 1n, 0n), nftBalance(escrow, vault, 0n, 1n)],
  });
  t.match([listing.type, listing.events.nft?.amount], ['NFT_LISTING', '1500000000']);
  t.match(listing.description, `${seller} listed the NFT ${mint} for 1.5 SOL on Tensor`);
  const target = [...Array<number>(8 + 32 + 1 + 32 - 8).fill(7)];
  const bids = [
    anchorCall(TENSOR, 'bid', { 3: buyer }, [...target, 0, 0, ...price, 1, 0, 0, 0, 0, 0, 0, 0]),
    anchorCall(TENSOR, 'bid', { 3: buyer }, [
      ...target,
      1,
      0,
      1,
      ...Array<number>(32).fill(1),
      ...price,
      1,
      0,
      0,
      0,
      0,
      0,
    ]),
    anchorCall(M2, 'buy_v2', { 0: buyer, 2: mint }, [...price, 0]),
  ].map((call) => tell({ calls: [call], signers: [buyer] }));
  t.strictSame(
    bids.map(({ type, events }) => [type, events.nft?.buyer, events.nft?.seller, events.nft?.amount]),
    bids.map(() => ['NFT_BID', buyer, null, '1500000000']),
  );
  // a programmable NFT may be listed in another currency, which accounts behind the named ones tell
  const unclear = tell({
    calls: [anchorCall(M2, 'mip1_sell', { 0: seller, 4: mint }, [...price, 0], 23)],
    signers: [seller],
  });
  t.match([unclear.type, unclear.events.nft?.amount], ['NFT_LISTING', null]);
  const cancelled = tell({ calls: [anchorCall(TENSOR, 'cancel_bid', { 1: buyer })], signers: [buyer] });
  t.match(cancelled, { type: 'NFT_BID_CANCELLED', description: `${buyer} took back a bid for an NFT on Tensor` });
});

t.test('assets of Core and compressed ones are told though no token account changes', async (t) => {
  const sent = tell({
    calls: [{ programId: CORE, accounts: [mint, CORE, seller, CORE, buyer], data: [0x0e, 0] }],
    signers: [seller],
  });
  t.match(sent, { type: 'NFT_TRANSFER', description: `${seller} sent the NFT ${mint} to ${buyer}` });
  t.strictSame(sent.events.nft?.nfts, [{ mint, tokenStandard: 'MplCoreAsset' }]);
  // tree, number and id of a leaf as Helius names them
  const tree = 'JBpDsEfjn6tqBfk65EVYsWaf2N2Ys6T4UumdcqdaX55j';
  const leaf = [...Array<number>(96).fill(0), ...u64Bytes(192_969n), 0, 0, 0, 0];
  const id = 'Amg9p8SdgyyPKEsjfXx3geBDBduG7Z6TtaXAEd4aAQ5X';
  const transfer = tell({
    calls: [anchorCall(BUBBLEGUM, 'transfer', { 1: seller, 3: buyer, 4: tree }, leaf, 8)],
    signers: [seller],
  });
  t.match(transfer, { type: 'COMPRESSED_NFT_TRANSFER', events: { nft: { nfts: [{ mint: id }], seller, buyer } } });
  const flags = [
    ...Array<number>(96).fill(0),
    1,
    ...Array<number>(32).fill(0),
    1,
    5,
    ...u64Bytes(192_969n),
    0,
    0,
    0,
    0,
  ];
  const burn = tell({
    calls: [anchorCall(BUBBLEGUM, 'burn_v2', { 3: seller, 5: tree }, flags, 12)],
    signers: [seller],
  });
  t.match(burn, {
    type: 'COMPRESSED_NFT_BURN',
    description: `${seller} burned the compressed NFT ${id} with Bubblegum`,
  });
  const many = Array.from({ length: 1000 }, () => anchorCall(BUBBLEGUM, 'burn', { 1: seller, 3: tree }, leaf, 7));
  const started = process.cpuUsage();
  tell({ calls: many, signers: [seller] });
  t.ok(process.cpuUsage(started).user < 500_000, 'no more ids are derived than a transaction can have');
});

t.test('a burn tells the whole rent that it gave back', async (t) => {
  const burn = {
    programId: METADATA_PROGRAM,
    accounts: placed({ 0: seller, 4: mint, 10: METADATA_PROGRAM }),
    data: [0x29],
  };
  const view = tell({
    calls: [burn],
    inner: [
      tokenCall('burn', { account: held, mint, amount: '1', authority: seller }),
      tokenCall('closeAccount', { account: held, destination: seller, owner: seller }),
    ],
    signers: [seller],
    accounts: [seller, held, vault],
    lamports: { before: [1_000_000n, 2_039_280n, 5_616_720n], after: [1_000_000n - 5_000n + 7_656_000n, 0n, 0n] },
    tokens: [nftBalance(held, seller, 1n, null)],
  });
  t.match(view, { type: 'BURN_NFT', events: { nft: { nfts: [{ mint, tokenStandard: null }], seller } } });
  t.equal(view.description, `${seller} burned the NFT ${mint} and got back 0.007656 SOL of rent with Token Metadata`);
});

t.test(
  'a sale by an instruction that no table has is told by the balances, with what its side paid or got',
  async (t) => {
    const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    const [paying, paid] = [40, 41].map(addressOf) as [string, string];
    const sale = (signer: string): EnhancedTransaction =>
      tell({
        calls: [{ programId: M2, accounts: [seller, buyer], data: [9, 9, 9] }],
        inner: [
          move(held, got),
          tokenCall('transfer', { source: paying, destination: paid, amount: '7000000', authority: buyer }),
        ],
        signers: [signer],
        tokens: [
          ...changesHands,
          { account: paying, mint: usdc, owner: buyer, before: 7_000_000n, after: 0n },
          { account: paid, mint: usdc, owner: seller, before: 0n, after: 7_000_000n },
        ],
      });
    const [bought, sold] = [sale(buyer), sale(seller)];
    t.match(bought.events.nft, { seller: null, buyer, amount: '7000000', currencyMint: usdc, royalties: null });
    t.equal(sold.description, `${seller} sold the NFT ${mint} on Magic Eden and received 7 USDC`);
  },
);

t.test('an NFT that is left for a loan is not sold', async (t) => {
  const borrow = {
    programId: 'SHARKobtfF1bHhxD2eqftjHBdVSCbKo9JtgK71FhELP',
    accounts: [seller, vault],
    data: [1, 2, 3],
  };
  const { type, events } = tell({
    calls: [borrow],
    inner: [move(held, escrow), pay(vault, seller, 5_000_000_000n)],
    signers: [seller],
    accounts: [seller, vault],
    lamports: { before: [9_000n, 6_000_000_000n], after: [5_000_004_000n, 1_000_000_000n] },
    tokens: [nftBalance(held, seller, 1n, 0n), nftBalance(escrow, vault, 0n, 1n)],
  });
  t.not(type, 'NFT_SALE');
  t.equal(events.nft?.amount ?? null, null);
});

t.test('who got which of several NFTs is told', async (t) => {
  const other = addressOf(61);
  const [from, to, third] = [addressOf(62), addressOf(63), addressOf(64)];
  const view = tell({
    calls: [move(held, got), move(from, to)],
    signers: [seller],
    tokens: [...changesHands, nftBalance(from, seller, 1n, 0n, other), nftBalance(to, third, 0n, 1n, other)],
  });
  t.equal(view.description, `${seller} sent the NFT ${mint} to ${buyer} and the NFT ${other} to ${third}`);
});

t.test('a failed attempt says what was tried', async (t) => {
  const view = tell({
    calls: [anchorCall(M2, 'execute_sale_v2', { 0: buyer, 1: seller, 4: mint })],
    signers: [buyer],
    err: { InstructionError: [0, { Custom: 1 }] },
  });
  t.match(view, { type: 'NFT_SALE', events: {} });
  t.match(explainTransaction(view), /tried to trade an NFT, but/);
});
