import type { Clock } from '../domain/clock.ts';
import { decodePriceUpdate, findPriceFeedAddress, usablePrice } from '../solana/accounts/pyth-price.ts';
import type { AccountSource } from '../upstream/reads/account-batcher.ts';
import { parseEncodedAccount } from '../upstream/reads/encoded-accounts.ts';
import type { Price, PriceSource } from './price-source.ts';

export interface PythOptions {
  /** The source of the feeds' accounts. Those that are kept live cost no upstream call. */
  readonly accounts: AccountSource;
  readonly clock: Pick<Clock, 'now'>;
  /** The id of each mint's feed: 64 hex digits. */
  readonly feeds: Readonly<Record<string, string>>;
  readonly maxAgeSec: number;
}

/** Creates a source of Pyth's prices on chain. They are read as accounts, at the slot that is valued or later. */
export function pythPrices({ accounts, clock, feeds, maxAgeSec }: PythOptions): PriceSource {
  const feedsByMint = new Map(
    Object.entries(feeds).map(([mint, feed]) => [
      mint,
      { address: findPriceFeedAddress(feed), id: feed.replace(/^0x/, '').toLowerCase() },
    ]),
  );
  return {
    name: 'pyth-onchain',
    async prices(mints, { commitment, slot, cost }) {
      const wanted = mints.flatMap((mint) => {
        const feed = feedsByMint.get(mint);
        return feed === undefined ? [] : [{ mint, feed }];
      });
      const read = await Promise.all(
        wanted.map(async ({ mint, feed }) => {
          const query = { address: feed.address, shape: 'parsed', commitment, minContextSlot: slot, cost } as const;
          return { mint, feed, account: (await accounts.read(query)).account };
        }),
      );
      const nowSec = clock.now() / 1000;
      return new Map(
        read.flatMap(({ mint, feed, account }): [string, Price][] => {
          const update = account === null ? undefined : decodePriceUpdate(parseEncodedAccount(account));
          const usd = update?.feedId === feed.id ? usablePrice(update, nowSec, maxAgeSec) : null;
          if (update === undefined || usd === null) return [];
          const { postedSlot, publishTime } = update;
          return [[mint, { usd, source: 'pyth-onchain', slot: Number(postedSlot), time: Number(publishTime) }]];
        }),
      );
    },
  };
}
