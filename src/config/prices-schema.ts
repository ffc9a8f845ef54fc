import * as z from 'zod';
import { PRICE_SOURCES } from '../shared/domain/price-source-names.ts';
import { base58, type DeepReadonly, section, wholeNumber } from './value-types.ts';

const SOURCES_EXPECTED = `expected a list of ${PRICE_SOURCES.join(', ')}, or null to value only what the embedded cluster has`;

/** Returns the schema of a setting by mint; SOL is under the mint of wrapped SOL. */
const byMint = <T extends z.ZodType>(value: T, expected: string) =>
  z.record(base58('expected the address of a mint'), value, expected);

const price = z.number('expected a price in dollars').positive('expected a price above zero');
const feed = z.string().regex(/^(0x)?[0-9a-fA-F]{64}$/, 'expected the id of a Pyth feed: 64 hex digits');

const SYMBOL = 'expected a symbol: 1 to 16 letters and digits';
const PROGRAMS = 'expected up to 4 pairs of programs: receiver and pushOracle';
const KEY_FILE = 'expected the path of a file, or null';
const program = base58('expected the address of a program');
const serviceUrl = z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' });

export const tokensSchema = section({
  known: byMint(z.string(SYMBOL).regex(/^[A-Za-z0-9]{1,16}$/, SYMBOL), 'expected symbols by mint').describe(
    'Symbols of known mints by mint: they are verified, and another mint with such a symbol is suspicious.',
  ),
});

export const pricesSchema = section({
  sources: z
    .nullable(z.array(z.enum(PRICE_SOURCES, SOURCES_EXPECTED), SOURCES_EXPECTED))
    .describe('Price sources in use; null for the feeds of the embedded cluster, and none on any other.'),
  maxAgeSec: wholeNumber(1, 86_400).describe('Age in seconds beyond which a price is stale.'),
  maxStaleSec: wholeNumber(1, 2_592_000).describe('Age in seconds beyond which a price is not used at all.'),
  static: byMint(price, 'expected prices in dollars by mint').describe('Fixed prices in dollars by mint.'),
  pyth: section({
    programs: z
      .array(section({ receiver: program, pushOracle: program }), PROGRAMS)
      .max(4, PROGRAMS)
      .describe("Pairs of Pyth's programs that are read; of a feed's prices the newest counts."),
    feeds: byMint(feed, 'expected ids of Pyth feeds by mint').describe('Ids of Pyth price feeds by mint.'),
  }).describe('Prices from Pyth accounts on chain.'),
  jupiter: section({
    url: serviceUrl.describe('URL of the price API; it may contain a key and is redacted in output.'),
    tokensUrl: serviceUrl.describe('URL of the token search, which lists verified tokens; redacted like the other.'),
    keyFile: z
      .nullable(z.string(KEY_FILE).min(1, KEY_FILE))
      .describe('File with the key that is sent as x-api-key; SLOTGATE_JUPITER_KEY overrides it.'),
  }).describe('Prices from the Jupiter price API v3.'),
});

export type PriceSettings = DeepReadonly<z.output<typeof pricesSchema>>;
