import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
import { mapConcurrently } from '../runtime/map-concurrently.ts';
import type { Price, PriceSource } from './price-source.ts';

export interface JupiterOptions {
  /** The URL of the service, without `?ids=`. */
  readonly url: string;
  /** Requests a URL and resolves to the response's text. Rejects for any status but 200. */
  readonly getText: (url: string) => Promise<string>;
  readonly maxAgeSec: number;
  /** Returns the tip and the average slot time, from which the age of a price is computed. */
  readonly tip: () => { readonly slot: Slot; readonly slotTimeMs: number };
}

/** The most mints per request. https://dev.jup.ag/docs/price/v3 */
const MAX_IDS = 50;

/** The most mints per look-up, as many as a portfolio has: further ones get no price. */
const MAX_MINTS = 1000;

/** The most requests of one look-up that are under way. */
const MAX_CONCURRENT_REQUESTS = 4;

/** The service leaves out a mint without a reliable price, or returns null for it. */
const responseSchema = z.record(
  z.string(),
  z.object({ usdPrice: z.number().positive().nullish(), blockId: z.int().nonnegative().nullish() }).nullable(),
);

/** Creates a source that requests Jupiter's price API, version 3, or a compatible one. */
export function jupiterPrices({ url, getText, maxAgeSec, tip }: JupiterOptions): PriceSource {
  const fetchPrices = async (mints: readonly string[]): Promise<[string, Price][]> => {
    const target = new URL(url);
    target.searchParams.set('ids', mints.join(','));
    const response = responseSchema.safeParse(parseJsonOrUndefined(await getText(target.href)));
    if (!response.success) throw new GatewayError('upstream_error', 'the price service sent a malformed response');
    const { slot, slotTimeMs } = tip();
    const isOld = (priceSlot: Slot): boolean => ((slot - priceSlot) * slotTimeMs) / 1000 > maxAgeSec;
    return mints.flatMap((mint): [string, Price][] => {
      const { usdPrice = null, blockId = null } = response.data[mint] ?? {};
      if (usdPrice === null || (blockId !== null && isOld(blockId))) return [];
      const usd = Number(usdPrice.toPrecision(12));
      return [[mint, { usd, source: 'jupiter-v3', slot: blockId, time: null }]];
    });
  };
  return {
    name: 'jupiter-v3',
    async prices(mints, { cost }) {
      const batches: (readonly string[])[] = [];
      for (let i = 0; i < Math.min(mints.length, MAX_MINTS); i += MAX_IDS) batches.push(mints.slice(i, i + MAX_IDS));
      const found = await mapConcurrently(batches, MAX_CONCURRENT_REQUESTS, (batch) => {
        if (cost !== undefined) cost.calls++;
        return fetchPrices(batch);
      });
      return new Map(found.flat());
    },
  };
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
