import { resolve } from 'node:path';
import { z } from 'zod';
import { StartError } from '../domain/start-error.ts';
import { base58, count, group, perhaps, whole } from './kinds.ts';
import { merge, valueAt } from './layers.ts';
import { limitsSchema, stakeSchema } from './limits.ts';
import { namesOf, optionsOf } from './options.ts';
import { pricesSchema } from './prices.ts';
import { problem } from './problem.ts';
import { type Flags, fromEnv, fromFlags, fromOverlay, fromPackage } from './sources.ts';
import { maskUrl, upstreamsSchema } from './upstreams.ts';

const ms = whole(1, 3_600_000);
const bytes = whole(1, 2 ** 40);
const text = z.string('expected a text').min(1, 'expected a text that is not empty');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected an IP address or a CIDR');

const GENESIS = 'expected a genesis hash in base58, or null to take the cluster as it is';
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Every knob there is and what it may be. It gives the names of the environment variables and of `--set` as well.
 * It holds no defaults: those are in config/default.json, which is the lowest layer of every configuration.
 */
export const configSchema = group({
  host: text,
  port: whole(0, 65_535),
  state: text,
  cluster: z.nullable(base58(GENESIS)),
  upstreams: upstreamsSchema,
  upstream: group({
    timeoutMs: ms,
    slowTimeoutMs: ms,
    connections: whole(1, 10_000),
    queue: count,
    maxBytes: bytes,
    silenceMs: ms,
    pingMs: ms,
    ackMs: ms,
    backoffMinMs: ms,
    backoffMaxMs: ms,
    startMs: ms,
    subscriptions: whole(4, 100_000),
    inFlightBytes: bytes,
    maxJump: whole(1, 1_000_000),
    steadySlots: whole(1, 10_000),
  }),
  embedded: group({
    slotMs: whole(10, 60_000),
    skipEvery: perhaps,
    slotsPerEpoch: whole(32, 1_000_000_000),
    transactionsPerSlot: whole(0, 1_000),
  }),
  refresh: group({ epochMs: ms, performanceMs: ms, priorityFeeMs: ms, hotKeys: perhaps }),
  cache: group({ bytes, maxStaleSlots: count, sealAhead: perhaps, sealTogether: whole(1, 256) }),
  watch: group({
    accounts: perhaps,
    lists: perhaps,
    maxListMembers: whole(0, 200),
    idleSlots: count,
    auditMs: ms,
    maxAccountBytes: bytes,
  }),
  limits: limitsSchema,
  stake: stakeSchema,
  prices: pricesSchema,
  trustedProxies: z.array(network, 'expected a list of IP addresses and CIDRs'),
  stream: group({ throttleMs: whole(0, 60_000), silenceMs: ms, maxBackpressureBytes: bytes }),
  drainMs: whole(0, 600_000),
  log: group({ level: z.enum(LEVELS, `expected one of ${LEVELS.join(', ')}`) }),
});

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** The configuration that is in force, whole and valid. */
export type Config = Frozen<z.output<typeof configSchema>>;

/** Where a configuration comes from besides the package's own files. */
export interface ConfigSources {
  readonly flags?: Flags;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What relative paths start from. */
  readonly cwd: string;
}

/**
 * Makes the configuration: config/default.json, then the file that `--config` names, then the environment, then the
 * flags, each over the one before. Throws a StartError that names every bad value and unknown name, with its source.
 */
export function loadConfig({ flags = {}, env = {}, cwd }: ConfigSources): Config {
  const options = optionsOf(configSchema);
  const layers = [
    fromPackage('default'),
    ...(flags.config === undefined ? [] : [fromOverlay(flags.config, cwd)]),
    ...fromEnv(env, options),
    ...fromFlags(flags, options),
  ];
  const config = configSchema.safeParse(layers.map(({ values }) => values).reduce(merge));
  if (config.success) return { ...config.data, state: resolve(cwd, config.data.state) };
  const problems = config.error.issues.map((issue) => problem(issue, layers, namesOf(options)));
  throw new StartError(78, problems.join('; '), config.error);
}

/** A configuration in the form of a configuration file, fit to be shown: of each URL only what holds no key. */
export function printConfig(config: Config): string {
  const upstreams = config.upstreams.map(({ id, url, wsUrl, ...roles }) => ({
    id,
    url: maskUrl(url),
    ws: maskUrl(wsUrl),
    ...roles,
  }));
  const { url } = config.prices.jupiter;
  const isOurs = url === valueAt(fromPackage('default').values, ['prices', 'jupiter', 'url']); // no key stands there
  const prices = { ...config.prices, jupiter: { url: isOurs ? url : maskUrl(url) } };
  return `${JSON.stringify({ ...config, upstreams, prices }, undefined, 2)}\n`;
}
