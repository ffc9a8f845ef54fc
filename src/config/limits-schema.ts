import * as z from 'zod';
import { MAX_U64 } from '../shared/domain/max-u64.ts';
import {
  base58,
  byteCount,
  countOrZero,
  type DeepReadonly,
  positiveCount,
  section,
  wholeNumber,
} from './value-types.ts';

const tierLimits = {
  units: positiveCount.describe('Units per window: what a request costs is in the reference, under Limits.'),
  streams: countOrZero.describe('Open streams: WebSocket connections, and Server-Sent Events.'),
  subscriptions: countOrZero.describe(
    "Subscriptions per stream: accounts, topics of Server-Sent Events, and what Solana's pubsub has.",
  ),
  messages: positiveCount.describe(
    'WebSocket messages, and addresses subscribed to, per second over all connections of a caller.',
  ),
  inFlight: positiveCount.describe('Cache misses of a caller that may run at one time; as many more may wait.'),
  rpcBytes: byteCount(65_536).describe('Longest result of /rpc in bytes; longer ones are refused as result_too_large.'),
};
const windowSeconds = wholeNumber(1, 86_400).describe('Length of a window in seconds, from its first request on.');
const tier = section({ ...tierLimits, windowSeconds });

/** The limits of callers. A wallet gets the free tier once more for each step of its balance, up to `staked`. */
export const limitsSchema = section({
  free: tier.describe('Limits of a caller without credentials, counted per IPv4 address or IPv6 /64.'),
  build: tier.describe('Limits of an API key of the tier build.'),
  scale: tier.describe('Limits of an API key of the tier scale, which has priority in the queue.'),
  staked: section(tierLimits).describe(
    'Upper limits of a wallet with a stake, which gets the free tier once more for each stake.unitBalance it holds.',
  ),
  trackedAddresses: positiveCount.describe('Addresses counted separately; further ones share one window.'),
  connections: positiveCount.describe('Connections that an address may open per second.'),
  bodyBytes: wholeNumber(1, 2 ** 24).describe(
    'Longest request body in bytes, save of /explain (262,144); longer ones are refused as payload_too_large.',
  ),
  pendingBytes: section({
    total: byteCount(65_536).describe(
      'Bytes of answers that may wait for all readers together; further ones are refused as overloaded.',
    ),
    caller: byteCount(65_536).describe(
      'Bytes of answers that may wait for one caller to read them; further ones are refused as overloaded.',
    ),
  })
    .refine(({ total, caller }) => caller <= total, {
      path: ['caller'],
      error: 'expected at most limits.pendingBytes.total, which bounds all callers together',
    })
    .describe('Bytes of answers that the gateway holds until their readers have received them.'),
  inFlight: positiveCount.describe('Cache misses of all callers that may run at one time.'),
  queue: countOrZero.describe('Cache misses of all callers that may wait; further ones are refused as overloaded.'),
  loopDelayMs: wholeNumber(1, 60_000).describe(
    'Event loop lag in milliseconds above which new cache misses are refused as overloaded.',
  ),
});

export type LimitsSettings = DeepReadonly<z.output<typeof limitsSchema>>;

const MINT = 'expected the address of a mint, or null for no staked tier';
const STEP = 'expected a count of base units as a text of digits, from 1 to 2^64 - 1';
const HOST = 'expected the name of the host that wallets sign for';

export const stakeSchema = section({
  mint: z.nullable(base58(MINT)).describe('Mint whose holders get the staked tier; null for no staked tier.'),
  unitBalance: z
    .string(STEP)
    .regex(/^[1-9]\d{0,19}$/, { error: STEP, abort: true })
    .refine((text) => BigInt(text) <= MAX_U64, STEP)
    .describe('Balance of one step in base units of the mint, as a text of digits.'),
  holdSeconds: wholeNumber(1, 86_400).describe(
    'Time in seconds over which the lowest observed balance of a wallet counts.',
  ),
  host: z
    .nullable(z.string(HOST).regex(/^[A-Za-z0-9.:_-]{1,253}$/, HOST))
    .describe('Host name of this gateway in the text that wallets sign; required with stake.mint.'),
  wallets: positiveCount.describe(
    'Wallets whose balance is observed at one time, at most 2 for each second of stake.holdSeconds.',
  ),
}).refine(({ mint, host }) => mint === null || host !== null, {
  path: ['host'],
  error: `${HOST}, as stake.mint is set`,
});

export type StakeSettings = DeepReadonly<z.output<typeof stakeSchema>>;
