import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../../config/config-schema.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Slot } from '../../domain/slot.ts';
import { StartError } from '../../domain/start-error.ts';
import type { Log } from '../../runtime/log.ts';
import type { Feed, FeedFrame } from './feed.ts';
import { prefixOf } from './fleet-client.ts';
import type { FleetSeats } from './fleet-seats.ts';
import type { FleetSecret } from './fleet-secret.ts';
import { KeyMirror } from './key-mirror.ts';
import { Leader, type LeaderOptions } from './leader.ts';
import { listMembers, type MemberRecord, Members } from './members.ts';
import { RedisConnection } from './redis-connection.ts';
import { type FeedStats, RedisFeed } from './redis-feed.ts';
import type { RedisQuotaLedger } from './redis-quota-ledger.ts';
import type { RedisSettings } from './redis-settings.ts';
import { UsageReporter } from './usage-reporter.ts';

export interface RedisFleetOptions {
  readonly settings: RedisSettings;
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly guard: LeaderOptions['guard'];
  /** The newest finalized slot. */
  readonly tip: () => Slot | undefined;
  /** The ids of all receipt keys of this gateway, those that will sign included. */
  readonly kids: () => readonly string[];
  /** The file of this gateway that the API keys of the fleet are copied to. */
  readonly keysPath: string;
  /** Returns the secret that all gateways of the fleet have. */
  readonly secret: () => FleetSecret;
  /** The shares of limits. */
  readonly quota: RedisQuotaLedger | undefined;
  /** The connections of callers. */
  readonly seats: FleetSeats | undefined;
  /** Writes the usage counted so far to the file of this gateway. */
  readonly flushUsage: () => void;
}

/** What a gateway keeps live, as far as the fleet shares it. */
export interface FleetWatch {
  /** Takes part over this feed from now on. */
  open(feed: Feed): void;
  /** Tells whether this gateway leads the fleet from now on. */
  lead(isLeader: boolean): void;
  /** Returns what a follower must know that joins at this point of the frames. */
  snapshot(): readonly FeedFrame[];
}

/** The longest wait for Redis at the start, in milliseconds; the gateway then starts without. */
const START_MS = 3000;

/** The pause after an attempt to enter that has failed, in milliseconds. */
const ENTER_MS = 5000;

const OLDEST_VERSION = [6, 2] as const;

/**
 * The gateways that share one Redis. No request ever waits for it: what is shared is read and written beside, and without
 * Redis each gateway goes on alone, with nothing signed as `exact`.
 */
export class RedisFleet {
  readonly #options: RedisFleetOptions;
  readonly #member = randomBytes(8).toString('hex');
  #redis: RedisConnection | undefined;
  #genesisHash: string | undefined;
  /** Whether it enters as soon as Redis can be asked. */
  #isWaiting = false;
  #leader: Leader | undefined;
  #members: Members | undefined;
  #keys: KeyMirror | undefined;
  #usage: UsageReporter | undefined;
  #watch: FleetWatch | undefined;
  #feed: RedisFeed | undefined;
  #refusal: string | undefined;
  #cancelEntering = (): void => {};
  #isClosed = false;

  /** Withholds `exact` until this gateway is elected. */
  constructor(options: RedisFleetOptions) {
    this.#options = options;
    options.guard.confineTo(0, 0);
  }

  /** What the feed counts; undefined as long as this gateway is in no fleet. */
  get feedStats(): FeedStats | undefined {
    return this.#feed?.stats;
  }

  /** Shares what this gateway keeps live; call it before {@link join}. */
  share(watch: FleetWatch): void {
    this.#watch = watch;
  }

