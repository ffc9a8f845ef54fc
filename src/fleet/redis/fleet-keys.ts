import {
  type ApiKeyRecord,
  formatKeyFile,
  parseVersionedKeys,
  type VersionedKeys,
} from '../../access/api-keys/api-key-record.ts';
import { StartError } from '../../domain/start-error.ts';
import { type RedisConnection, scriptOf } from './redis-connection.ts';

/** Where the keys of a fleet are. */
export interface FleetKeysPlace {
  readonly redis: Pick<RedisConnection, 'run' | 'call'>;
  readonly prefix: string;
}

/** Returns the channel on which a change of the keys is told. */
export const keysChannel = (prefix: string): string => `${prefix}keys:changed`;

/** KEYS: records, version. Answers the version, then the records. */
const READ = scriptOf(`
local out = redis.call('HVALS', KEYS[1])
table.insert(out, 1, redis.call('GET', KEYS[2]) or '0')
return out`);

/**
 * Writes records in one step with their version, and tells all gateways. KEYS: records, version. ARGV: channel, version
 * that was read, next version, then id and record of each. Answers 0 if the keys have changed since.
 */
const WRITE = scriptOf(`
if (redis.call('GET', KEYS[2]) or '0') ~= ARGV[2] then return 0 end
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('SET', KEYS[2], ARGV[3])
redis.call('PUBLISH', ARGV[1], ARGV[3])
return 1`);

/** How often a change is tried again if another one came between. */
const ATTEMPTS = 5;

/** Reads how often the keys of a fleet have changed. Rejects if Redis can't be asked. */
export const readKeysVersion = async ({ redis, prefix }: FleetKeysPlace): Promise<number> =>
  Number((await redis.call('GET', `${prefix}keys:version`)) ?? 0);

/** Reads the keys of a fleet. Rejects if Redis can't be asked, or has something else under their name. */
export async function readFleetKeys({ redis, prefix }: FleetKeysPlace): Promise<VersionedKeys> {
  const [version, ...records] = (await redis.run(READ, keysOf(prefix), [])) as string[];
  return parseVersionedKeys(`{"version":${Number(version)},"keys":[${records.join(',')}]}`);
}

/**
 * Applies a change to the keys of a fleet. When it resolves Redis has it, and the gateways hear of it. `known` are those
 * that a state folder has: a Redis that has lost keys takes no others before it has them again.
 */
export async function updateFleetKeys<T>(
  place: FleetKeysPlace,
  known: VersionedKeys,
  change: (keys: readonly ApiKeyRecord[]) => { readonly keys: readonly ApiKeyRecord[]; readonly result: T },
): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readFleetKeys(place);
    const lost = known.keys.filter(({ id }) => !before.keys.some((key) => key.id === id));
    if (before.version < known.version || (before.version === 0 && lost.length > 0))
      throw new StartError(
        1,
        `Redis has not all keys of this fleet: ${lost.length} of this state folder are missing there; give it those with slotgate keys restore`,
      );
    const { keys, result } = change(before.keys);
    if (await write(place, before, keys, before.version + 1)) return result;
  }
  throw new StartError(1, 'the keys of the fleet are being changed by others; try again');
}

/**
 * Gives a fleet the keys that a state folder knows. A key that is revoked on either side stays revoked. Returns how many
 * it has then.
 */
export async function restoreFleetKeys(place: FleetKeysPlace, known: readonly VersionedKeys[]): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readFleetKeys(place);
    const merged = mergeKeys([...known.map(({ keys }) => keys), before.keys]);
    const version = Math.max(before.version, ...known.map((each) => each.version)) + 1;
    parseVersionedKeys(formatKeyFile(merged)); // two keys may have one name
    if (await write(place, before, merged, version)) return merged.length;
  }
  throw new StartError(1, 'the keys of the fleet are being changed by others; try again');
}

/** Merges lists of keys; of two revocations of a key the earlier one counts. */
function mergeKeys(lists: readonly (readonly ApiKeyRecord[])[]): readonly ApiKeyRecord[] {
  const merged = new Map<string, ApiKeyRecord>();
  for (const key of lists.flat()) {
    const revokedAt = [merged.get(key.id)?.revokedAt ?? null, key.revokedAt]
      .filter((time) => time !== null)
      .sort((a, b) => Date.parse(a) - Date.parse(b))[0];
    merged.set(key.id, { ...key, revokedAt: revokedAt ?? null });
  }
  return [...merged.values()];
}

async function write(
  { redis, prefix }: FleetKeysPlace,
  before: VersionedKeys,
  keys: readonly ApiKeyRecord[],
  version: number,
): Promise<boolean> {
  const texts = new Map(before.keys.map((key) => [key.id, JSON.stringify(key)]));
  const changed = keys
    .map((key) => [key.id, JSON.stringify(key)] as const)
    .filter(([id, text]) => texts.get(id) !== text);
  const args = [keysChannel(prefix), before.version, version, ...changed.flat()];
  return (await redis.run(WRITE, keysOf(prefix), args)) === 1;
}

const keysOf = (prefix: string): readonly string[] => [`${prefix}keys`, `${prefix}keys:version`];
