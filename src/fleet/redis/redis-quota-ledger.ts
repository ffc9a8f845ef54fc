import { LRUCache } from 'lru-cache';
import type {
  JoinedQuotaLedger,
  QuotaAsk,
  QuotaLedgers,
  QuotaShare,
  QuotaState,
} from '../../access/quota/quota-ledger.ts';
import type { Clock } from '../../domain/clock.ts';
import type { FleetSecret } from './fleet-secret.ts';
import { FIELDS_PER_SHARE, SETTLE } from './quota-script.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface RedisQuotaLedgerOptions {
  readonly clock: Clock;
  /** Called when this gateway begins to hold its limits alone. */
  readonly onAlone: () => void;
  /** Called when Redis settles asks, for the first time and after each outage. */
  readonly onShared: () => void;
}

/** Where the shares of a fleet are kept. */
export interface FleetStore {
  readonly redis: Pick<RedisConnection, 'run' | 'call' | 'subscribe'>;
  /** The name of this gateway, which no other has or had. */
  readonly member: string;
  /** The start of all keys of the fleet. */
  readonly prefix: string;
  /** The secret under which identities are named at Redis, which gets no address. */
  readonly secret: FleetSecret;
}

/** An identity whose shares were asked for lately. */
interface KnownIdentity {
  /** Its name at Redis. */
  readonly name: string;
  /** What Redis told its members last. */
  readonly told: Map<string, ToldShare>;
}

interface ToldShare {
  /** With what is left, as was heard last. */
  share: QuotaShare;
  /** The end of its window on the monotonic clock. */
  readonly endsAtMs: number;
}

/** Those that take part here: this process, or its workers. */
interface LocalMember {
  readonly onForgotten: () => void;
  hear(left: QuotaState): void;
}

/** The most identities that are remembered, at about 500 B each. */
const MAX_IDENTITIES = 20_000;

const NAME_DIGITS = 16;

/** Returns the name of an identity at Redis, which gets no address. */
export const nameOfIdentity = (id: string, secret: FleetSecret): string =>
  secret.digest('identity', id).toString('hex').slice(0, NAME_DIGITS);

/**
 * Where Redis can't be asked, members use up one in so many parts of what they heard was left of a window. As they hear of
 * each halving, that is no more than what is left.
 */
const LEFT_PARTS = 2;

/**
 * The shares of gateways in windows that Redis keeps. Where it can't be asked a member uses up the share that it has and
 * its part of what was left, and in new windows its equal part of the limit, so that together all keep the limit. What was
 * charged meanwhile is told with the next ask, as counts are absolute.
 */
export class RedisQuotaLedger implements QuotaLedgers {
  readonly #options: RedisQuotaLedgerOptions;
  readonly #identities: LRUCache<string, KnownIdentity>;
  /** Ids by their names at Redis. */
  readonly #ids = new Map<string, string>();
  readonly #locals = new Map<string, LocalMember>();
  #store: FleetStore | undefined;
  #isAlone = true;
  #isLooking = false;
  #stopHearing = (): void => {};

  /** The number of gateways that were heard last, this one included. */
  gateways = 1;

  constructor(options: RedisQuotaLedgerOptions) {
    this.#options = options;
    this.#identities = new LRUCache({ max: MAX_IDENTITIES, dispose: ({ name }) => this.#ids.delete(name) });
  }

  /** Shares the limits from now on. Redis must have been asked something just before. */
  connect(store: FleetStore): void {
    this.#store = store;
    this.#identities.clear();
    this.#setAlone(false);
    this.#stopHearing();
    this.#stopHearing = store.redis.subscribe(`${store.prefix}left`, (message) => this.#onLeft(message.toString()));
  }

  join(member: string, onForgotten: () => void): JoinedQuotaLedger {
    let hear: (left: QuotaState) => void = () => {};
    const members = (): number => this.#members;
    this.#locals.set(member, { onForgotten, hear: (left) => hear(left) });
    return {
      get members() {
        return members();
      },
      settle: (asks) => this.#settle(member, asks),
      onLeft(hearer) {
        hear = hearer;
        return () => {
          hear = () => {};
        };
      },
      leave: () => this.#locals.delete(member),
    };
  }

  /** The members of all gateways, if each has as many as this one. */
  get #members(): number {
    return Math.max(1, this.gateways) * Math.max(1, this.#locals.size);
  }

  async #settle(member: string, asks: readonly QuotaAsk[]): Promise<readonly QuotaShare[]> {
    if (this.#isAlone) void this.#look();
    const fields = this.#isAlone || this.#store === undefined ? undefined : await this.#ask(member, asks, this.#store);
    const nowMs = this.#options.clock.monotonic();
    return asks.map((ask, i) => {
      if (fields === undefined) return this.#shareAlone(ask, this.#identities.get(ask.id)?.told.get(member), nowMs);
      const share = shareOf(ask.id, fields.slice(i * FIELDS_PER_SHARE, (i + 1) * FIELDS_PER_SHARE));
      this.#identities.get(ask.id)?.told.set(member, { share, endsAtMs: nowMs + share.endsInMs });
      return share;
    });
  }

