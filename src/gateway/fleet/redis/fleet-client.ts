import type { RedisSettings } from '../../../config/redis-settings.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { StartError } from '../../../shared/domain/start-error.ts';
import { RedisConnection } from '../transport/redis/redis-connection.ts';

const CONNECT_MS = 3000;
const SCAN_COUNT = '1000';

/** Connects for some work. Rejects with a StartError if Redis can't be reached. */
export async function withRedis<T>(
  settings: RedisSettings,
  clock: Clock,
  work: (redis: RedisConnection) => Promise<T>,
): Promise<T> {
  const redis = await RedisConnection.open({ ...settings, clock, random: Math.random, onReady: () => {} });
  try {
    await redis.waitUntilReady(CONNECT_MS);
    if (!redis.isReady) throw new StartError(1, `redis.url: ${redis.problem}`);
    return await work(redis);
  } finally {
    redis.close();
  }
}

/** Returns where a fleet has its keys. Rejects with a StartError if there is not just one fleet, or none with `genesisHash`. */
export async function findFleet(redis: Pick<RedisConnection, 'call'>, genesisHash: string | null): Promise<string> {
  const prefixes = new Set<string>(); // a scan may return a name twice
  let cursor = '0';
  do {
    const answer = await redis.call('SCAN', cursor, 'MATCH', 'slotgate:{*}:genesis', 'COUNT', SCAN_COUNT);
    const [next, names] = answer as [string, string[]];
    cursor = next;
    for (const name of names) prefixes.add(name.slice(0, -'genesis'.length));
  } while (cursor !== '0');
  const found = [...prefixes].filter((prefix) => genesisHash === null || prefix === prefixOf(genesisHash));
  const [prefix] = found;
  if (prefix === undefined)
    throw new StartError(1, 'redis.url: no gateway has ever joined a fleet there: start one first');
  if (found.length > 1)
    throw new StartError(
      1,
      'redis.url: there are the fleets of several clusters; choose one with --set cluster=GENESIS-HASH',
    );
  return prefix;
}

export const prefixOf = (genesisHash: string): string => `slotgate:{${genesisHash.slice(0, 8)}}:`;
