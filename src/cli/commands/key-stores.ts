import type { ApiKeyRecord } from '../../access/api-keys/api-key-record.ts';
import {
  apiKeysPath,
  fleetKeysPath,
  readApiKeys,
  readVersionedKeys,
  updateApiKeys,
} from '../../access/api-keys/api-key-store.ts';
import { readUsage, usagePath } from '../../access/usage/usage-file.ts';
import type { UsageRow } from '../../access/usage/usage-line.ts';
import type { Config } from '../../config/config-schema.ts';
import { extractSecrets, type Secrets } from '../../config/secret-variables.ts';
import { StartError } from '../../domain/start-error.ts';
import { withFleetClient } from '../../fleet/redis/fleet-client.ts';
import { type FleetKeysPlace, readFleetKeys, restoreFleetKeys, updateFleetKeys } from '../../fleet/redis/fleet-keys.ts';
import { deriveFleetSecret, type FleetSecret, fleetSecretOfText } from '../../fleet/redis/fleet-secret.ts';
import { readFleetUsage } from '../../fleet/redis/fleet-usage.ts';
import { type RedisSettings, readRedisSettings } from '../../fleet/redis/redis-settings.ts';
import { extractKeySource } from '../../receipts/keys/key-source.ts';
import { loadReceiptKeys } from '../../receipts/keys/load-keys.ts';
import { systemClock } from '../../runtime/system-clock.ts';

type KeyChange<T> = (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T };

/** Where API keys are kept: the state folder of a gateway, or the Redis of a fleet. */
export interface KeyStore {
  /** Its name for people: a path, or the URL of Redis. */
  readonly name: string;
  read(): Promise<readonly ApiKeyRecord[]>;
  /** Applies a change. Rejects with a StartError. */
  update<T>(change: KeyChange<T>): Promise<T>;
}

/** Returns where the keys of a gateway with these settings are kept. */
export function keyStoreOf(config: Config): KeyStore {
  const { state, redis } = config;
  const path = apiKeysPath(state);
  if (redis.url === null)
    return { name: path, read: async () => readApiKeys(path), update: (change) => updateApiKeys(path, change) };
  return {
    name: redis.url,
    read: () => withFleet(config, async (fleet) => (await readFleetKeys(fleet)).keys),
    update: (change) =>
      withFleet(config, (fleet) => {
        const copy = readVersionedKeys(fleetKeysPath(state));
        const known = copy.keys.length > 0 ? copy : readVersionedKeys(path);
        return updateFleetKeys(fleet, known, change);
      }),
  };
}

/** Gives a fleet all keys that the state folder knows. Returns how many it has then. */
export const restoreKeys = (config: Config): Promise<number> =>
  withFleet(config, (fleet) =>
    restoreFleetKeys(fleet, [apiKeysPath(config.state), fleetKeysPath(config.state)].map(readVersionedKeys)),
  );

/** Reads the usage of all keys: of a fleet that of all its gateways, else that in the state folder. */
export const readAllUsage = (config: Config): Promise<readonly UsageRow[]> =>
  config.redis.url === null
    ? Promise.resolve(readUsage(usagePath(config.state)))
    : withFleetClient(
        settingsOf(config, extractSecrets(process.env)),
        config.cluster,
        systemClock,
        ({ redis, prefix }) => readFleetUsage(redis, prefix, systemClock.now()),
      );

/** Does work on the keys of the fleet of these settings. */
async function withFleet<T>(config: Config, work: (place: FleetKeysPlace) => Promise<T>): Promise<T> {
  const secrets = extractSecrets(process.env);
  const settings = settingsOf(config, secrets);
  const secret = fleetSecretOf(config, secrets);
  return withFleetClient(settings, config.cluster, systemClock, (fleet) => work({ ...fleet, secret }));
}

function settingsOf(config: Config, secrets: Secrets): RedisSettings {
  const settings = readRedisSettings(config, secrets);
  if (settings === undefined) throw new StartError(64, 'this needs the Redis of a fleet: --redis, or redis.url');
  return settings;
}

/** Returns the secret under which the keys of a fleet are sealed: commands need it as its gateways do. */
function fleetSecretOf({ state }: Config, { fleetSecret }: Secrets): FleetSecret {
  if (fleetSecret !== undefined) return fleetSecretOfText(fleetSecret);
  try {
    const source = { ...extractKeySource(process.env), stateDir: state, production: true }; // none is created here
    return deriveFleetSecret(loadReceiptKeys(source, systemClock.now()).ring);
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    throw new StartError(
      78,
      `the API keys of a fleet are sealed under its secret: set RECEIPT_KEY_FILE to the receipt key of its gateways, or SLOTGATE_FLEET_SECRET (${cause.message})`,
      cause,
    );
  }
}
