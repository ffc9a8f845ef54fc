import { randomInt } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import type { Config } from '../../config/config-schema.ts';
import { type RedisSettings, readFleetSettings } from '../../config/redis-settings.ts';
import { readFeedToken, readJupiterKey, type Secrets } from '../../config/secret-variables.ts';
import type { EmbeddedCluster } from '../../localnet/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { ClusterVitals } from '../../shared/domain/cluster-vitals.ts';
import { DisposalStack } from '../../shared/runtime/disposal-stack.ts';
import { DurableWrites } from '../../shared/runtime/durable-writes.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { RecentWarnings } from '../../shared/runtime/recent-warnings.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import { TurnBudget } from '../../shared/runtime/turn-budget.ts';
import type { SharedWatch } from '../fleet/replication/shared-watch.ts';
import type { Engine } from '../http/engine/engine.ts';
import type { KeySource } from '../receipts/keys/key-source.ts';

const RANGE = 2 ** 32;

/** Nobody may foresee which keys share a place, or which reads are repeated at another operator. */
const unpredictable = (): number => randomInt(RANGE) / RANGE;

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Loads the configuration again; without, it never changes. Throws a StartError if it can't be used. */
  readonly loadConfig?: () => Config;
  /** Source of the signing key; without a key in it, the state folder. */
  readonly receiptKey?: Omit<KeySource, 'stateDir'>;
  readonly secrets?: Secrets;
  /** The HTTP engine. Default: the one that `http.engine` names. */
  readonly engine?: Engine;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** An embedded cluster that is being started. Default: the gateway starts one where no node is configured. */
  readonly embedded?: Promise<EmbeddedCluster> | undefined;
  /** Whether the admin listener must have its configured port: else the next free one is used. Default: true. */
  readonly isAdminPortChosen?: boolean;
  /** Joins the gateway to a watch that is shared over another feed than that of Redis. */
  readonly joinWatch?: ((watch: SharedWatch) => void) | undefined;
  /** Whether the end closes connections without a request immediately. Default: it waits for their peers to close them. */
  readonly closesIdleConnections?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Environment {
  readonly config: Config;
  readonly keySource: KeySource;
  readonly engine: Engine;
  readonly log: Log;
  readonly warnings: RecentWarnings;
  readonly clock: Clock;
  readonly random: () => number;
  readonly turnBudget: TurnBudget;
  /** The end of the gateway, which begins before anything is closed. */
  readonly leaving: { hasBegun: boolean };
  readonly disposals: DisposalStack;
  readonly writes: DurableWrites;
  readonly vitals: ClusterVitals;
  /** How often something that was read again could not be used. */
  readonly failedReloads: { receiptKeys: number; settings: number };
  /** Start of the process, in monotonic milliseconds. */
  readonly startedMs: number;
  readonly jupiterKey: string | undefined;
  /** The tokens of the nodes' Geyser feeds, by the id of the node. */
  readonly feedTokens: ReadonlyMap<string, string | undefined>;
  readonly redis: RedisSettings | undefined;
  /** The secret of the fleet; undefined where it follows from the receipt key. */
  readonly fleetSecret: string | undefined;
}

const PARSING_MS = 4;

/** The bodies that wait to be parsed: one caller may send one over each of its connections, 1,000 a second. */
const MAX_WAITING_BODIES = 4096;
const MAX_WAITING_BODY_BYTES = 32 * 1024 * 1024;

export function environmentOf(options: GatewayOptions, engine: Engine): Environment {
  const { secrets = {}, clock = systemClock, random = unpredictable } = options;
  const warnings = new RecentWarnings(options.log, clock);
  const config = fitCaches(options.config, (setting, bytes) =>
    warnings.log.warn({ bytes }, `${setting} is more than this process has memory for: it gets a third of the heap`),
  );
  const { log } = warnings;
  const disposals = new DisposalStack();
  const writes = new DurableWrites({
    clock,
    onProblem: (problem) => log.warn({}, problem),
    onRecovery: (message) => log.info({}, message),
  });
  disposals.defer(() => writes.close());
  return {
    config,
    keySource: { production: false, ...options.receiptKey, stateDir: config.dataDir },
    engine,
    log,
    warnings,
    clock,
    random,
    turnBudget: new TurnBudget({
      turnMs: PARSING_MS,
      queue: { items: MAX_WAITING_BODIES, bytes: MAX_WAITING_BODY_BYTES, waiting: 'wait to be parsed' },
      clock,
    }),
    leaving: { hasBegun: false },
    disposals,
    writes,
    vitals: new ClusterVitals(),
    failedReloads: { receiptKeys: 0, settings: 0 },
    startedMs: clock.monotonic(),
    jupiterKey: readJupiterKey(secrets, config.prices.jupiter.keyFile),
    feedTokens: new Map(config.upstreams.map(({ id, geyser }) => [id, readFeedToken(geyser?.tokenFile)])),
    redis: readFleetSettings(config, secrets),
    fleetSecret: secrets.fleetSecret,
  };
}

/** The part of the heap that cached answers may use, at most. The rest is for what is read, signed and sent. */
const HEAP_SHARE = 1 / 3;

/** A cache that is larger than the heap, which Node sizes by the machine or container, would end the process. */
export function fitCaches(
  config: Config,
  onFitted: (setting: string, bytes: number) => void,
  heapBytes = getHeapStatistics().heap_size_limit,
): Config {
  const most = Math.floor(heapBytes * HEAP_SHARE);
  const fit = (setting: string, bytes: number): number => {
    if (bytes <= most) return bytes;
    onFitted(setting, most);
    return most;
  };
  const { cache, workers } = config;
  return {
    ...config,
    cache: { ...cache, bytes: fit('cache.bytes', cache.bytes) },
    ...(workers.count !== 0 && { workers: { ...workers, cacheBytes: fit('workers.cacheBytes', workers.cacheBytes) } }),
  };
}
