import { resolve } from 'node:path';
import { z } from 'zod';
import { StartError } from '../domain/start-error.ts';
import { describeIssue } from './config-errors.ts';
import { mergeLayers, valueAt } from './config-layers.ts';
import {
  type ConfigFlags,
  layersFromEnv,
  layersFromFlags,
  readOverlayLayer,
  readPackagedLayer,
} from './config-sources.ts';
import { limitsSchema, stakeSchema } from './limits-schema.ts';
import { pricesSchema } from './prices-schema.ts';
import { settingNames, settingsOf } from './setting-names.ts';
import { redactUrl, upstreamsSchema } from './upstreams-schema.ts';
import { base58, countOrZero, positiveCount, section, wholeNumber } from './value-types.ts';

const ms = wholeNumber(1, 3_600_000);
const bytes = wholeNumber(1, 2 ** 40);
const text = z.string('expected a text').min(1, 'expected a text that is not empty');
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'expected an IP address or a CIDR');

const GENESIS = 'expected a genesis hash in base58, or null to take the cluster as it is';
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Every knob there is and what it may be. It gives the names of the environment variables and of `--set` as well.
 * It holds no defaults: those are in config/default.json, which is the lowest layer of every configuration.
 */
export const configSchema = section({
  host: text,
  port: wholeNumber(0, 65_535),
  state: text,
  cluster: z.nullable(base58(GENESIS)),
  upstreams: upstreamsSchema,
  upstream: section({
    timeoutMs: ms,
    slowTimeoutMs: ms,
    connections: wholeNumber(1, 10_000),
    queue: positiveCount,
    maxBytes: bytes,
    silenceMs: ms,
    pingMs: ms,
    ackMs: ms,
    backoffMinMs: ms,
    backoffMaxMs: ms,
    startMs: ms,
    subscriptions: wholeNumber(4, 100_000),
    inFlightBytes: bytes,
    maxJump: wholeNumber(1, 1_000_000),
    steadySlots: wholeNumber(1, 10_000),
  }),
  embedded: section({
    slotMs: wholeNumber(10, 60_000),
    skipEvery: countOrZero,
    slotsPerEpoch: wholeNumber(32, 1_000_000_000),
    transactionsPerSlot: wholeNumber(0, 1_000),
  }),
  refresh: section({ epochMs: ms, performanceMs: ms, priorityFeeMs: ms, hotKeys: countOrZero }),
  cache: section({ bytes, maxStaleSlots: positiveCount, sealAhead: countOrZero, sealTogether: wholeNumber(1, 256) }),
  watch: section({
    accounts: countOrZero,
    lists: countOrZero,
    maxListMembers: wholeNumber(0, 200),
    idleSlots: positiveCount,
    auditMs: ms,
    maxAccountBytes: bytes,
  }),
  limits: limitsSchema,
  stake: stakeSchema,
  prices: pricesSchema,
  trustedProxies: z.array(network, 'expected a list of IP addresses and CIDRs'),
  stream: section({ throttleMs: wholeNumber(0, 60_000), silenceMs: ms, maxBackpressureBytes: bytes }),
  drainMs: wholeNumber(0, 600_000),
  log: section({ level: z.enum(LEVELS, `expected one of ${LEVELS.join(', ')}`) }),
});

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** The configuration that is in force, whole and valid. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;

/** Where a configuration comes from besides the package's own files. */
export interface ConfigSources {
  readonly flags?: ConfigFlags;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What relative paths start from. */
  readonly cwd: string;
}

/**
 * Makes the configuration: config/default.json, then the file that `--config` names, then the environment, then the
 * flags, each over the one before. Throws a StartError that names every bad value and unknown name, with its source.
 */
export function loadConfig({ flags = {}, env = {}, cwd }: ConfigSources): Config {
  const settings = settingsOf(configSchema);
  const layers = [
    readPackagedLayer('default'),
    ...(flags.config === undefined ? [] : [readOverlayLayer(flags.config, cwd)]),
    ...layersFromEnv(env, settings),
    ...layersFromFlags(flags, settings),
  ];
  const config = configSchema.safeParse(layers.map(({ values }) => values).reduce(mergeLayers));
  if (config.success) return { ...config.data, state: resolve(cwd, config.data.state) };
  const problems = config.error.issues.map((issue) => describeIssue(issue, layers, settingNames(settings)));
  throw new StartError(78, problems.join('; '), config.error);
}

/** A configuration in the form of a configuration file, fit to be shown: of each URL only what holds no key. */
export function formatConfig(config: Config): string {
  const upstreams = config.upstreams.map(({ id, url, wsUrl, ...roles }) => ({
    id,
    url: redactUrl(url),
    ws: redactUrl(wsUrl),
    ...roles,
  }));
  const { url } = config.prices.jupiter;
  const isDefaultUrl = url === valueAt(readPackagedLayer('default').values, ['prices', 'jupiter', 'url']); // no key stands there
  const prices = { ...config.prices, jupiter: { url: isDefaultUrl ? url : redactUrl(url) } };
  return `${JSON.stringify({ ...config, upstreams, prices }, undefined, 2)}\n`;
}