  /** Asks Redis; returns undefined where it can't be asked. */
  async #ask(
    member: string,
    asks: readonly QuotaAsk[],
    { redis, member: gateway, prefix, secret }: FleetStore,
  ): Promise<readonly number[] | undefined> {
    const keys = asks.map(({ id }) => `${prefix}w:${this.#identityOf(id, secret).name}`);
    const args = [`${gateway} ${member}`, `${prefix}left`, `${prefix}w:`, ...asks.flatMap(argsOf)];
    try {
      return (await redis.run(SETTLE, keys, args)) as number[];
    } catch {
      this.#setAlone(true);
      return undefined;
    }
  }

  /** Looks whether Redis can be asked again; nobody who asks for a share waits for that. */
  async #look(): Promise<void> {
    if (this.#isLooking || this.#store === undefined) return;
    this.#isLooking = true;
    await this.#store.redis.call('PING').then(
      () => this.#setAlone(false),
      () => {},
    );
    this.#isLooking = false;
  }

  #setAlone(isAlone: boolean): void {
    if (isAlone === this.#isAlone) return;
    this.#isAlone = isAlone;
    if (isAlone) this.#options.onAlone();
    else {
      this.#options.onShared();
      for (const { onForgotten } of this.#locals.values()) onForgotten();
    }
  }

  /** Returns the share that a member may use without having asked anyone. */
  #shareAlone(ask: QuotaAsk, told: ToldShare | undefined, nowMs: number): QuotaShare {
    const { id, limit, windowMs, window, ageMs, used } = ask;
    if (told !== undefined && window !== 0 && told.share.window === window && nowMs < told.endsAtMs) {
      const part = Math.floor(Math.max(0, told.share.left) / (LEFT_PARTS * this.#members));
      const share = Math.max(used, told.share.share + part);
      const debt = Math.min(0, told.share.left + told.share.share - share);
      return { ...told.share, share, left: debt, endsInMs: told.endsAtMs - nowMs, isOver: false };
    }
    const endsInMs = Math.max(1, windowMs - ageMs);
    const part = Math.max(1, Math.floor(limit / this.#members)); // the rest may be in use at others
    const share = Math.max(used, part);
    const reset = Math.ceil((this.#options.clock.now() + endsInMs) / 1000);
    const left = Math.min(0, limit - used);
    return { id, limit, windowMs, window: 0, endsInMs, reset, changes: 0, left, share, held: 0, isOver: false };
  }

  #identityOf(id: string, secret: FleetSecret): KnownIdentity {
    const known = this.#identities.get(id);
    if (known !== undefined) return known;
    const name = nameOfIdentity(id, secret);
    const identity: KnownIdentity = { name, told: new Map() };
    this.#identities.set(id, identity);
    this.#ids.set(name, id);
    return identity;
  }

  /** Tells members of identities that were asked for lately; of others nothing is charged here. */
  #onLeft(message: string): void {
    for (const [name, left, window, endsInMs, reset, limit, windowMs, changes] of parseLeft(message)) {
      const id = this.#ids.get(name);
      if (id === undefined) continue;
      for (const told of this.#identities.peek(id)?.told.values() ?? []) {
        const { share } = told;
        if (share.window === window && share.changes < changes) told.share = { ...share, left, changes };
      }
      for (const local of this.#locals.values())
        local.hear({ id, limit, windowMs, left, window, endsInMs, reset, changes });
    }
  }
}

type LeftFields = [
  name: string,
  left: number,
  window: number,
  endsInMs: number,
  reset: number,
  limit: number,
  windowMs: number,
  changes: number,
];

/** Parses what the script tells; whoever else writes to Redis can tell anything, and is not heard. */
function parseLeft(message: string): readonly LeftFields[] {
  try {
    const all: unknown = JSON.parse(message);
    return Array.isArray(all) ? all.filter(isLeft) : [];
  } catch {
    return [];
  }
}

const LEFT_FIELDS = 8;

const isLeft = (fields: unknown): fields is LeftFields =>
  Array.isArray(fields) &&
  fields.length === LEFT_FIELDS &&
  fields.every((field, i) => (i === 0 ? typeof field === 'string' : Number.isFinite(field)));

const argsOf = ({ limit, windowMs, window, ageMs, used, want, need }: QuotaAsk): readonly number[] => [
  ...[limit, windowMs, window, Math.round(ageMs)],
  ...[used, want, need], // ARGS_PER_ASK of them
];

function shareOf(id: string, fields: readonly number[]): QuotaShare {
  const [share = 0, left = 0, window = 0, endsInMs = 0, reset = 0, limit = 0, windowMs = 0, changes = 0, isOver = 0] =
    fields;
  return { id, share, left, window, endsInMs, reset, limit, windowMs, changes, held: 0, isOver: isOver === 1 };
}
