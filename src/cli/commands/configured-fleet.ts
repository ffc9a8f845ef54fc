import type { Config } from '../../config/config-schema.ts';
import { type RedisSettings, readRedisSettings } from '../../config/redis-settings.ts';
import { extractSecrets, type Secrets } from '../../config/secret-variables.ts';
import {
  deriveFleetSecret,
  extractKeySource,
  type FleetKeysPlace,
  type FleetSecret,
  findFleet,
  fleetSecretOfText,
  loadReceiptKeys,
  readFleetUsage,
  type UsageRow,
  withRedis,
} from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';

/** Does work on the keys that the gateways of a fleet share. */
export async function withFleetKeys<T>(config: Config, work: (place: FleetKeysPlace) => Promise<T>): Promise<T> {
  const secrets = extractSecrets(process.env);
  const settings = settingsOf(config, secrets);
  const secret = fleetSecretOf(config, secrets);
  return withRedis(settings, systemClock, async (redis) =>
    work({ redis, prefix: await findFleet(redis, config.cluster), secret }),
  );
}

/** Reads the usage of all gateways of a fleet. */
export const readUsageOfFleet = (config: Config): Promise<readonly UsageRow[]> =>
  withRedis(settingsOf(config, extractSecrets(process.env)), systemClock, async (redis) =>
    readFleetUsage(redis, await findFleet(redis, config.cluster), systemClock.now()),
  );

function settingsOf(config: Config, secrets: Secrets): RedisSettings {
  const settings = readRedisSettings(config, secrets);
  if (settings === undefined) throw new StartError(64, 'this needs the Redis of a fleet: --redis, or redis.url');
  return settings;
}

/** Returns the secret under which the keys of a fleet are sealed: commands need it as its gateways do. */
function fleetSecretOf({ dataDir }: Config, { fleetSecret }: Secrets): FleetSecret {
  if (fleetSecret !== undefined) return fleetSecretOfText(fleetSecret);
  try {
    const source = { ...extractKeySource(process.env), stateDir: dataDir, production: true }; // none is created here
    return deriveFleetSecret(loadReceiptKeys(source, systemClock.now()));
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(
      78,
      `the API keys of a fleet are sealed under its secret: set RECEIPT_KEY_FILE to the receipt key of its gateways, or SLOTGATE_FLEET_SECRET (${cause.message})`,
      cause,
    );
  }
}
