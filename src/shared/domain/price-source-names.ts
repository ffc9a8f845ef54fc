/** The sources of prices, in the order in which they are queried. */
export const PRICE_SOURCES = ['static', 'pyth-onchain', 'jupiter-v3'] as const;

export type PriceSourceName = (typeof PRICE_SOURCES)[number];
