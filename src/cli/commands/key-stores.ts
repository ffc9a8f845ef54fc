import type { Config } from '../../config/config-schema.ts';
import { type RedisSettings, readRedisSettings } from '../../config/redis-settings.ts';
import { extractSecrets, type Secrets } from '../../config/secret-variables.ts';
import {
  type ApiKeyRecord,
  apiKeysPath,
  deriveFleetSecret,
  extractKeySource,
  type FleetKeysPlace,
  type FleetSecret,
  findFleet,
  fleetKeysPath,
  fleetSecretOfText,
  loadReceiptKeys,
  readApiKeys,
  readFleetKeys,
  readFleetUsage,
  readUsage,
  readVersionedKeys,
  restoreFleetKeys,
  type UsageRow,
  updateApiKeys,
  updateFleetKeys,
  usagePath,
  withRedis,
} from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';

type KeyChange<T> = (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T };

export interface KeyStore {
  /** Its name for people: a path, or the URL of Redis. */
  readonly name: string;
  read(): Promise<readonly ApiKeyRecord[]>;
  /** Applies a change. Rejects with a StartError. */
  update<T>(change: KeyChange<T>): Promise<T>;
}

/** Returns where a gateway with these settings stores its keys. */
export function keyStoreOf(config: Config): KeyStore {
  const { dataDir, redis } = config;
  const path = apiKeysPath(dataDir);
  if (redis.url === null)
    return { name: path, read: async () => readApiKeys(path), update: (change) => updateApiKeys(path, change) };
  return {
    name: redis.url,
    read: () => withFleet(config, async (fleet) => (await readFleetKeys(fleet)).keys),
    update: (change) =>
      withFleet(config, (fleet) => {
        const copy = readVersionedKeys(fleetKeysPath(dataDir));
        const known = copy.keys.length > 0 ? copy : readVersionedKeys(path);
        return updateFleetKeys(fleet, known, change);
      }),
  };
}

export const restoreKeys = (config: Config): Promise<number> =>
  withFleet(config, (fleet) =>
    restoreFleetKeys(fleet, [apiKeysPath(config.dataDir), fleetKeysPath(config.dataDir)].map(readVersionedKeys)),
  );

/** Reads the usage of all keys: of a fleet that of all its gateways, else that in the state folder. */
export const readAllUsage = (config: Config): Promise<readonly UsageRow[]> =>
  config.redis.url === null
    ? Promise.resolve(readUsage(usagePath(config.dataDir)))
    : withRedis(settingsOf(config, extractSecrets(process.env)), systemClock, async (redis) =>
        readFleetUsage(redis, await findFleet(redis, config.cluster), systemClock.now()),
      );

async function withFleet<T>(config: Config, work: (place: FleetKeysPlace) => Promise<T>): Promise<T> {
  const secrets = extractSecrets(process.env);
  const settings = settingsOf(config, secrets);
  const secret = fleetSecretOf(config, secrets);
  return withRedis(settings, systemClock, async (redis) =>
    work({ redis, prefix: await findFleet(redis, config.cluster), secret }),
  );
}

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
