import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { RedisChannelOptions } from '../transport/redis/redis-channel.ts';
import { type RedisConnection, refusalIn, scriptOf } from '../transport/redis/redis-connection.ts';

export interface MemberRecord {
  readonly kids: readonly string[];
  readonly config: string;
}

/** The time after which a silent member counts no more, in milliseconds. */
export const MEMBER_MS = 3000;

const REPORT_MS = 1000;

/**
 * Notes a member and lists those that reported lately, this one included. KEYS: members, genesis. ARGV: this member, its
 * record in JSON, or an empty text to list only, the genesis hash. A Redis that has lost the name of the fleet's cluster
 * gets it again, so that commands find the fleet.
 */
const REPORT = scriptOf(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
  redis.call('SET', KEYS[2], ARGV[3], 'NX')
end
redis.call('PEXPIRE', KEYS[1], ${MEMBER_MS * 10})
local all, out = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local at, record = string.match(all[i + 1], '^(%d+) (.*)$')
  if at and math.abs(now - tonumber(at)) <= ${MEMBER_MS} then out[#out + 1] = record
  else redis.call('HDEL', KEYS[1], all[i]) end
end
return out`);

export interface MembersOptions extends Pick<RedisChannelOptions, 'member' | 'prefix' | 'clock'> {
  readonly redis: Pick<RedisConnection, 'run' | 'call'>;
  readonly genesisHash: string;
  readonly log: Log;
  readonly record: () => MemberRecord;
  /** What counts for members, and knows how many there are. */
  readonly counters: { gateways: number } | undefined;
}

export async function listMembers(
  { redis, prefix }: Pick<MembersOptions, 'redis' | 'prefix'>,
  note: readonly string[] = ['', '', ''],
): Promise<readonly MemberRecord[]> {
  const records = (await redis.run(REPORT, [`${prefix}members`, `${prefix}genesis`], note)) as string[];
  return records.map((record) => JSON.parse(record) as MemberRecord);
}

export class Members {
  readonly #options: MembersOptions;
  readonly #stop: () => void;
  #count = 0;
  #hasOtherSettings = false;
  /** Why Redis does not list the members; undefined if it does, or does not answer. */
  problem: string | undefined;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#stop = repeat(options.clock, REPORT_MS, () => this.#report(), 0);
  }

  async close(): Promise<void> {
    this.#stop();
    const { redis, prefix, member } = this.#options;
    await redis.call('HDEL', `${prefix}members`, member).catch(() => {}); // else it is forgotten by itself
  }

  async #report(): Promise<void> {
    const { member, genesisHash, log, record, counters } = this.#options;
    const own = record();
    const records = await listMembers(this.#options, [member, JSON.stringify(own), genesisHash]).catch((thrown) => {
      this.problem = refusalIn(thrown);
      throw thrown;
    });
    this.problem = undefined;
    const gateways = Math.max(1, records.length); // whatever Redis lists, there is this one
    if (gateways !== this.#count) log.info({ gateways }, 'the fleet on Redis has another size');
    if (counters !== undefined) counters.gateways = gateways;
    this.#count = gateways;
    const isOther = records.some(({ config }) => config !== own.config);
    if (isOther && !this.#hasOtherSettings) log.warn({}, 'another gateway of the fleet has other settings');
    this.#hasOtherSettings = isOther;
  }
}
