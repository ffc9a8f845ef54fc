import {
  decodePriceUpdate,
  findPriceFeedAddress,
  type PriceUpdate,
  type PythPrograms,
  usablePrice,
} from '../../transactions/index.ts';
import type { AccountSource } from '../upstream/reads/account-batcher.ts';
import { parseEncodedAccount } from '../upstream/reads/encoded-accounts.ts';
import { type FindPrices, type PriceAsOf, pricesOf } from './price-source.ts';

export interface PythOptions {
  readonly accounts: AccountSource;
  /** The pairs of programs that may have a feed's account; the newest price of all counts. */
  readonly programs: readonly PythPrograms[];
  /** The id of each mint's feed: 64 hex digits. */
  readonly feeds: Readonly<Record<string, string>>;
}

interface Feed {
  readonly id: string;
  /** One under each pair of programs. */
  readonly accounts: readonly { readonly address: string; readonly receiver: string }[];
}

/** Creates a source of Pyth's prices on chain. They are read as accounts, at the slot that is valued or later. */
export function pythPrices({ accounts, programs, feeds }: PythOptions): FindPrices {
  const feedsByMint = new Map(
    Object.entries(feeds).map(([mint, feed]): [string, Feed] => {
      const ofPrograms = programs.map(({ receiver, pushOracle }) => ({
        address: findPriceFeedAddress(pushOracle, feed),
        receiver,
      }));
      return [mint, { id: feed.replace(/^0x/, '').toLowerCase(), accounts: ofPrograms }];
    }),
  );
  const readNewest = async (feed: Feed, { commitment, slot, cost }: PriceAsOf): Promise<PriceUpdate | undefined> => {
    const updates = await Promise.all(
      feed.accounts.map(async ({ address, receiver }) => {
        const query = { address, shape: 'parsed', commitment, minContextSlot: slot, cost } as const;
        const { account } = await accounts.read(query);
        return account === null ? undefined : decodePriceUpdate(parseEncodedAccount(account), receiver);
      }),
    );
    return updates
      .filter((update) => update?.feedId === feed.id)
      .reduce((newest, update) => (isNewer(update, newest) ? update : newest), undefined);
  };
  return async (mints, asOf) => {
    const read = async (mint: string) => {
      const feed = feedsByMint.get(mint);
      return [mint, feed && (await readNewest(feed, asOf))] as const;
    };
    const updates = new Map(await Promise.all(mints.map(read)));
    return pricesOf(mints, (mint) => {
      const update = updates.get(mint);
      const usd = update && usablePrice(update);
      if (update === undefined || usd === undefined) return undefined;
      const [slot, time] = [Number(update.postedSlot), Number(update.publishTime)];
      return { usd, source: 'pyth-onchain', slot, time, stale: false };
    });
  };
}

const isNewer = (update: PriceUpdate | undefined, other: PriceUpdate | undefined): boolean =>
  update !== undefined && (other === undefined || update.publishTime > other.publishTime);
