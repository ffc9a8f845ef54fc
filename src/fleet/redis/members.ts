import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import { type RedisConnection, scriptOf } from './redis-connection.ts';

/** What a gateway tells the others about itself. */
export interface MemberRecord {
  /** The ids of its receipt keys. */
  readonly kids: readonly string[];
  /** The digest of the settings that all should share. */
  readonly config: string;
}

/** The time after which a silent member counts no more, in milliseconds. */
export const MEMBER_MS = 3000;

const TELL_MS = 1000;

/**
 * Notes a member and lists those that were heard lately, this one included. KEYS: members. ARGV: this member, its record
 * in JSON, or an empty text to list only.
 */
const TELL = scriptOf(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ${MEMBER_MS * 10})
local all, out = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local at, record = string.match(all[i + 1], '^(%d+) (.*)$')
  if at and math.abs(now - tonumber(at)) <= ${MEMBER_MS} then out[#out + 1] = record
  else redis.call('HDEL', KEYS[1], all[i]) end
end
return out`);

export interface MembersOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'call'>;
  readonly member: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly record: () => MemberRecord;
  /** Called when the number of members has changed. */
  readonly onCount: (count: number) => void;
  /** Called when some member has other settings, once as long as there is one. */
  readonly onOtherSettings: () => void;
}

/** Lists the members that were heard lately. */
export async function listMembers(
  redis: Pick<RedisConnection, 'run'>,
  prefix: string,
): Promise<readonly MemberRecord[]> {
  const records = (await redis.run(TELL, [`${prefix}members`], ['', ''])) as string[];
  return records.map((record) => JSON.parse(record) as MemberRecord);
}

/** The gateways that are in the fleet now. */
export class Members {
  readonly #options: MembersOptions;
  readonly #stop: () => void;
  #count = 0;
  #hasToldOfSettings = false;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#stop = repeat(options.clock, TELL_MS, () => this.#tell(), 0);
  }

  async close(): Promise<void> {
    this.#stop();
    const { redis, prefix, member } = this.#options;
    await redis.call('HDEL', `${prefix}members`, member).catch(() => {}); // else it is forgotten by itself
  }

  async #tell(): Promise<void> {
    const { redis, member, prefix, record, onCount, onOtherSettings } = this.#options;
    const own = record();
    const answer = (await redis.run(TELL, [`${prefix}members`], [member, JSON.stringify(own)])) as string[];
    const records = answer.map((text) => JSON.parse(text) as MemberRecord);
    if (records.length !== this.#count) onCount(records.length);
    this.#count = records.length;
    const isOther = records.some(({ config }) => config !== own.config);
    if (isOther && !this.#hasToldOfSettings) onOtherSettings();
    this.#hasToldOfSettings = isOther;
  }
}
