import { z } from 'zod';
import { base58, countOrZero, positiveCount, section, wholeNumber } from './value-types.ts';

const tierLimits = {
  requests: positiveCount,
  streams: countOrZero,
  subscriptions: countOrZero,
  messages: positiveCount,
  inFlight: positiveCount,
};
const tier = section({ ...tierLimits, windowSeconds: wholeNumber(1, 86_400) });

/** Who may ask how much. A wallet gets the free tier once more for each step that it holds, up to `staked`. */
export const limitsSchema = section({
  free: tier,
  build: tier,
  scale: tier,
  staked: section(tierLimits),
  identities: positiveCount,
  connections: positiveCount,
  bodyBytes: wholeNumber(1, 2 ** 24),
  inFlight: positiveCount,
  queue: countOrZero,
  loopDelayMs: wholeNumber(1, 60_000),
});

const MINT = 'expected the address of a mint, or null for no staked tier';
const STEP = 'expected a count of base units as a text of digits, from 1 to 2^64';
const HOST = 'expected the name of the host that wallets sign for';

/** What a wallet must hold, and for how long. */
export const stakeSchema = section({
  mint: z.nullable(base58(MINT)),
  step: z.string(STEP).regex(/^[1-9]\d{0,18}$/, STEP),
  holdSeconds: wholeNumber(1, 86_400),
  host: z.nullable(z.string(HOST).regex(/^(?!null$)[A-Za-z0-9.:_-]{1,253}$/, HOST)),
  wallets: positiveCount,
});
