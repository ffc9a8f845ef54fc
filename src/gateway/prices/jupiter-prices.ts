import type { Clock } from '../../shared/domain/clock.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { type Decimal, parseDecimal, roundPrice } from '../../transactions/index.ts';
import { isNull, type Members, members, membersYielding, parseIntegerOrNull } from '../upstream/json/raw-json.ts';
import type { GetBytes } from './http-get.ts';
import { type FindPrices, type Price, pricesOf } from './price-source.ts';

export interface JupiterOptions {
  readonly url: string;
  readonly get: GetBytes;
  readonly clock: Pick<Clock, 'now'>;
  /** Returns the tip and the average slot time, from which the age of a price is computed. */
  readonly tip: () => { readonly slot: Slot; readonly slotTimeMs: number };
}

/** The most mints per request. https://dev.jup.ag/api-reference/price/v3/price */
export const JUPITER_MAX_IDS = 50;

/** Creates a source that requests Jupiter's price API, version 3, or a compatible one, for at most {@link JUPITER_MAX_IDS}. */
export const jupiterPrices =
  ({ url, get, clock, tip }: JupiterOptions): FindPrices =>
  async (mints, { cost }) => {
    const target = new URL(url);
    target.searchParams.set('ids', mints.join(','));
    const byMint = await membersYielding(await get(target.href, cost));
    const { slot: tipSlot, slotTimeMs } = tip();
    const nowMs = clock.now();
    const priceIn = (entry: Buffer): Price | undefined => {
      const parts = members(entry);
      const usd = usdOf(parts);
      if (usd === undefined) return undefined;
      const slot = parseIntegerOrNull(parts.get('blockId'));
      const ageMs = slot === null ? 0 : Math.max(0, tipSlot - slot) * slotTimeMs;
      return { usd, source: 'jupiter-v3', slot, time: Math.floor((nowMs - ageMs) / 1000), stale: false };
    };
    return pricesOf(mints, (mint) => {
      const entry = byMint.get(mint);
      if (entry === undefined || isNull(entry)) return undefined; // the service has no reliable price of it
      return tryOrUndefined(() => priceIn(entry)); // an odd entry leaves the other mints their prices
    });
  };

/** The price of what the chain counts. `usdPrice` is that of an amount as shown; a mint with a multiplier has both. */
function usdOf(parts: Members): Decimal | undefined {
  const scaled = parts.get('scaledUiConfig');
  const isScaled = scaled !== undefined && !isNull(scaled);
  const number = isScaled ? members(scaled).get('usdPricePrescaled') : parts.get('usdPrice');
  const usd = number && parseDecimal(number.toString('latin1'));
  return usd === undefined || usd.units === 0n ? undefined : roundPrice(usd);
}
