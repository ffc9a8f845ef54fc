import type { Commitment } from '../domain/commitment.ts';
import type { PriceSourceName } from '../domain/price-source-names.ts';
import type { Slot } from '../domain/slot.ts';

/** What one whole token is worth. */
export interface Price {
  /** To 12 significant digits. */
  readonly usd: number;
  readonly source: PriceSourceName;
  /** The slot at which the source had it; null for one that knows no slots. */
  readonly slot: Slot | null;
  /** Unix seconds of the price; null for one that does not say. */
  readonly time: number | null;
}

/** When prices are wanted for. */
export interface PriceAsOf {
  readonly commitment: Commitment;
  /** The state that is to be valued: a price read from the chain must not be older. */
  readonly slot: Slot;
}

/** Something that knows prices. */
export interface PriceSource {
  readonly name: PriceSourceName;
  /** Prices by mint, SOL under the mint of wrapped SOL. What has no price, or none that is fresh enough, is left out. */
  prices(mints: readonly string[], asOf: PriceAsOf): Promise<ReadonlyMap<string, Price>>;
}
