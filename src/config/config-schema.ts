import * as z from 'zod';
import { RPC_PROFILES } from '../shared/domain/rpc-methods.ts';
import { limitsSchema, stakeSchema } from './limits-schema.ts';
import { operatorsOf } from './operators.ts';
import { pricesSchema, tokensSchema } from './prices-schema.ts';
import { type NodeSetting, upstreamsSchema } from './upstreams-schema.ts';
import {
  base58,
  byteCount,
  countOrZero,
  type DeepPartial,
  type DeepReadonly,
  fraction,
  host,
  longDuration,
  milliseconds,
  oneOf,
  positiveCount,
  section,
  wholeNumber,
  wholeNumberOrNull,
} from './value-types.ts';

const text = z.string('expected a text').min(1, 'expected a text that is not empty');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected an IP address or a CIDR');

const GENESIS = 'expected a genesis hash in base58, or null to accept any cluster';
const ENGINES = ['auto', 'uws', 'uws-pack', 'node'] as const;
const LEVELS = ['info', 'warn', 'error', 'silent'] as const;

const upstreamPolicySchema = section({
  timeoutMs: milliseconds.describe('Longest time of a read, all attempts included, in milliseconds.'),
  slowTimeoutMs: milliseconds.describe(
    'Longest time of a read that scans a program or reaches into old ledgers, in milliseconds.',
  ),
  connections: wholeNumber(1, 10_000).describe(
    'HTTP connections per node, which is the number of requests in flight; a caller has at most a quarter of them.',
  ),
  queue: positiveCount.describe(
    'Requests per node that may wait for a connection, of one caller a quarter; further ones fail as overloaded.',
  ),
  maxBytes: byteCount(65_536).describe(
    'Longest response and longest WebSocket message in bytes, and most bytes of unread messages.',
  ),
  idleTimeoutMs: milliseconds.describe(
    'Time without a message after which a WebSocket is closed, or without a new slot after which a node is stalled, in milliseconds.',
  ),
  pingMs: milliseconds.describe('Interval of WebSocket pings in milliseconds; each must be answered before the next.'),
  ackTimeoutMs: milliseconds.describe(
    'Longest time of a WebSocket handshake or the acknowledgement of a subscription, in milliseconds.',
  ),
  backoffMinMs: milliseconds.describe('First delay before a reconnect, in milliseconds; it doubles with each failure.'),
  backoffMaxMs: milliseconds.describe('Longest delay before a reconnect, in milliseconds.'),
  startTimeoutMs: milliseconds.describe(
    'Longest time to wait for a first node at the start until the port opens without one, in milliseconds.',
  ),
  subscriptions: wholeNumberOrNull(7, 1_000_000).describe(
    'Most subscriptions per WebSocket connection, four of them for its slots; null to learn the limit of each node.',
  ),
  inFlightBytes: byteCount(65_536).describe('Bytes of responses being received at one time, over all nodes.'),
  maxSlotJump: wholeNumber(1, 1_000_000).describe(
    'Slots beyond the elapsed time that one node may be ahead before its slots are not believed.',
  ),
  recoverySlots: wholeNumber(1, 10_000).describe(
    'Slots that a single node must advance steadily after a larger jump before it is believed.',
  ),
});

const receiptsSchema = section({
  agree: z
    .union([wholeNumber(1, 16), z.literal('auto')], 'expected a number of operators, or "auto"')
    .describe(
      'Operators that must give the same value of a slot before it is signed as exact; auto for 2 where upstreams have two operators or more, otherwise 1.',
    ),
  sampleRate: fraction.describe(
    'Part of the reads of one operator that are repeated at another in the background, from 0 to 1; over one operator none is.',
  ),
});

const HOST = 'expected a host name or IP address without a port';
const ORIGIN = 'expected an origin in lower case, such as https://app.example';

const embeddedSchema = section({
  port: wholeNumberOrNull(0, 65_534).describe(
    'Port of its RPC, with pubsub on the same and on the next port; 0 for two free ones; null for 8899, or two free ones if 8899 or 8900 is in use.',
  ),
  slotMs: wholeNumber(20, 60_000).describe('Slot time in milliseconds.'), // a gateway that starts takes shorter slots for jumps
  skipEvery: countOrZero
    .refine((slots) => slots !== 1, 'expected 0, or a whole number from 2 to 1000000')
    .describe('Number of slots of which one has no block; 0 for a block in every slot.'),
  slotsPerEpoch: wholeNumber(32, 1_000_000_000).describe('Slots per epoch.'),
  transactionsPerSlot: wholeNumber(0, 1_000).describe('Average number of transactions per slot; 0 for no traffic.'),
  geyserPort: wholeNumberOrNull(0, 65_535).describe('Port of its Geyser gRPC feed, 0 for a free one; null for none.'),
});

