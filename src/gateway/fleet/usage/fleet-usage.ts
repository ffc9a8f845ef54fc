import { KEEP_DAYS, sumUsage } from '../../access/usage/usage-file.ts';
import { DAY_MS, dayOf, REQUEST_OUTCOMES, type UsageRow } from '../../access/usage/usage-line.ts';
import { type RedisConnection, scriptOf } from '../transport/redis/redis-connection.ts';

/** Sums only grow, so an older one changes nothing. KEYS: day. ARGV: days kept, then name and numbers of each sum. */
const KEEP = scriptOf(`
for i = 2, #ARGV, 2 do
  local before, out = {}, {}
  for n in string.gmatch(redis.call('HGET', KEYS[1], ARGV[i]) or '', '%d+') do before[#before + 1] = tonumber(n) end
  for n in string.gmatch(ARGV[i + 1], '%d+') do
    out[#out + 1] = string.format('%.0f', math.max(tonumber(n), before[#out + 1] or 0))
  end
  redis.call('HSET', KEYS[1], ARGV[i], table.concat(out, ' '))
end
redis.call('EXPIRE', KEYS[1], ARGV[1] * 86400)
return 1`);

const SCAN_COUNT = '1000';

export async function keepUsage(
  redis: Pick<RedisConnection, 'run'>,
  prefix: string,
  gateway: string,
  day: string,
  rows: readonly UsageRow[],
): Promise<void> {
  const fields = rows.flatMap(({ key, route, counts, units, givenBack }) => [
    `${gateway} ${key} ${route}`,
    [...counts, units, givenBack].join(' '),
  ]);
  await redis.run(KEEP, [keyOf(prefix, day)], [KEEP_DAYS + 1, ...fields]);
}

export async function readFleetUsage(
  redis: Pick<RedisConnection, 'call'>,
  prefix: string,
  nowMs: number,
): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for (let daysAgo = KEEP_DAYS; daysAgo >= -1; daysAgo--) {
    const day = dayOf(nowMs - daysAgo * DAY_MS); // tomorrow too: clocks differ
    const sums = new Map<string, string>(); // a scan may return a field twice
    let cursor = '0';
    do {
      const answer = await redis.call('HSCAN', keyOf(prefix, day), cursor, 'COUNT', SCAN_COUNT);
      const [next, fields] = answer as [string, string[]];
      cursor = next;
      for (let i = 0; i < fields.length; i += 2) sums.set(fields[i] ?? '', fields[i + 1] ?? '');
    } while (cursor !== '0');
    for (const [name, numbers] of sums) rows.push(rowOf(day, name, numbers));
  }
  return sumUsage(rows);
}

function rowOf(day: string, name: string, text: string): UsageRow {
  const [, key = '', ...route] = name.split(' ');
  const numbers = text.split(' ').map(Number);
  const counts = numbers.slice(0, REQUEST_OUTCOMES.length);
  const [units = 0, givenBack = 0] = numbers.slice(REQUEST_OUTCOMES.length);
  return { day, key, route: route.join(' '), counts, units, givenBack };
}

const keyOf = (prefix: string, day: string): string => `${prefix}usage:${day}`;
