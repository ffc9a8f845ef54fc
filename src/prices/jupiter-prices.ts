import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { Slot } from '../domain/slot.ts';
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
      const found = new Map<string, Price>();
      for (let i = 0; i < mints.length; i += MAX_IDS) {
        if (cost !== undefined) cost.calls++;
        for (const [mint, price] of await fetchPrices(mints.slice(i, i + MAX_IDS))) found.set(mint, price);
      }
      return found;
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