const refreshSchema = section({
  epochMs: milliseconds.describe('Interval of reading the epoch, in milliseconds.'),
  performanceMs: milliseconds.describe('Interval of reading performance samples, in milliseconds.'),
  priorityFeeMs: milliseconds.describe('Interval of reading prioritization fees, in milliseconds.'),
  hotKeys: countOrZero.describe('Cache keys per slot that are refreshed for the next slot if they are read often.'),
});

const cacheSchema = section({
  bytes: byteCount(131_072).describe(
    'Memory of all cached answers and of the transactions that they show, in bytes; an eighth is for these.',
  ),
  maxStaleMs: longDuration.describe(
    'Time for which an answer that cannot be confirmed is still served as stale, in milliseconds; then it is 503 stale.',
  ),
  presign: countOrZero.describe('Bodies of a slot that are signed before they are requested.'),
  signBatchSize: wholeNumber(1, 256).describe(
    'Most answers per signature; beyond 64 the inclusion paths grow without benefit.',
  ),
});

const liveSchema = section({
  accounts: countOrZero.describe(
    'Accounts kept live by subscriptions, each commitment counted separately; 0 for none.',
  ),
  lists: countOrZero.describe('Token lists kept live, each commitment counted separately; 0 for none.'),
  logs: wholeNumber(0, 100_000).describe(
    'Addresses whose transactions are followed for logsSubscribe, each commitment counted separately; 0 for none.',
  ),
  maxListMembers: wholeNumber(0, 200).describe('Token accounts of the longest list that is kept live.'),
  callerShare: fraction.describe(
    'Part of these places that each caller has for certain, from 0 to 1; it counts only when all are in use. Of logs a caller has no more.',
  ),
  idleMs: longDuration.describe(
    'Time without a read after which an account or list is no longer kept live, in milliseconds; reads half of that apart begin it.',
  ),
  auditMs: milliseconds.describe(
    'Shortest interval in milliseconds of re-reading all live accounts, and 20 lists in turn, to compare them.',
  ),
  requestsPerSecond: wholeNumberOrNull(1, 10_000).describe(
    'Requests a second to one node for making accounts and lists live and for audits, which have half of them; a tenth of it where the node is pooled. Null for what the node sustains, from 20 to 200; 2 where it is pooled.',
  ),
  maxAccountBytes: byteCount(1).describe('Longest JSON of an account that is kept live, in bytes.'),
});

const ringSchema = section({
  bytes: byteCount(1 << 20).describe(
    'Memory of the past and present versions of accounts and token lists that are kept live, in bytes.',
  ),
  slots: wholeNumber(0, 1_000_000).describe('Slots for which past versions of them are kept.'),
  feedBytes: byteCount(1 << 20).describe(
    'Memory of what one stream of a Geyser feed has sent before it can be used, in bytes: blocks behind a gap, accounts that are read yet, and blocks that are requested again for streams that resume, each.',
  ),
});

/** The widget reconnects after ten seconds without a frame, and other clients after 15. */
const MAX_FRAME_GAP_MS = 9_000;

const streamSchema = section({
  throttleMs: wholeNumber(0, MAX_FRAME_GAP_MS).describe(
    'Shortest time between two frames of the stream, in milliseconds.',
  ),
  repeatAfterMs: wholeNumber(1, MAX_FRAME_GAP_MS).describe(
    'Longest time between two frames, in milliseconds: without news one repeats.',
  ),
  eventBytes: byteCount(65_536).describe(
    'Memory of signed events that are kept for the subscribers that come later, in bytes.',
  ),
  maxBackpressureBytes: byteCount(4_096).describe('Unsent bytes above which a connection counts as a slow consumer.'),
});

const workersSchema = section({
  count: z
    .union([wholeNumber(0, 256), z.literal('auto')], 'expected a number of workers, 0 for none, or "auto"')
    .describe(
      'Worker processes that share the port; 0 to serve from one process; auto for one less than the machine has cores, at least one.',
    ),
  cacheBytes: byteCount(131_072).describe('Memory of the copies of answers in each worker, in bytes.'),
});

const REDIS_URL = 'expected a URL such as redis://redis.internal:6379 (rediss:// for TLS) without a password, or null';

const redisSchema = section({
  url: z
    .nullable(
      z
        .string(REDIS_URL)
        .regex(/^rediss?:\/\/([^\s:@/]+@)?[^\s:@/]+(:\d{1,5})?(\/\d{1,5})?$/, REDIS_URL)
        .refine(URL.canParse, REDIS_URL),
    )
    .describe('Redis 6.2 or newer, or Valkey, which the gateways of a fleet share; null for none.'),
  passwordFile: z
    .nullable(text)
    .describe("File with Redis' password, or null for the one of SLOTGATE_REDIS_PASSWORD, or none."),
  ca: z
    .nullable(text)
    .describe("File with the certificate in PEM that Redis' one is signed with; null for public ones."),
});

const adminSchema = section({
  host: host.describe('Address to listen on for operators; on loopback only a Host of this machine is answered.'),
  port: wholeNumberOrNull(0, 65_535).describe('Port to listen on for operators; 0 for a free one; null for none.'),
});

