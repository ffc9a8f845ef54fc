/** Where prices can come from, in the order in which they are asked for each mint. */
export const PRICE_SOURCES = ['static', 'pyth-onchain', 'jupiter-v3'] as const;

export type PriceSourceName = (typeof PRICE_SOURCES)[number];
