import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import type { Clock } from '../../../shared/domain/clock.ts';
import { atMost } from '../../../shared/runtime/at-most.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { CountAnswer, CounterListener, CounterStore, CountReport } from '../../access/quota/counter-store.ts';
import { streamsReport } from '../../access/quota/shared-streams.ts';
import { MEMBER_MS } from '../leadership/members.ts';
import type { RedisChannelOptions } from '../transport/redis/redis-channel.ts';
import type { RedisConnection } from '../transport/redis/redis-connection.ts';
import { COUNT, NUMBERS_PER_ANSWER } from './count-script.ts';

interface FleetStore extends Pick<RedisChannelOptions, 'member' | 'prefix' | 'secret'> {
  readonly redis: Pick<RedisConnection, 'run' | 'subscribe'>;
}

export interface RedisStoreOptions {
  readonly clock: Clock;
  /** Called when members of this gateway begin to have their parts of limits alone. */
  readonly onStandalone: () => void;
  /** Called when Redis counts, for the first time and after each outage. */
  readonly onShared: () => void;
}

const REFRESH_MS = MEMBER_MS;

/** The intervals after which all streams are reported again, as Redis may have lost them. */
const REFRESHES_PER_ROUND = 10;
const MAX_IDS = 20_000;

/** A window of a millisecond, which shows whether Redis counts: one that is full, or a replica, answers a PING, too. */
const PROBE = streamsReport({ id: '', limit: 1, windowMs: 1 });
const NAME_DIGITS = 16;

interface LocalMember {
  readonly listener: CounterListener;
  /** Whether there are others besides the streams that it has reported, by the id of these. */
  readonly streams: Map<string, boolean>;
}

/** Adds up, at Redis, what the members of all gateways count. While Redis is lost, reports are rejected immediately. */
export class RedisStore implements CounterStore {
  readonly #options: RedisStoreOptions;
  readonly #locals = new Map<string, LocalMember>();
  readonly #stopRefreshing: () => void;
  /** The ids of counters that were reported lately, by their names at Redis, which gets no address. */
  readonly #ids = new LRUCache<string, string>(atMost(MAX_IDS));
  #store: FleetStore | undefined;
  #isStandalone = true;
  #isProbing = false;
  #refreshes = 0;
  #unsubscribe = (): void => {};

  /** The number of gateways that reported lately, this one included. */
  gateways = 1;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#stopRefreshing = repeat(options.clock, REFRESH_MS, () => this.#reportStreamsAgain());
  }

  connect(store: FleetStore): void {
    this.#store = store;
    this.#setStandalone(false);
    this.#unsubscribe();
    this.#unsubscribe = store.redis.subscribe(`${store.prefix}totals`, (message) => this.#onNews(message.toString()));
  }

  close(): void {
    this.#stopRefreshing();
    this.#unsubscribe();
    this.#store = undefined;
  }

  join(member: string, listener: CounterListener) {
    const local: LocalMember = { listener, streams: new Map() };
    this.#locals.set(member, local);
    return {
      members: () => this.gateways * this.#locals.size, // as if each gateway were like this one
      report: (reports: readonly CountReport[]) => this.#report(member, local, reports),
      leave: () => {
        this.#locals.delete(member);
        const ended = [...local.streams.keys()].map((id) => streamsReport({ id }));
        if (ended.length > 0) this.#report(member, local, ended).catch(() => {}); // else they are forgotten by themselves
      },
    };
  }

  async #report(member: string, { streams }: LocalMember, reports: readonly CountReport[]): Promise<CountAnswer[]> {
    if (this.#isStandalone) void this.#probe();
    if (this.#isStandalone || this.#store === undefined) throw new Error('Redis is lost');
    if (reports.length === 0) return [];
    const answers = await this.#count(this.#store, member, reports).catch((thrown: unknown) => {
      this.#setStandalone(true);
      throw thrown;
    });
    for (const { id, windowMs, total, counted } of answers)
      if (windowMs === 0 && total > 0) streams.set(id, total > counted);
      else if (windowMs === 0) streams.delete(id);
    return answers;
  }

  async #count(store: FleetStore, member: string, reports: readonly CountReport[]): Promise<CountAnswer[]> {
    const { redis, member: gateway, prefix, secret } = store;
    const names = reports.map(({ id }) => secret('identity', id).toString('hex').slice(0, NAME_DIGITS));
    for (const [i, name] of names.entries()) this.#ids.set(name, reports[i]?.id);
    const keys = [`${prefix}members`, ...names.map((name) => `${prefix}count:${name}`)];
    const args = [`${gateway} ${member}`, `${prefix}totals`, `${prefix}count:`, ...reports.flatMap(numbersOf)];
    const numbers = await redis.run(COUNT, keys, args);
    return reports.map((report, i) => answerOf(report, numbers as readonly unknown[], i));
  }

  async #probe(): Promise<void> {
    if (this.#isProbing || this.#store === undefined) return;
    this.#isProbing = true;
    const answers = await this.#count(this.#store, '', [PROBE]).catch(() => undefined);
    if (answers !== undefined) this.#setStandalone(false);
    this.#isProbing = false;
  }

  #setStandalone(isStandalone: boolean): void {
    if (isStandalone === this.#isStandalone) return;
    this.#isStandalone = isStandalone;
    if (isStandalone) this.#options.onStandalone();
    else {
      this.#options.onShared();
      for (const { listener } of this.#locals.values()) listener.onStale();
    }
  }

  #reportStreamsAgain(): void {
    const isRound = ++this.#refreshes % REFRESHES_PER_ROUND === 0;
    for (const { listener, streams } of this.#locals.values())
      for (const [id, isShared] of streams) if (isRound || isShared) listener.onStale(id);
  }

  /** Passes on what others have changed, of counters that were reported here lately. */
  #onNews(message: string): void {
    for (const [name, windowMs, total, window, endsInMs] of parseNews(message)) {
      const id = this.#ids.get(name);
      if (id === undefined) continue;
      for (const { listener } of this.#locals.values())
        if (windowMs === 0)
          listener.onStale(id); // what Redis answers is newer than any message
        else listener.onTotal({ id, windowMs, total, window, endsInMs });
    }
  }
}

/** Name, length of the window, total, window, milliseconds until its end. */
const newsSchema = z.tuple([z.string(), z.number(), z.number(), z.number(), z.number()]);

/** Parses what the script publishes. Whoever else writes to Redis can publish anything, which is ignored. */
function parseNews(message: string): readonly z.output<typeof newsSchema>[] {
  try {
    return z.array(newsSchema).parse(JSON.parse(message));
  } catch {
    return [];
  }
}

const numbersOf = (report: CountReport): readonly number[] => {
  const { limit, windowMs, window, ageMs, total, counted, spent, prepay } = report;
  return [limit, windowMs, window, ageMs, total, counted, spent, prepay];
};

function answerOf({ id, windowMs }: CountReport, numbers: readonly unknown[], i: number): CountAnswer {
  const [total = Number.NaN, window = 0, endsInMs = 0, counted = 0] = numbers
    .slice(i * NUMBERS_PER_ANSWER, (i + 1) * NUMBERS_PER_ANSWER)
    .map(Number);
  return { id, windowMs, total, window, endsInMs, counted };
}