/**
 * The schema of all settings, with their meanings. The names of environment variables and of `--set` derive from it. It
 * has no defaults: those are in config/default.json, the lowest layer of every configuration.
 */
export const configSchema = section({
  host: host.describe('Address to listen on: an IP address, or a host name that stands for one.'),
  port: wholeNumber(0, 65_535).describe('Port to listen on; 0 for a free one.'),
  dataDir: text.describe('Folder of the receipt key, API keys and usage, which outlives the process.'),
  cluster: z
    .nullable(base58(GENESIS))
    .describe('Genesis hash that all nodes must have; null to accept the one of the first node.'),
  upstreams: upstreamsSchema,
  upstreamPolicy: upstreamPolicySchema.describe('Timeouts, connections and limits toward the nodes.'),
  embedded: embeddedSchema.describe('The embedded cluster, which runs if upstreams is empty.'),
  refresh: refreshSchema.describe("Intervals of reading the network's state."),
  cache: cacheSchema.describe('Memory and age of cached answers, and their signatures.'),
  live: liveSchema.describe('Accounts and token lists kept live by subscriptions.'),
  receipts: receiptsSchema.describe('What makes a receipt exact.'),
  ring: ringSchema.describe('Past and present versions of what is kept live.'),
  limits: limitsSchema.describe('Limits per caller and over all callers.'),
  stake: stakeSchema.describe('The staked tier: limits by the token balance of a wallet.'),
  prices: pricesSchema.describe('Price sources of tokens.'),
  tokens: tokensSchema.describe('Known tokens.'),
  hosts: z
    .array(z.string(HOST).regex(/^(\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+)$/, HOST))
    .describe('Names in Host that are answered, without a port, health checks included; none for any name.'),
  origins: z
    .array(z.string(ORIGIN).regex(/^https?:\/\/[a-z0-9.:[\]_-]+$/, ORIGIN))
    .describe(
      'Origins whose web pages are answered, such as https://app.example; none for any origin. Requests that no page sends always are.',
    ),
  trustedProxies: z
    .array(network, 'expected a list of IP addresses and CIDRs')
    .describe('Proxies whose X-Forwarded-For or PROXY v2 header is believed: IP addresses and CIDRs.'),
  http: section({
    engine: oneOf(ENGINES).describe(
      'HTTP engine: uws, uws-pack or node; auto for the first of them that loads on this machine. All answer alike, at different rates.',
    ),
  }).describe('The HTTP server.'),
  rpc: section({
    profile: oneOf(RPC_PROFILES).describe(
      'Methods of POST /rpc: strict for the 21 read methods; standard for those and 20 more that web3.js, kit and other clients call by themselves.',
    ),
    nextPort: z
      .boolean('expected true or false')
      .describe(
        'Whether slotgate also listens on the port after its own, if that is free: web3.js expects the pubsub of a node there.',
      ),
  }).describe('JSON-RPC.'),
  stream: streamSchema.describe('The WebSocket stream.'),
  pages: z
    .boolean('expected true or false')
    .describe('Whether the pages /, /explorer, /docs and /verify and the widget are served.'),
  workers: workersSchema.describe('Worker processes behind the one port.'),
  admin: adminSchema.describe('The listener for operators: metrics, probes, status and usage.'),
  redis: redisSchema.describe('The Redis of a fleet.'),
  drainDelayMs: wholeNumber(0, 600_000).describe(
    'Time at the end from which on /readyz and /health are 503 while requests are still accepted, in milliseconds.',
  ),
  drainTimeoutMs: wholeNumber(0, 600_000).describe(
    'Longest wait at the end for the last connection to close, in milliseconds: an engine closes idle ones after 10 to 32 s.',
  ),
  log: section({
    level: oneOf(LEVELS).describe('Lowest level of the log.'),
    slowMs: wholeNumberOrNull(0, 3_600_000).describe(
      'Duration in milliseconds from which a request is logged as slow; null for never.',
    ),
  }).describe('The log.'),
}).check(({ value: { upstreams, receipts }, issues }) => {
  const count = Math.max(1, operatorsOf(upstreams).length);
  if (receipts.agree === 'auto' || receipts.agree <= count) return;
  const message = `expected at most ${count}: upstreams have ${count === 1 ? 'one operator' : `${count} operators`}`;
  issues.push({ code: 'custom', input: receipts.agree, path: ['receipts', 'agree'], message });
});

/** A complete and valid configuration. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** The time after which a process that has begun to close ends itself, in milliseconds. */
export const closeMsOf = ({ drainTimeoutMs }: Config): number => drainTimeoutMs + 1000;

type Input = z.input<typeof configSchema>;

/** Any part of the settings, in the form of config/default.json. */
export type Settings = DeepPartial<Omit<Input, 'upstreams'>> & { readonly upstreams?: readonly NodeSetting[] };
