import type { Commitment } from '../../shared/domain/commitment.ts';
import type { PriceSourceName } from '../../shared/domain/price-source-names.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { RequestCost } from '../../shared/domain/units.ts';
import type { Decimal } from '../../transactions/index.ts';

/** Of `10 ** decimals` of the smallest units that the chain counts, whatever multiplier amounts are shown with. */
export interface Price {
  readonly usd: Decimal;
  readonly source: PriceSourceName;
  readonly slot: Slot | null;
  readonly time: number | null;
  /** True for the last known price: it is too old to be the market's, or its source can't be reached now. */
  readonly stale: boolean;
}

export interface PriceAsOf {
  readonly commitment: Commitment;
  /** The slot of the state that is valued: a price read from the chain must not be older. */
  readonly slot: Slot;
  readonly cost?: RequestCost | undefined;
}

/** A source of prices. Resolves to them by mint, of any age, SOL under the mint of wrapped SOL. A mint without a price is left out. */
export type FindPrices = (mints: readonly string[], asOf: PriceAsOf) => Promise<ReadonlyMap<string, Price>>;

export const pricesOf = (
  mints: readonly string[],
  priceOf: (mint: string) => Price | undefined,
): ReadonlyMap<string, Price> =>
  new Map(
    mints.flatMap((mint): [string, Price][] => {
      const price = priceOf(mint);
      return price === undefined ? [] : [[mint, price]];
    }),
  );
