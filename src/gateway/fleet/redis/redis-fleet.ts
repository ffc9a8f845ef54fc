import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../../../config/config-schema.ts';
import type { RedisSettings } from '../../../config/redis-settings.ts';
import { StartError } from '../../../shared/domain/start-error.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { RedisStore } from '../counters/redis-store.ts';
import { KeyMirror, type KeyMirrorOptions } from '../keys/key-mirror.ts';
import { Leader, type LeaderOptions } from '../leadership/leader.ts';
import { listMembers, type MemberRecord, Members } from '../leadership/members.ts';
import type { SharedWatch } from '../replication/shared-watch.ts';
import type { ChannelStats } from '../transport/redis/event-receiver.ts';
import type { FleetSecret } from '../transport/redis/fleet-secret.ts';
import { RedisChannel } from '../transport/redis/redis-channel.ts';
import { RedisConnection, redisReasonOf } from '../transport/redis/redis-connection.ts';
import { UsageReporter } from '../usage/usage-reporter.ts';
import { prefixOf } from './fleet-client.ts';

export interface RedisFleetOptions
  extends Pick<LeaderOptions, 'clock' | 'random' | 'guard' | 'tip'>,
    Pick<KeyMirrorOptions, 'keysPath' | 'writes'> {
  readonly settings: RedisSettings;
  readonly config: Config;
  readonly log: Log;
  /** The ids of all receipt keys of this gateway, those that will sign included. */
  readonly kids: () => readonly string[];
  readonly secret: FleetSecret;
  readonly counters: Pick<RedisStore, 'gateways' | 'connect'> | undefined;
  readonly flushUsage: () => void;
}

/** The longest wait for Redis at the start, in milliseconds; the gateway then starts without. */
const START_MS = 3000;

/** The pause after an attempt to enter that has failed, in milliseconds. */
const ENTER_MS = 1000;
const OLDEST_VERSION = '6.2';

/** No request waits for Redis: without it each gateway goes on alone, with nothing signed as `exact`. */
export class RedisFleet {
  readonly #options: RedisFleetOptions;
  readonly #member = randomBytes(8).toString('hex');
  #redis: RedisConnection | undefined;
  #leader: Leader | undefined;
  #members: Members | undefined;
  #keys: KeyMirror | undefined;
  #usage: UsageReporter | undefined;
  /** The part of this gateway in the watch of the fleet; is set before it joins. */
  watch: Pick<SharedWatch, 'open' | 'lead'> | undefined;
  #channel: RedisChannel | undefined;
  #refusal: string | undefined;
  #stopEntering = (): void => {};
  #isClosed = false;

  /** Withholds `exact` until this gateway is elected. */
  constructor(options: RedisFleetOptions) {
    this.#options = options;
    options.guard.confineTo(0, 0);
  }

  get channelStats(): ChannelStats | undefined {
    return this.#channel?.stats;
  }

