import { randomUUID, timingSafeEqual } from 'node:crypto';
import { StartError } from '../../../shared/domain/start-error.ts';
import {
  type ApiKeyRecord,
  formatKeyFile,
  parseVersionedKeys,
  type VersionedKeys,
} from '../../access/api-keys/api-key-record.ts';
import type { FleetSecret } from '../transport/redis/fleet-secret.ts';
import { type RedisConnection, scriptOf } from '../transport/redis/redis-connection.ts';

export interface FleetKeysPlace {
  readonly redis: Pick<RedisConnection, 'run' | 'call'>;
  readonly prefix: string;
  /** The secret under which records are sealed: access to Redis alone issues no key. */
  readonly secret: FleetSecret;
}

export interface FleetKeys extends VersionedKeys {
  /** The names of records that nobody with the secret of this fleet has sealed. */
  readonly forged: readonly string[];
  /** The version as it stands at Redis, where it may be any text. */
  readonly versionText: string;
}

/** Returns the channel on which a change of the keys is announced. */
export const keysChannel = (prefix: string): string => `${prefix}keys:changed`;

/** KEYS: records, version, tag. Answers the version, then name and record of each. */
const READ = scriptOf(`
local out = redis.call('HGETALL', KEYS[1])
table.insert(out, 1, redis.call('GET', KEYS[2]) or '0')
return out`);

/**
 * Writes records in one step with their version and a new tag, and notifies all gateways. KEYS: records, version, tag.
 * ARGV: channel, version that was read, next version, tag, then id and record of each, an empty text for one to remove.
 * Answers 0 if the keys have changed since.
 */
const WRITE = scriptOf(`
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[2] then return 0 end
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
  else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
redis.call('MSET', KEYS[2], ARGV[3], KEYS[3], ARGV[4])
redis.call('PUBLISH', ARGV[1], ARGV[3])
return 1`);

const ATTEMPTS = 5;

/** The most changes that a gateway or a state folder may have missed. Versions are not sealed, and each change raises them. */
const MOST_MISSED = 1e6;

export const isPlausible = (version: number, known: number): boolean =>
  Number.isSafeInteger(version) && version <= known + MOST_MISSED;

/** Reads the keys of a fleet. Rejects if Redis can't be called, or has something else under their name. */
export async function readFleetKeys({ redis, prefix, secret }: FleetKeysPlace): Promise<FleetKeys> {
  const [versionText = '0', ...fields] = (await redis.run(READ, keysOf(prefix), [])) as string[];
  const records: string[] = [];
  const forged: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name = '', sealed = ''] = fields.slice(i, i + 2);
    const record = sealed.slice(SEAL_DIGITS + 1);
    if (areEqual(sealed, sealRecord(secret, name, record))) records.push(record);
    else forged.push(name);
  }
  const { keys } = parseVersionedKeys(`{"keys":[${records.join(',')}]}`);
  return { keys, version: Number(versionText), versionText, forged };
}

const SEAL_DIGITS = 64;

/** Compares in a time that does not depend on how much is right. */
const areEqual = (one: string, other: string): boolean =>
  Buffer.byteLength(one) === Buffer.byteLength(other) && timingSafeEqual(Buffer.from(one), Buffer.from(other));

export const sealRecord = (secret: FleetSecret, name: string, record: string): string =>
  `${secret('key', `${name}\0${record}`).toString('hex')} ${record}`;

/** When it resolves Redis has the change. A Redis that lost some of `known` must have them again before. */
export function updateFleetKeys<T>(
  place: FleetKeysPlace,
  known: VersionedKeys,
  change: (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T },
): Promise<T> {
  return changeKeys(place, (before) => {
    if (before.forged.length > 0 && before.keys.length === 0)
      throw new StartError(
        1,
        'the keys of this fleet are sealed under another secret: RECEIPT_KEY_FILE or SLOTGATE_FLEET_SECRET is not that of its gateways, or the keys are to be sealed again with slotgate keys restore',
      );
    if (!isPlausible(before.version, known.version))
      throw new StartError(1, 'Redis names an impossible version of the keys: mend it with slotgate keys restore');
    const lost = known.keys.filter(({ id }) => !before.keys.some((key) => key.id === id));
    if (before.version < known.version || (before.version === 0 && lost.length > 0))
      throw new StartError(
        1,
        `Redis has not all keys of this fleet: ${lost.length} of this state folder are missing there; give it those with slotgate keys restore`,
      );
    return { ...change(before.keys), version: before.version + 1 };
  });
}

/** Removes keys that nobody with the fleet's secret has sealed. One that is revoked on either side stays revoked. */
export function restoreFleetKeys(place: FleetKeysPlace, known: readonly VersionedKeys[]): Promise<number> {
  return changeKeys(place, (before) => {
    const merged = mergeKeys([...known.map(({ keys }) => keys), before.keys]);
    const newest = Math.max(0, ...known.map((each) => each.version));
    const version = Math.max(newest, isPlausible(before.version, newest) ? before.version : 0) + 1;
    parseVersionedKeys(formatKeyFile(merged)); // two keys may have one name
    return { keys: merged, version, removed: before.forged, result: merged.length };
  });
}

/** Merges lists of keys; of two revocations of a key the earlier one counts. */
export function mergeKeys(lists: readonly (readonly ApiKeyRecord[])[]): readonly ApiKeyRecord[] {
  const merged = new Map<string, ApiKeyRecord>();
  for (const key of lists.flat()) {
    const both = [merged.get(key.id), key].filter((each) => each !== undefined);
    const isRevoked = both.some((each) => each.isRevoked);
    const ends = both.flatMap((each) => each.revokedAt ?? []);
    const [revokedAt = null] = ends.sort((a, b) => Date.parse(a) - Date.parse(b));
    merged.set(key.id, { ...key, revokedAt, ...(isRevoked && { isRevoked }) });
  }
  return [...merged.values()];
}

interface Change<T> extends VersionedKeys {
  readonly removed?: readonly string[];
  readonly result: T;
}

/** Writes what `change` makes of the keys, again if they have changed since they were read. Rejects as that throws. */
async function changeKeys<T>(place: FleetKeysPlace, change: (before: FleetKeys) => Change<T>): Promise<T> {
  const { redis, prefix, secret } = place;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readFleetKeys(place);
    const { keys, version, removed = [], result } = change(before);
    const texts = new Set(before.keys.map((key) => JSON.stringify(key)));
    const sealed = keys.flatMap((key) => {
      const text = JSON.stringify(key);
      return texts.has(text) ? [] : [key.id, sealRecord(secret, key.id, text)];
    });
    const header = [keysChannel(prefix), before.versionText, version, randomUUID()];
    const args = [...header, ...removed.flatMap((id) => [id, '']), ...sealed];
    if ((await redis.run(WRITE, keysOf(prefix), args)) === 1) return result;
  }
  throw new StartError(1, 'the keys of the fleet are being changed by others; try again');
}

const keysOf = (prefix: string): readonly string[] => ['', ':version', ':tag'].map((end) => `${prefix}keys${end}`);
