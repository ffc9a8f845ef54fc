import type { Config } from '../../config/config-schema.ts';
import {
  type ApiKeyRecord,
  apiKeysPath,
  fleetKeysPath,
  readApiKeys,
  readFleetKeys,
  readVersionedKeys,
  restoreFleetKeys,
  updateApiKeys,
  updateFleetKeys,
} from '../../gateway/index.ts';
import { withFleetKeys } from './configured-fleet.ts';

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
    read: () => withFleetKeys(config, async (fleet) => (await readFleetKeys(fleet)).keys),
    update: (change) =>
      withFleetKeys(config, (fleet) => {
        const copy = readVersionedKeys(fleetKeysPath(dataDir));
        const known = copy.keys.length > 0 ? copy : readVersionedKeys(path);
        return updateFleetKeys(fleet, known, change);
      }),
  };
}

export const restoreKeys = (config: Config): Promise<number> =>
  withFleetKeys(config, (fleet) =>
    restoreFleetKeys(fleet, [apiKeysPath(config.dataDir), fleetKeysPath(config.dataDir)].map(readVersionedKeys)),
  );
