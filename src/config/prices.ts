import { z } from 'zod';
import { PRICE_SOURCES } from '../domain/price-source-names.ts';
import { base58, group, whole } from './kinds.ts';

const FORM = `expected a list of ${PRICE_SOURCES.join(', ')}, or null to value only what the embedded cluster has`;

/** Settings by mint: SOL stands under the mint of wrapped SOL. */
const byMint = <T extends z.ZodType>(value: T, expected: string) =>
  z.record(base58('expected the address of a mint'), value, expected);

const price = z.number('expected a price in dollars').positive('expected a price above zero');
const feed = z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'expected the id of a Pyth feed: 64 hex digits');

/** What tokens are worth, and who says so. */
export const pricesSchema = group({
  sources: z.nullable(z.array(z.enum(PRICE_SOURCES, FORM), FORM)),
  maxAgeSec: whole(1, 86_400),
  static: byMint(price, 'expected prices in dollars by mint'),
  pyth: group({ feeds: byMint(feed, 'expected ids of Pyth feeds by mint') }),
  jupiter: group({ url: z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' }) }),
});
