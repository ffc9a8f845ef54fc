import type { Commitment } from '../domain/commitment.ts';
import type { PriceSourceName } from '../domain/price-source-names.ts';
import type { RequestCost } from '../domain/request-cost.ts';
import type { Slot } from '../domain/slot.ts';

/** The price of one whole token. */
export interface Price {
  /** The price in US dollars, to 12 significant digits. */
  readonly usd: number;
  readonly source: PriceSourceName;
  /** The slot of the price; null when the source gives none. */
  readonly slot: Slot | null;
  /** The Unix time of the price in seconds; null when the source gives none. */
  readonly time: number | null;
}

/** The state for which prices are wanted. */
export interface PriceAsOf {
  readonly commitment: Commitment;
  /** The slot of the state that is valued: a price read from the chain must not be older. */
  readonly slot: Slot;
  /** The request that the reads count for. */
  readonly cost?: RequestCost | undefined;
}

/** A source of prices. */
export interface PriceSource {
  readonly name: PriceSourceName;
  /** Resolves to prices by mint, SOL under the mint of wrapped SOL. A mint without a price that is recent enough is left out. */
  prices(mints: readonly string[], asOf: PriceAsOf): Promise<ReadonlyMap<string, Price>>;
}
