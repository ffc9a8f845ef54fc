import { RateLimiter } from '../../../src/gateway/access/limits/rate-limiter.ts';
import type { Principal } from '../../../src/gateway/access/limits/tiers.ts';
import { seededRng } from '../../../src/localnet/traffic/seeded-rng.ts';
import { ManualClock } from '../manual-clock.ts';

const START_S = 1_700_000_000;
const FREE = { units: 4, windowSeconds: 10 };

interface Bucket {
  readonly key: string;
  readonly limit: number;
  readonly seconds: number;
  /** Whether there is always a place for it. */
  readonly kept: boolean;
}

/** The limiter's specification, written as simply as possible. */
class LimiterModel {
  readonly #capacity: number;
  #windows: (Bucket & { used: number; ends: number })[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#windows.length;
  }

  consume(address: Uint8Array, weight: number, account: Principal | undefined, now: number, isLater = false) {
    for (const window of this.#windows)
      for (; now >= window.ends && window.used > window.limit; window.ends += window.seconds * 1000)
        window.used -= window.limit;
    this.#windows = this.#windows.filter(({ ends }) => now < ends);
    const find = ({ key }: Bucket) => this.#windows.find((window) => window.key === key);
    const left = (bucket: Bucket) => {
      const window = find(bucket);
      return window === undefined ? bucket.limit : Math.max(0, window.limit - window.used);
    };
    const charge = (bucket: Bucket) => {
      const found = find(bucket);
      const window = found ?? { ...bucket, used: 0, ends: now + bucket.seconds * 1000 };
      if (found === undefined) this.#windows.push(window);
      window.used = Math.min(2 * window.limit, window.used + weight);
    };
    const isFull = (openedBefore: number) =>
      this.#windows.filter(({ kept }) => !kept).length + openedBefore >= this.#capacity - 1;
    const hex = Buffer.from(address).toString('hex');
    const at = address.length === 4 ? hex : hex.slice(0, 16);
    let own: Bucket;
    let around: Bucket | undefined;
    if (account === undefined) {
      const free = { limit: FREE.units, seconds: FREE.windowSeconds };
      own = { ...free, key: at, kept: false };
      if (find(own) === undefined && isFull(0)) own = { ...free, key: 'overflow', kept: true };
      if (address.length === 16) {
        around = { key: `site ${hex.slice(0, 12)}`, limit: 32, seconds: 10, kept: false };
        if (find(around) === undefined && isFull(find(own) === undefined && !own.kept ? 1 : 0))
          around = { ...around, key: 'sites', kept: true };
      }
    } else {
      const { id, tier, perIpLimit } = account;
      own = { key: id, limit: tier.units, seconds: tier.windowSeconds, kept: true };
      if (perIpLimit !== undefined) {
        around = { key: `${id} ${at}`, limit: perIpLimit, seconds: tier.windowSeconds, kept: false };
        if (find(around) === undefined && isFull(0)) around = { ...around, key: `${id} others`, kept: true };
      }
    }
    const allowed = isLater || (weight <= left(own) && (around === undefined || weight <= left(around)));
    if (allowed && weight > 0) {
      charge(own);
      if (around !== undefined) charge(around);
    }
    const needed = allowed ? 1 : weight;
    const freeAt = (bucket: Bucket): number => {
      const { limit, seconds, ends, used } = find(bucket) ?? { ...bucket, ends: now + bucket.seconds * 1000, used: 0 };
      return used > limit && needed > 2 * limit - used ? ends + seconds * 1000 : ends;
    };
    const isOuter =
      around !== undefined &&
      (allowed
        ? left(around) < left(own)
        : weight > left(around) && (weight <= left(own) || freeAt(around) > freeAt(own)));
    const speaks = isOuter && around !== undefined ? around : own;
    return {
      allowed,
      limit: find(speaks)?.limit ?? speaks.limit,
      remaining: left(speaks),
      reset: Math.ceil(freeAt(speaks) / 1000),
    };
  }
}

function addressFrom(pick: (below: number) => number): Uint8Array<ArrayBuffer> {
  if (pick(3) > 0) return Uint8Array.of(10, 0, 0, pick(4));
  const address = new Uint8Array(16);
  address.set([0x20, 1, 0x0d, 0xb8, 0, pick(2), 0, pick(12)]);
  address[15] = pick(2); // the host
  return address;
}

function accountFrom(pick: (below: number) => number): Principal | undefined {
  const which = pick(9);
  if (which > 3) return undefined;
  const [units = 0, windowSeconds = 0] =
    [
      [9, 10],
      [20, 60],
      [12, 10],
      [4, 10],
    ][which] ?? [];
  const tier = {
    name: 'scale' as const,
    units,
    windowSeconds,
    streams: 1,
    subscriptions: 1,
    messages: 1,
    inFlight: 1,
    rpcBytes: 1,
    priority: false,
  };
  // The fourth is the first with another tier, as a wallet whose balance changes.
  return { id: `account ${which % 3}`, key: undefined, tier, perIpLimit: [undefined, 3, 5][which] };
}

/**
 * Runs one sequence of requests and clock moves, with `hasDebt` also of charges that come later. Returns the difference between limiter and model; undefined if there
 * is none.
 */
export function limiterDifference(seed: number, { hasDebt }: { readonly hasDebt: boolean }): string | undefined {
  const steps = seed % 100 === 0 ? 150 : 12;
  const { intBelow: pick } = seededRng(seed);
  const clock = new ManualClock(START_S * 1000);
  const trackedAddresses = 1 + pick(12);
  const limiter = new RateLimiter({ free: FREE, trackedAddresses }, clock);
  const model = new LimiterModel(trackedAddresses);
  for (let step = 0; step < steps; step++) {
    if (pick(3) === 0) clock.advance(pick(20) === 0 ? 60_000 : pick(6_000));
    const address = addressFrom(pick);
    const account = accountFrom(pick);
    const weight = [0, 1, 1, 1, 2, 2, 5][pick(7)] ?? 1;
    if (hasDebt && pick(4) === 0) {
      const units = 1 + pick(9);
      limiter.charge(address.buffer, units, account);
      model.consume(address, units, account, clock.now(), true);
    }
    const { retryAfter, units, isByAddress, ...quota } = limiter.consume(address.buffer, weight, account);
    const expected = model.consume(address, weight, account, clock.now());
    if (JSON.stringify(quota) !== JSON.stringify(expected))
      return `seed ${seed}, step ${step}: ${JSON.stringify(quota)} is not ${JSON.stringify(expected)}`;
    if (limiter.size > trackedAddresses + 3 * 5 + 9) return `seed ${seed}: ${limiter.size} windows`;
    if (units !== weight || isByAddress !== (account === undefined)) return `seed ${seed}: counted for another`;
    if (retryAfter < 1 || retryAfter > 120) return `seed ${seed}: retryAfter ${retryAfter}`;
  }
  return undefined;
}
