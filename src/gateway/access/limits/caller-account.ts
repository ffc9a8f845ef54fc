import type { Clock } from '../../../shared/domain/clock.ts';
import type { QuotaBook } from '../quota/quota-book.ts';
import type { Quota, QuotaWindow, RateLimit } from '../quota/quota-window.ts';
import { type RateLimitKey, siteKeyOf } from '../quota/rate-limit-key.ts';
import type { Principal, TierName } from './tiers.ts';

const none = () => ({ allowed: 0, refused: 0 });

export class LimiterCounts {
  readonly decisions = { free: none(), build: none(), scale: none(), staked: none() };
  /** In units. */
  charged = 0;
  givenBack = 0;
  /** The units that were charged beyond what was left in the caller's window: the next one pays them. */
  debt = 0;
}

export interface WindowBooks {
  readonly clock: Clock;
  readonly counts: LimiterCounts;
  readonly freeLimit: RateLimit;
  readonly siteLimit: RateLimit;
  /** Of addresses, sites, and addresses within a key: a bounded number. */
  readonly addresses: QuotaBook;
  /** Keys and wallets, bounded elsewhere, and windows for all that have no place: of callers, of sites, of each key. */
  readonly others: QuotaBook;
  /** What an account has before its first caller. */
  readonly unused: QuotaWindow;
}

const OVERFLOW = 'overflow';
const SITE_OVERFLOW = 'overflow of sites';

/**
 * What one caller may spend: in its own window, and in an outer one that bounds callers that could have many: the /48 around
 * an IPv6 address, or one address within an API key that is limited per address.
 */
export class CallerAccount {
  readonly #books: WindowBooks;
  #own: QuotaWindow;
  #outer: QuotaWindow | undefined;
  readonly #quota: { -readonly [K in keyof Quota]: Quota[K] };
  /** The window of the last quota, and the units that are awaited in it. */
  #quotaWindow: QuotaWindow;
  #needed = 1;
  #tier: TierName = 'free';

  constructor(books: WindowBooks) {
    this.#books = books;
    this.#own = books.unused;
    this.#quotaWindow = this.#own;
    const account = this;
    this.#quota = {
      ...{ allowed: true, units: 0, isByAddress: true, limit: 0, remaining: 0, reset: 0 },
      // only refusals name it: a hit reads the clock once
      get retryAfter() {
        return account.#secondsToWait();
      },
    };
  }

  get windows(): readonly [own: QuotaWindow, ...outer: QuotaWindow[]] {
    return this.#outer === undefined ? [this.#own] : [this.#own, this.#outer];
  }

  /** Makes it the account of this caller, until the next call: a hit makes no object. */
  select(addressKey: RateLimitKey, principal: Principal | undefined): this {
    const { clock, freeLimit, siteLimit, addresses, others } = this.#books;
    const nowMs = clock.monotonic();
    this.#quota.isByAddress = principal === undefined;
    this.#tier = principal?.tier.name ?? 'free';
    this.#outer = undefined;
    if (principal === undefined) {
      this.#own = this.#findPlace(addressKey, freeLimit, OVERFLOW, 1, nowMs);
      const places = this.#own.unopenedIn === addresses ? 2 : 1;
      const siteKey = siteKeyOf(addressKey);
      if (siteKey !== undefined) this.#outer = this.#findPlace(siteKey, siteLimit, SITE_OVERFLOW, places, nowMs);
      return this;
    }
    const { id, tier, perIpLimit } = principal;
    this.#own = others.find(id, tier, nowMs);
    if (perIpLimit === undefined) return this;
    const limit = { units: perIpLimit, windowSeconds: tier.windowSeconds };
    this.#outer = this.#findPlace(`${id} ${addressKey}`, limit, `${id} ${OVERFLOW}`, 1, nowMs);
    return this;
  }

  spend(units: number): Quota {
    const { counts } = this.#books;
    const allowed = units <= this.#own.spendableNow && units <= (this.#outer?.spendableNow ?? units);
    if (units > 0 && allowed) {
      counts.decisions[this.#tier].allowed++;
      counts.charged += units;
      this.#own.spend(units);
      this.#outer?.spend(units);
    } else if (units > 0) this.refuse(units);
    return this.quotaFor(units, allowed);
  }

  refuse(units: number): void {
    this.#books.counts.decisions[this.#tier].refused++;
    this.#own.refuse(units);
    this.#outer?.refuse(units);
  }

  /** These units may lead into a debt of at most one limit. Returns those beyond that, which were not counted. */
  charge(units: number): readonly [own: number, outer: number] {
    const { counts } = this.#books;
    const { spendableLater } = this.#own;
    const beyondOwn = this.#own.spend(units);
    counts.charged += units - beyondOwn;
    counts.debt += Math.max(0, units - beyondOwn - spendableLater);
    return [beyondOwn, this.#outer?.spend(units) ?? 0];
  }

  giveBack(units: number): Quota {
    this.countGivenBack(units);
    this.#own.giveBack(units);
    this.#outer?.giveBack(units);
    return this.quotaFor(units, true);
  }

  countGivenBack(units: number): void {
    this.#books.counts.givenBack += units;
  }

  quotaFor(units: number, allowed: boolean): Quota {
    const own = this.#own;
    const outer = this.#outer;
    const isOuter =
      outer !== undefined && (allowed ? outer.spendableNow < own.spendableNow : refusesLonger(outer, own, units));
    const window = isOuter ? outer : own;
    const needed = allowed ? 1 : units;
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.units = units;
    quota.limit = window.limit;
    quota.remaining = allowed ? window.spendableLater : window.spendableNow;
    quota.reset = window.reset + window.secondsOfDebt(needed);
    this.#quotaWindow = window;
    this.#needed = needed;
    return quota;
  }

  #secondsToWait(): number {
    const isLeft = this.#needed <= this.#quotaWindow.spendableLater;
    if (isLeft && !this.#quota.allowed) return 1; // other processes let it pass when it comes again
    return Math.ceil((freeAtMs(this.#quotaWindow, this.#needed) - this.#books.clock.monotonic()) / 1000);
  }

  /** Finds a window among the addresses, or the shared one if there is no place for that many more. */
  #findPlace(key: RateLimitKey, limit: RateLimit, shared: string, places: number, nowMs: number): QuotaWindow {
    const { addresses, others } = this.#books;
    const window = addresses.find(key, limit, nowMs);
    const hasPlace = window.unopenedIn === undefined || !addresses.isFull(nowMs, places);
    return hasPlace ? window : others.find(shared, limit, nowMs);
  }
}

const freeAtMs = (window: QuotaWindow, units: number): number => window.endsAtMs + window.secondsOfDebt(units) * 1000;

const refusesLonger = (one: QuotaWindow, other: QuotaWindow, units: number): boolean =>
  units > one.spendableNow && (units <= other.spendableNow || freeAtMs(one, units) > freeAtMs(other, units));
