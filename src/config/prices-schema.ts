import { z } from 'zod';
import { PRICE_SOURCES } from '../domain/price-source-names.ts';
import { base58, section, wholeNumber } from './value-types.ts';

const SOURCES_EXPECTED = `expected a list of ${PRICE_SOURCES.join(', ')}, or null to value only what the embedded cluster has`;

/** Returns the schema of a setting by mint; SOL is under the mint of wrapped SOL. */
const byMint = <T extends z.ZodType>(value: T, expected: string) =>
  z.record(base58('expected the address of a mint'), value, expected);

const price = z.number('expected a price in dollars').positive('expected a price above zero');
const feed = z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'expected the id of a Pyth feed: 64 hex digits');

/** What tokens are worth, and who says so. */
export const pricesSchema = section({
  sources: z.nullable(z.array(z.enum(PRICE_SOURCES, SOURCES_EXPECTED), SOURCES_EXPECTED)),
  maxAgeSec: wholeNumber(1, 86_400),
  static: byMint(price, 'expected prices in dollars by mint'),
  pyth: section({ feeds: byMint(feed, 'expected ids of Pyth feeds by mint') }),
  jupiter: section({ url: z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' }) }),
});
