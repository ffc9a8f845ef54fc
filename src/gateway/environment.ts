import type { Config } from '../config/config-schema.ts';
import { readJupiterKey, type Secrets } from '../config/secret-variables.ts';
import type { Clock } from '../domain/clock.ts';
import { ClusterVitals } from '../domain/cluster-vitals.ts';
import { type RedisSettings, readRedisSettings } from '../fleet/redis/redis-settings.ts';
import type { SharedWatch } from '../fleet/shared-watch.ts';
import type { Engine } from '../http/engine/engine.ts';
import type { KeySource } from '../receipts/keys/key-source.ts';
import { DisposalStack } from '../runtime/disposal-stack.ts';
import type { Log } from '../runtime/log.ts';
import { RecentWarnings } from '../runtime/recent-warnings.ts';
import { systemClock } from '../runtime/system-clock.ts';
import type { ClusterInUse } from '../wiring/open-upstream.ts';
import { fitCaches } from './fit-caches.ts';

/** What a process of a gateway is opened with. */
export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Loads the configuration again; without, it never changes. Throws a StartError if it can't be used. */
  readonly loadConfig?: () => Config;
  /** Source of the signing key; without a key in it, the state folder. */
  readonly receiptKey?: Omit<KeySource, 'stateDir'>;
  /** Secrets that stand in no setting. */
  readonly secrets?: Secrets;
  /** The HTTP engine. Default: the one that `http.engine` names. */
  readonly engine?: Engine;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** An embedded cluster that is being started. Default: the gateway starts one where no node is configured. */
  readonly embedded?: Promise<ClusterInUse> | undefined;
  /** Whether the admin listener must have its configured port: else the next free one is taken. Default: true. */
  readonly isAdminPortChosen?: boolean;
  /** Has the gateway take part in a watch that is shared over another feed than that of Redis. */
  readonly joinWatch?: ((watch: SharedWatch) => void) | undefined;
}

/** Everything that all parts of a process share. */
export interface Environment {
  readonly config: Config;
  /** Source of the receipt keys. */
  readonly keySource: KeySource;
  readonly engine: Engine;
  readonly log: Log;
  readonly warnings: RecentWarnings;
  readonly clock: Clock;
  readonly random: () => number;
  /** The end of the gateway, which begins before anything is closed. */
  readonly leaving: { hasBegun: boolean };
  /** Closes the parts in reverse order. */
  readonly disposals: DisposalStack;
  readonly vitals: ClusterVitals;
  /** How often something that was read again could not be used. */
  readonly failedReloads: { receiptKeys: number; settings: number };
  /** Start of the process, in monotonic milliseconds. */
  readonly startedMs: number;
  /** The key of Jupiter's API; undefined for none. */
  readonly jupiterKey: string | undefined;
  /** The Redis of the fleet; undefined for none. */
  readonly redis: RedisSettings | undefined;
  /** The secret of the fleet; undefined where it follows from the receipt key. */
  readonly fleetSecret: string | undefined;
}

/** Returns what all parts of a process share. */
export function environmentOf(options: GatewayOptions, engine: Engine): Environment {
  const { secrets = {}, clock = systemClock, random = Math.random } = options;
  const warnings = new RecentWarnings(options.log, clock);
  const config = fitCaches(options.config, (setting, bytes) =>
    warnings.log.warn({ bytes }, `${setting} is more than this process has memory for: it gets a third of the heap`),
  );
  return {
    config,
    keySource: { production: false, ...options.receiptKey, stateDir: config.state },
    engine,
    log: warnings.log,
    warnings,
    clock,
    random,
    leaving: { hasBegun: false },
    disposals: new DisposalStack(),
    vitals: new ClusterVitals(),
    failedReloads: { receiptKeys: 0, settings: 0 },
    startedMs: clock.monotonic(),
    jupiterKey: readJupiterKey(secrets, config.prices.jupiter.keyFile),
    redis: readRedisSettings(config, secrets),
    fleetSecret: secrets.fleetSecret,
  };
}
