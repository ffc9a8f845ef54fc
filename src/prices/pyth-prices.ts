import type { Clock } from '../domain/clock.ts';
import { decodePriceUpdate, findPriceFeedAddress, usablePrice } from '../solana/accounts/pyth-price.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { readEncodedAccounts } from '../upstream/reads/encoded-accounts.ts';
import type { Price, PriceSource } from './price-source.ts';

export interface PythOptions {
  readonly mesh: Pick<Mesh, 'call'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The id of each mint's feed: 64 hex digits. */
  readonly feeds: Readonly<Record<string, string>>;
  readonly maxAgeSec: number;
}

/** Creates a source of Pyth's prices on chain. They are read as accounts, at the slot that is valued or later. */
export function pythPrices({ mesh, clock, feeds, maxAgeSec }: PythOptions): PriceSource {
  const feedsByMint = new Map(
    Object.entries(feeds).map(([mint, feed]) => [
      mint,
      { address: findPriceFeedAddress(feed), id: feed.replace(/^0x/, '').toLowerCase() },
    ]),
  );
  return {
    name: 'pyth-onchain',
    async prices(mints, { commitment, slot }) {
      const wanted = mints.flatMap((mint) => {
        const feed = feedsByMint.get(mint);
        return feed === undefined ? [] : [{ mint, feed }];
      });
      const addresses = wanted.map(({ feed }) => feed.address);
      const { accounts } = await readEncodedAccounts(mesh, addresses, { commitment, minContextSlot: slot });
      const nowSec = clock.now() / 1000;
      return new Map(
        wanted.flatMap(({ mint, feed }): [string, Price][] => {
          const account = accounts.get(feed.address);
          const update = account && decodePriceUpdate(account);
          const usd = update?.feedId === feed.id ? usablePrice(update, nowSec, maxAgeSec) : null;
          if (update === undefined || usd === null) return [];
          const { postedSlot, publishTime } = update;
          return [[mint, { usd, source: 'pyth-onchain', slot: Number(postedSlot), time: Number(publishTime) }]];
        }),
      );
    },
  };
}
