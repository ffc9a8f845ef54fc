import { z } from 'zod';
import { PRICE_SOURCES } from '../domain/price-source.ts';

const FORM = `expected a list of ${PRICE_SOURCES.join(', ')}, or null to value only what the embedded cluster has`;

const group = <T extends z.core.$ZodShape>(shape: T) => z.strictObject(shape, 'expected a group of settings');

/** Settings by mint: SOL stands under the mint of wrapped SOL. */
const byMint = <T extends z.ZodType>(value: T, expected: string) =>
  z.record(z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected the address of a mint'), value, expected);

const price = z.number('expected a price in dollars').positive('expected a price above zero');
const feed = z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'expected the id of a Pyth feed: 64 hex digits');
const AGE = 'expected a whole number from 1 to 86400';

/** What tokens are worth, and who says so. */
export const pricesSchema = group({
  sources: z.nullable(z.array(z.enum(PRICE_SOURCES, FORM), FORM)),
  maxAgeSec: z.int(AGE).min(1, AGE).max(86_400, AGE),
  static: byMint(price, 'expected prices in dollars by mint'),
  pyth: group({ feeds: byMint(feed, 'expected ids of Pyth feeds by mint') }),
  jupiter: group({ url: z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' }) }),
});
