import type { Clock } from '../../domain/clock.ts';
import type { QuotaBook, RateLimit } from '../quota/quota-book.ts';
import { Bucket } from './bucket.ts';
import type { LimiterCounts, TierDecisions } from './limiter-counts.ts';
import type { Quota } from './quota.ts';
import { type RateLimitKey, siteKeyOf } from './rate-limit-key.ts';
import type { Principal } from './tiers.ts';

/** All windows, by what is counted in them. */
export interface WindowStores {
  readonly clock: Clock;
  readonly counts: LimiterCounts;
  readonly freeLimit: RateLimit;
  readonly siteLimit: RateLimit;
  /** Of addresses, sites, and addresses within a key: a bounded number. */
  readonly addresses: QuotaBook;
  /** Of keys and wallets, of which there are only so many: each always has a window. */
  readonly principals: QuotaBook;
  /** Shared by those who find no place among the addresses: one for callers, one for sites, one for each key. */
  readonly overflow: QuotaBook;
}

const OVERFLOW = 'overflow';
const SITE_OVERFLOW = 'overflow of sites';

/**
 * The windows of one caller: its own, and an outer one that bounds callers who could have many: the /48 around an IPv6
 * address, or one address within an API key that is limited per address.
 */
export class CallerWindows {
  readonly #stores: WindowStores;
  readonly own: Bucket;
  readonly outer: Bucket;
  readonly #quota: { -readonly [K in keyof Quota]: Quota[K] };
  /** The window of the last quota, and the units that are awaited in it. */
  #speaking: Bucket;
  #needed = 1;
  /** The decisions for the tier of the caller. */
  #decisions: TierDecisions;

  constructor(stores: WindowStores) {
    this.#stores = stores;
    this.own = new Bucket(stores.addresses, stores.clock);
    this.outer = new Bucket(stores.addresses, stores.clock);
    this.#speaking = this.own;
    this.#decisions = stores.counts.decisions.free;
    const windows = this;
    this.#quota = {
      ...{ allowed: true, units: 0, isByAddress: true, limit: 0, remaining: 0, reset: 0 },
      // only refusals tell it: a hit doesn't ask the clock once more
      get retryAfter() {
        return windows.#secondsToWait();
      },
    };
  }

  /** Finds the windows of a principal, or of the caller at an address. */
  find(addressKey: RateLimitKey, principal: Principal | undefined): this {
    const { clock, freeLimit, siteLimit, addresses, principals } = this.#stores;
    const nowMs = clock.monotonic();
    this.#quota.isByAddress = principal === undefined;
    if (principal === undefined) {
      this.#decisions = this.#stores.counts.decisions.free;
      this.own.find(addresses, addressKey, freeLimit, nowMs);
      if (this.#findsNoPlace(this.own, 1, nowMs)) this.own.find(this.#stores.overflow, OVERFLOW, freeLimit, nowMs);
      const siteKey = siteKeyOf(addressKey);
      if (siteKey === undefined) this.outer.leaveUnused();
      else this.#findOuter(siteKey, siteLimit, SITE_OVERFLOW, nowMs);
      return this;
    }
    const { id, tier, perIpLimit } = principal;
    this.#decisions = this.#stores.counts.decisions[tier.name];
    this.own.find(principals, id, tier, nowMs);
    if (perIpLimit === undefined) this.outer.leaveUnused();
    else {
      const limit = { requests: perIpLimit, windowSeconds: tier.windowSeconds };
      this.#findOuter(`${id} ${addressKey}`, limit, `${id} ${OVERFLOW}`, nowMs);
    }
    return this;
  }

  /** Charges so many units if they are left, else none. */
  take(units: number): Quota {
    const { own, outer } = this;
    const allowed = units <= own.left && (!outer.isUsed || units <= outer.left);
    if (units > 0) {
      if (allowed) {
        this.#stores.counts.charged += units;
        this.own.charge(units);
        this.outer.charge(units);
      } else this.miss(units);
      this.countDecision(allowed);
    }
    return this.quotaFor(units, allowed);
  }

  /** Tells that so many units may not be charged. */
  miss(units: number): void {
    this.own.miss(units);
    this.outer.miss(units);
  }

  /** Counts a decision about the caller. */
  countDecision(allowed: boolean): void {
    if (allowed) this.#decisions.allowed++;
    else this.#decisions.refused++;
  }

  /**
   * Charges units that were not known before: they may lead into a debt of at most one limit. Returns those beyond that,
   * which were not charged.
   */
  charge(units: number): readonly [own: number, outer: number] {
    const { counts } = this.#stores;
    const { remaining: left } = this.own;
    const beyondOwn = this.own.charge(units);
    counts.charged += units - beyondOwn;
    counts.debt += Math.max(0, units - beyondOwn - left);
    return [beyondOwn, this.outer.charge(units)];
  }

  /** Gives back units that were charged. */
  giveBack(units: number): Quota {
    this.countGivenBack(units);
    this.own.giveBack(units);
    this.outer.giveBack(units);
    return this.quotaFor(units, true);
  }

  /** Counts units that are given back. */
  countGivenBack(units: number): void {
    this.#stores.counts.givenBack += units;
  }

  /** Returns the quota of the window that refuses for the longest time, or of the one with the least left. */
  quotaFor(units: number, allowed: boolean): Quota {
    const { own, outer } = this;
    const needed = allowed ? 1 : units;
    const speaks = outer.isUsed && (allowed ? outer.left < own.left : refusesLonger(outer, own, units)) ? outer : own;
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.units = units;
    quota.limit = speaks.limit;
    quota.remaining = allowed ? speaks.remaining : speaks.left;
    quota.reset = speaks.resetOf(needed);
    this.#speaking = speaks;
    this.#needed = needed;
    return quota;
  }

  #secondsToWait(): number {
    return Math.ceil((this.#speaking.freeAtMs(this.#needed) - this.#stores.clock.monotonic()) / 1000);
  }

  #findOuter(key: RateLimitKey, limit: RateLimit, overflowKey: string, nowMs: number): void {
    const { addresses, overflow } = this.#stores;
    this.outer.find(addresses, key, limit, nowMs);
    const places = this.own.willOpenIn(addresses) ? 2 : 1;
    if (this.#findsNoPlace(this.outer, places, nowMs)) this.outer.find(overflow, overflowKey, limit, nowMs);
  }

  #findsNoPlace(bucket: Bucket, places: number, nowMs: number): boolean {
    return bucket.window === undefined && this.#stores.addresses.isFull(nowMs, places);
  }
}

/** Tells whether a window refuses so many units, and for longer than the other one. */
const refusesLonger = (one: Bucket, other: Bucket, units: number): boolean =>
  units > one.left && (units <= other.left || one.freeAtMs(units) > other.freeAtMs(units));