  problems(): readonly string[] {
    if (this.#redis?.isAnswering !== true)
      return [
        "Redis can't be reached: nothing is signed as exact, callers have this gateway's part of their limits, and API keys revoked since are valid here",
      ];
    if (this.#refusal !== undefined) return [`this gateway is in no fleet: ${this.#refusal}`];
    const { listenProblem } = this.#redis;
    const [leader, members, usage] = [this.#leader, this.#members, this.#usage].map((part) => part?.problem);
    return [
      leader && `nothing is signed as exact: ${leader}`,
      members && `the number of gateways may have changed, by which limits are shared: ${members}`,
      usage && `the fleet does not count the usage of this gateway: ${usage}`,
      listenProblem && `no message of other gateways arrives here: ${listenProblem}`,
      this.#keys?.problem,
    ].filter((each) => each !== undefined);
  }

  /**
   * Joins the fleet of a cluster. Resolves when that is done, or when Redis can't be reached in time: then it is done as
   * soon as it can. Rejects with a StartError if this gateway does not belong to the others, or Redis can't be used.
   */
  async join(genesisHash: string): Promise<void> {
    const { settings, clock, random, log } = this.#options;
    if (isOpenToOthers(settings.url))
      log.warn({}, 'redis.url is not encrypted and leaves this machine: use rediss://, or a network of your own');
    const redis = await RedisConnection.open({
      ...settings,
      clock,
      random,
      onReady: () => {
        this.#usage?.reportAll(); // it may have lost what it had
        void this.#keys?.refresh();
      },
      onDeaf: () => this.#channel?.lose('no message of Redis arrives'),
    });
    this.#redis = redis;
    if (this.#isClosed) return redis.close();
    await redis.waitUntilReady(START_MS, () => isRefusal(redis.problem));
    let { problem } = redis;
    try {
      if (redis.isReady) return await this.#enter(redis, genesisHash);
    } catch (thrown) {
      if (thrown instanceof StartError) throw thrown;
      problem = this.#refusal = redisReasonOf(thrown);
    }
    if (isRefusal(problem)) throw new StartError(78, `redis.url: ${problem}`);
    if (this.#isClosed) return;
    log.warn({}, `Redis can't be used (${problem}): this gateway is alone until it can`);
    this.#stopEntering = repeat(clock, ENTER_MS, () => redis.isReady && this.#enterLate(redis, genesisHash));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopEntering();
    this.#keys?.close();
    this.#options.flushUsage();
    await this.#usage?.close();
    await this.#leader?.close();
    this.#channel?.close();
    await this.#members?.close();
    this.#redis?.close();
  }

  /** Joins when Redis is there for the first time after the start; nobody can be refused the start any more. */
  async #enterLate(redis: RedisConnection, genesisHash: string): Promise<void> {
    try {
      await this.#enter(redis, genesisHash);
      this.#stopEntering();
    } catch (thrown) {
      const refusal = redisReasonOf(thrown);
      if (refusal !== this.#refusal) this.#options.log.error({}, `this gateway is in no fleet: ${refusal}`);
      this.#refusal = refusal;
    }
  }

  async #enter(redis: RedisConnection, genesisHash: string): Promise<void> {
    const { config, log, kids, counters } = this.#options;
    const prefix = prefixOf(genesisHash);
    await checkServer(redis, prefix);
    await checkGenesis(redis, prefix, genesisHash);
    checkKids(await listMembers({ redis, prefix }), kids());
    if (this.#isClosed) return;
    this.#refusal = undefined;
    const shared = { ...this.#options, redis, prefix, genesisHash, member: this.#member };
    const settings = digestOfSettings(config);
    this.#keys = new KeyMirror(shared); // first, since it throws if its file can't be read
    this.#members = new Members({ ...shared, record: () => ({ kids: kids(), config: settings }) });
    counters?.connect(shared);
    this.#usage = new UsageReporter(shared);
    if (this.watch !== undefined) {
      this.#channel = new RedisChannel(shared);
      this.watch.open(this.#channel);
    }
    this.#leader = new Leader({
      ...shared,
      onChange: (isLeader, epoch) => {
        log.info({ epoch }, isLeader ? 'this gateway leads the fleet' : 'this gateway leads the fleet no more');
        if (isLeader) this.#channel?.lead(epoch);
        this.watch?.lead(isLeader);
        if (!isLeader) this.#channel?.resign();
      },
    });
  }
}

function isOpenToOthers(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'redis:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

const isRefusal = (problem: string): boolean => /WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH/.test(problem);

/** Throws a StartError for a Redis that no fleet can use. */
export async function checkServer(redis: RedisConnection, prefix: string): Promise<void> {
  const info = String(await redis.call('INFO'));
  const fieldOf = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const version = fieldOf('redis_version');
  if (version.localeCompare(OLDEST_VERSION, 'en', { numeric: true }) < 0)
    throw new StartError(78, `redis.url: expected Redis ${OLDEST_VERSION} or newer, got ${version}`);
  if (fieldOf('redis_mode') === 'cluster')
    throw new StartError(78, 'redis.url: expected a single Redis or its Sentinel-managed master, got a Redis Cluster');
  const policy = fieldOf('maxmemory_policy');
  if (policy !== 'noeviction')
    throw new StartError(
      78,
      `redis.url: maxmemory-policy is ${policy}, so Redis may drop what it keeps; set noeviction`,
    );
  await redis.call('PUBLISH', `${prefix}totals`, ''); // a user without rights to channels can follow nobody
}

async function checkGenesis(redis: RedisConnection, prefix: string, genesisHash: string): Promise<void> {
  await redis.call('SET', `${prefix}genesis`, genesisHash, 'NX');
  const known = await redis.call('GET', `${prefix}genesis`);
  if (known !== genesisHash)
    throw new StartError(78, `redis.url: this Redis is for the cluster ${known}, and the nodes are of ${genesisHash}`);
}

function checkKids(members: readonly MemberRecord[], own: readonly string[]): void {
  const known = new Set(members.flatMap(({ kids }) => kids));
  if (known.size > 0 && !own.some((kid) => known.has(kid)))
    throw new StartError(
      78,
      'the gateways of a fleet sign with one receipt key, and the others have another one: give all the same RECEIPT_KEY_FILE',
    );
}

/** Digests the settings that all gateways of a fleet should share: none of where a gateway runs. */
function digestOfSettings({ limits, stake, prices, tokens, stream, cluster }: Config): string {
  const shared = JSON.stringify({ limits, stake, sources: prices.sources, tokens, stream, cluster });
  return createHash('sha256').update(shared).digest('hex').slice(0, 16);
}
