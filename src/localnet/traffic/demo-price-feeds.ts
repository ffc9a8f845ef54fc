import bs58 from 'bs58';
import { WRAPPED_SOL } from '../../shared/domain/known-mints.ts';
import { findPriceFeedAddress } from '../../transactions/index.ts';
import type { Chain } from '../bank/chain.ts';
import { DOLLAR, GOLD, POINTS, TOLL, TREASURY } from './demo-accounts.ts';
import { seededRng } from './seeded-rng.ts';

/** Pyth's program that derives one account per feed, and below it the one that verifies and owns the accounts. */
export const PYTH_PUSH_ORACLE = 'pythWSnswVUd12oZpeFP8e9CVaEqJg25g1Vtc2biRsT';
const RECEIVER = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';

const feedIdOf = (mint: string): string => Buffer.from(bs58.decode(mint)).toString('hex');

interface DemoPriceFeed {
  readonly mint: string;
  /** 64 hex digits. */
  readonly id: string;
  /** First price, in 10 ** -8 dollars. */
  readonly startPrice: bigint;
}

const FEEDS: readonly [DemoPriceFeed, ...DemoPriceFeed[]] = [
  // SOL has the feed id that it has on every cluster: https://insights.pyth.network
  {
    mint: WRAPPED_SOL,
    id: 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d',
    startPrice: 150_00000000n,
  },
  { mint: DOLLAR.mint.address, id: feedIdOf(DOLLAR.mint.address), startPrice: 1_00000000n },
  { mint: GOLD.mint.address, id: feedIdOf(GOLD.mint.address), startPrice: 2500_00000000n },
  { mint: POINTS.mint.address, id: feedIdOf(POINTS.mint.address), startPrice: 1000000n },
  { mint: TOLL.mint.address, id: feedIdOf(TOLL.mint.address), startPrice: 50000000n },
];

/** Pyth feed of each mint that has a price in the demo, in the format of the setting `prices.pyth.feeds`. */
export const PRICE_FEEDS: Readonly<Record<string, string>> = Object.fromEntries(
  FEEDS.map(({ mint, id }) => [mint, id]),
);

/** Prices have eight decimals: -8 as an i32. */
const EXPONENT = Uint8Array.of(0xf8, 0xff, 0xff, 0xff);
const PRICE_UPDATE_BYTES = 134;
const PRICE_SEED = 2;

/** The first 8 bytes of sha256("account:PriceUpdateV2"). */
const DISCRIMINATOR = Uint8Array.of(0x22, 0xf1, 0x23, 0x63, 0x9d, 0x7e, 0xf4, 0xcd);

/** Each slot updates one feed by a small step, without a transaction: Pyth's programs are not part of LiteSVM. */
export function startPriceFeeds(chain: Chain): void {
  const { intBelow } = seededRng(PRICE_SEED);
  const lamports = chain.minimumBalance(PRICE_UPDATE_BYTES);
  const quotes = FEEDS.map(({ id, startPrice }) => ({
    id,
    start: startPrice,
    price: startPrice,
    time: 0,
    account: findPriceFeedAddress(PYTH_PUSH_ORACLE, id),
  }));
  const post = (quote: (typeof quotes)[number]): void => {
    const time = Math.floor(chain.slotClock.startMsOf(chain.workingSlot) / 1000);
    const confidence = quote.price / 2000n;
    const members = [
      DISCRIMINATOR,
      bs58.decode(TREASURY.address), // the write authority
      Uint8Array.of(1), // fully verified
      Buffer.from(quote.id, 'hex'),
      u64(quote.price),
      u64(confidence),
      EXPONENT,
      u64(time), // published
      u64(quote.time || time), // published before
      u64(quote.price), // the average of both
      u64(confidence),
      u64(chain.workingSlot),
    ];
    const data = Buffer.concat(members, PRICE_UPDATE_BYTES);
    quote.time = time;
    chain.setAccount(quote.account, { lamports, owner: RECEIVER, executable: false, data });
  };
  for (const quote of quotes) post(quote);
  chain.onSlot(({ openedSlot }) => {
    const quote = quotes[openedSlot % quotes.length];
    if (quote === undefined) return;
    const nextPrice = quote.price + (quote.price * BigInt(intBelow(401) - 200)) / 100_000n;
    const isNear = nextPrice * 5n > quote.start * 4n && nextPrice * 5n < quote.start * 6n; // within a fifth of the start
    if (isNear) quote.price = nextPrice;
    post(quote);
  });
}

function u64(value: number | bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
