import type { SeatLedger } from '../../access/quota/seat-ledger.ts';
import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import { MEMBER_MS } from './members.ts';
import { scriptOf } from './redis-connection.ts';
import { type FleetStore, nameOfIdentity } from './redis-quota-ledger.ts';

/** The time for which changes are gathered into one call of Redis, in milliseconds. */
const TELL_MS = 5;

/** The most callers that one call tells of. */
const MAX_PER_CALL = 500;

/** The interval at which callers with connections at other gateways are told of again: one of those may have died. */
const LOOK_MS = MEMBER_MS;

/** The interval at which all are told of again, and the time after which Redis forgets what is not. */
const RETELL_MS = 30_000;
const KEEP_MS = 4 * RETELL_MS;

/**
 * Keeps how many connections callers have at a gateway, and answers how many they have at the others that were heard lately;
 * those hear of it. KEYS: members, then one for each caller. ARGV: this gateway, channel, then count and name of each caller.
 */
const HOLD = scriptOf(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local alive, out, told = {}, {}, {}
local function isAlive(gateway)
  if alive[gateway] == nil then
    local at = string.match(redis.call('HGET', KEYS[1], gateway) or '', '^(%d+) ')
    alive[gateway] = at ~= nil and math.abs(now - tonumber(at)) <= ${MEMBER_MS}
  end
  return alive[gateway]
end
for i = 2, #KEYS do
  local count, name = tonumber(ARGV[2 * i - 1]), ARGV[2 * i]
  local before = tonumber(redis.call('HGET', KEYS[i], ARGV[1]) or 0)
  if count > 0 then redis.call('HSET', KEYS[i], ARGV[1], count) else redis.call('HDEL', KEYS[i], ARGV[1]) end
  redis.call('PEXPIRE', KEYS[i], ${KEEP_MS})
  local all, others = redis.call('HGETALL', KEYS[i]), 0
  for j = 1, #all, 2 do
    if all[j] ~= ARGV[1] then
      if isAlive(all[j]) then others = others + tonumber(all[j + 1]) else redis.call('HDEL', KEYS[i], all[j]) end
    end
  end
  out[#out + 1] = others
  if others > 0 and count ~= before then told[#told + 1] = name end
end
if #told > 0 then redis.call('PUBLISH', ARGV[2], ARGV[1] .. ' ' .. table.concat(told, ' ')) end
return out`);

export interface FleetSeatsOptions {
  readonly clock: Clock;
  /** The connections at this gateway, over all of its processes. */
  readonly ledger: SeatLedger;
}

/**
 * The open connections of callers over the gateways of a fleet. Counts are absolute, and those of a gateway that is not heard
 * any more count no longer. Without Redis each gateway counts its own alone.
 */
export class FleetSeats {
  readonly #options: FleetSeatsOptions;
  readonly #stop: () => void;
  /** The others, as a process of this gateway's ledger. */
  readonly #others: ReturnType<SeatLedger['join']>;
  readonly #own = new Map<string, number>();
  readonly #elsewhere = new Map<string, number>();
  /** Those to tell of, and how many of their connections are newer than what was told. */
  readonly #untold = new Map<string, number>();
  readonly #ids = new Map<string, string>();
  #store: FleetStore | undefined;
  #isTelling = false;
  #isDue = false;
  #retoldMs: number;
  #stopHearing = (): void => {};

  constructor(options: FleetSeatsOptions) {
    const { clock, ledger } = options;
    this.#options = options;
    this.#retoldMs = clock.monotonic();
    this.#others = ledger.join((own) => {
      for (const [id, count] of own) this.#onOwn(id, count);
    });
    this.#stop = repeat(clock, LOOK_MS, () => this.#tellAgain());
  }

  /** The number of callers that are known to have connections at other gateways. */
  get size(): number {
    return this.#elsewhere.size;
  }

  /** Counts with the other gateways from now on. */
  connect(store: FleetStore): void {
    this.#store = store;
    this.#stopHearing();
    this.#stopHearing = store.redis.subscribe(`${store.prefix}seats`, (message) =>
      this.#onTold(message.toString(), store),
    );
    for (const id of this.#own.keys()) this.#tell(id, 0);
  }

  close(): void {
    this.#stop();
    this.#stopHearing();
    this.#others.leave();
    this.#store = undefined;
  }

  #onOwn(id: string, count: number): void {
    const opened = count - (this.#own.get(id) ?? 0);
    if (opened === 0) return;
    if (count > 0) this.#own.set(id, count);
    else this.#own.delete(id);
    this.#tell(id, Math.max(0, opened));
  }

  /** Asks again where another gateway has told of a caller that has connections here, too. */
  #onTold(message: string, { member }: FleetStore): void {
    const [from, ...names] = message.split(' ');
    if (from === member) return;
    for (const name of names) {
      const id = this.#ids.get(name);
      if (id !== undefined && this.#own.has(id)) this.#tell(id, 0);
    }
  }

  #tellAgain(): void {
    const nowMs = this.#options.clock.monotonic();
    const isDue = nowMs - this.#retoldMs >= RETELL_MS;
    if (isDue) this.#retoldMs = nowMs;
    for (const id of isDue ? this.#own.keys() : this.#elsewhere.keys()) this.#tell(id, 0);
  }

  #tell(id: string, opened: number): void {
    if (this.#store === undefined) return;
    this.#untold.set(id, (this.#untold.get(id) ?? 0) + opened);
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.after(TELL_MS, () => {
      this.#isDue = false;
      void this.#tellAll();
    });
  }

  async #tellAll(): Promise<void> {
    if (this.#isTelling) return; // the call under way goes on with these
    this.#isTelling = true;
    while (this.#untold.size > 0 && this.#store !== undefined) {
      const batch = [...this.#untold].slice(0, MAX_PER_CALL);
      for (const [id] of batch) this.#untold.delete(id);
      if (await this.#hold(batch, this.#store)) continue;
      this.#untold.clear(); // all are told of again soon
      this.#retoldMs = Number.NEGATIVE_INFINITY;
      this.#forgetOthers();
    }
    this.#isTelling = false;
  }

  /** Tells Redis of these callers. Returns false if it can't be asked. */
  async #hold(batch: readonly (readonly [id: string, opened: number])[], store: FleetStore): Promise<boolean> {
    const { redis, member, prefix, secret } = store;
    const names = batch.map(([id]) => nameOfIdentity(id, secret));
    const args = batch.flatMap(([id], i) => [this.#own.get(id) ?? 0, names[i] ?? '']);
    try {
      const keys = [`${prefix}members`, ...names.map((name) => `${prefix}seats:${name}`)];
      const others = (await redis.run(HOLD, keys, [member, `${prefix}seats`, ...args])) as number[];
      batch.forEach(([id, opened], i) => {
        this.#take(id, names[i] ?? '', others[i] ?? 0);
        if (opened > 0) this.#options.ledger.revokeExcess(id, opened);
      });
      return true;
    } catch {
      return false;
    }
  }

  /** Takes how many connections a caller has at other gateways. */
  #take(id: string, name: string, others: number): void {
    const isKept = this.#own.has(id);
    if (isKept) this.#ids.set(name, id);
    else this.#ids.delete(name);
    const count = isKept ? others : 0; // where it has none here, its next one asks
    if (count > 0) this.#elsewhere.set(id, count);
    else this.#elsewhere.delete(id);
    this.#others.hold([[id, count, Number.POSITIVE_INFINITY]]);
  }

  #forgetOthers(): void {
    for (const id of [...this.#elsewhere.keys()]) this.#others.hold([[id, 0, Number.POSITIVE_INFINITY]]);
    this.#elsewhere.clear();
  }
}