  /** What operators should know; empty if all is well. */
  problems(): readonly string[] {
    if (this.#refusal !== undefined) return [`this gateway is in no fleet: ${this.#refusal}`];
    if (this.#redis?.isReady !== true)
      return [
        "Redis can't be reached: nothing is signed as exact, callers have this gateway's part of their limits, and API keys revoked since are valid here",
      ];
    const forged = this.#keys?.forged ?? 0;
    if (forged > 0) return [`${forged} API keys at Redis are not applied: ${FORGED}`];
    return this.#keys?.isOlder === true
      ? ['Redis has lost API keys, which are valid here: slotgate keys restore gives them back']
      : [];
  }

  /**
   * Joins the fleet of a cluster. Resolves when that is done, or when Redis can't be reached in time: then it is done as
   * soon as it can. Rejects with a StartError if this gateway does not belong to the others, or Redis can't be used.
   */
  async join(genesisHash: string): Promise<void> {
    const { settings, clock, random, log } = this.#options;
    this.#genesisHash = genesisHash;
    const redis = await RedisConnection.open({
      ...settings,
      clock,
      random,
      onReady: () => this.#onReady(),
      onDeaf: () => this.#feed?.lose("Redis can't be heard"),
    });
    this.#redis = redis;
    if (this.#isClosed) return redis.close();
    await redis.waitUntilReady(START_MS, () => isRefusal(redis.problem));
    const problem = redis.isReady ? await this.#tryToEnter(redis, genesisHash) : redis.problem;
    if (problem === undefined) return;
    if (isRefusal(problem)) throw new StartError(78, `redis.url: ${problem}`);
    log.warn({}, `Redis can't be used (${problem}): this gateway is alone until it can`);
    this.#isWaiting = true;
    if (redis.isReady) this.#enterLater();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelEntering();
    this.#keys?.close();
    this.#options.flushUsage();
    await this.#usage?.close();
    await this.#leader?.close();
    this.#feed?.close();
    await this.#members?.close();
    this.#redis?.close();
  }

  #onReady(): void {
    this.#usage?.reportAll(); // it may have lost what it had
    void this.#keys?.look();
    void this.#enterLate();
  }

  /** Joins when Redis is there for the first time after the start; nobody can be refused the start any more. */
  async #enterLate(): Promise<void> {
    const redis = this.#redis;
    if (redis === undefined || this.#genesisHash === undefined || !this.#isWaiting) return;
    this.#isWaiting = false;
    await this.#enter(redis, this.#genesisHash).catch((thrown: unknown) => {
      this.#isWaiting = true;
      this.#enterLater();
      if (!(thrown instanceof StartError) || thrown.message === this.#refusal) return;
      this.#refusal = thrown.message;
      this.#options.log.error({}, `this gateway is in no fleet: ${thrown.message}`);
    });
  }

  /** Returns why Redis could not be asked; undefined if it was. */
  async #tryToEnter(redis: RedisConnection, genesisHash: string): Promise<string | undefined> {
    try {
      await this.#enter(redis, genesisHash);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof StartError) throw thrown;
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  #enterLater(): void {
    this.#cancelEntering();
    this.#cancelEntering = this.#options.clock.after(ENTER_MS, () => void this.#enterLate());
  }

  async #enter(redis: RedisConnection, genesisHash: string): Promise<void> {
    const { config, log, kids, keysPath, quota, seats, secret } = this.#options;
    const prefix = prefixOf(genesisHash);
    await checkServer(redis);
    await checkGenesis(redis, prefix, genesisHash);
    checkKids(await listMembers(redis, prefix), kids());
    if (this.#isClosed) return;
    this.#refusal = undefined;
    const shared = { ...this.#options, redis, prefix, member: this.#member, secret: secret() };
    const settings = digestOfSettings(config);
    this.#members = new Members({
      ...shared,
      record: () => ({ kids: kids(), config: settings }),
      onCount(gateways) {
        if (quota !== undefined) quota.gateways = gateways;
        log.info({ gateways }, 'the fleet on Redis has another size');
      },
      onOtherSettings: () => log.warn({}, 'another gateway of the fleet has other settings'),
    });
    quota?.connect(shared);
    seats?.connect(shared);
    this.#keys = new KeyMirror({
      ...shared,
      path: keysPath,
      onForged: (records) => log.error({ records }, `API keys at Redis are not applied: ${FORGED}`),
      onOlder: () =>
        log.error({}, 'Redis has older API keys than this gateway, which keeps its own: slotgate keys restore'),
      onProblem: (problem) => log.warn({}, `the API keys of the fleet can't be copied: ${problem}`),
    });
    this.#usage = new UsageReporter({
      ...shared,
      state: config.state,
      onProblem: (err) => log.warn({ err }, "the usage of this gateway can't be read: the fleet doesn't have it"),
    });
    const feed = this.#openFeed(redis, prefix);
    this.#leader = new Leader({
      ...shared,
      onChange: (isLeader, epoch) => {
        log.info({ epoch }, isLeader ? 'this gateway leads the fleet' : 'this gateway leads the fleet no more');
        if (isLeader) feed?.lead(epoch);
        this.#watch?.lead(isLeader);
        if (!isLeader) feed?.resign();
      },
    });
  }

  #openFeed(redis: RedisConnection, prefix: string): RedisFeed | undefined {
    const watch = this.#watch;
    if (watch === undefined) return undefined;
    const { clock, random, secret } = this.#options;
    const shared = { redis, prefix, clock, random, member: this.#member, secret: secret() };
    this.#feed = new RedisFeed({ ...shared, snapshot: () => watch.snapshot() });
    watch.open(this.#feed);
    return this.#feed;
  }
}

const FORGED = 'nobody with the secret of this fleet has written them; slotgate keys restore seals its own anew';

/** Tells whether Redis was reached and does not let us in. */
const isRefusal = (problem: string): boolean =>
  /^(WRONGPASS|NOAUTH|NOPERM|ERR invalid password|ERR AUTH)/.test(problem);

async function checkServer(redis: RedisConnection): Promise<void> {
  const info = String(await redis.call('INFO'));
  const fieldOf = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const [major = 0, minor = 0] = fieldOf('redis_version').split('.').map(Number);
  if (major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1]))
    throw new StartError(78, `redis.url: expected Redis ${OLDEST_VERSION.join('.')} or newer, got ${major}.${minor}`);
  if (fieldOf('redis_mode') === 'cluster')
    throw new StartError(78, 'redis.url: expected a single Redis or its Sentinel-managed master, got a Redis Cluster');
  const policy = fieldOf('maxmemory_policy');
  if (policy !== 'noeviction')
    throw new StartError(
      78,
      `redis.url: maxmemory-policy is ${policy}, so Redis may drop what it keeps; set noeviction`,
    );
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
