import type { Clock } from '../../domain/clock.ts';
import { FixedWindows, type RateLimit, type Window } from './fixed-windows.ts';
import { addressKeyOf, type RateLimitKey, siteKeyOf } from './rate-limit-key.ts';
import type { Principal } from './tiers.ts';

/** What is left to a caller. The limiter's next call overwrites it: read it at once, keep nothing. */
export interface Quota {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the full limit is back. */
  readonly reset: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** An IPv6 /48, what one customer usually has, may do this many times as much as a /64 in it. */
export const SITE_FACTOR = 8;

/** All for whom there is no room, counted as one. */
const OVERFLOW = 'crowd';

/**
 * Counts requests in one fixed window per identity, which starts at its first request. A second window bounds those
 * who could have many: that of the /48 around an IPv6 address, and that of an address within a key which is to be
 * bounded per address. Of addresses it holds at most `identities` windows, the one of the crowd included; of accounts
 * as many as there are.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #freeLimit: RateLimit;
  readonly #siteLimit: RateLimit;
  readonly #addressWindows: FixedWindows;
  readonly #accountWindows = new FixedWindows(Number.POSITIVE_INFINITY);
  readonly #quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

  constructor(limits: { readonly free: RateLimit; readonly identities: number }, clock: Clock) {
    this.#clock = clock;
    this.#freeLimit = limits.free;
    this.#siteLimit = { ...limits.free, requests: limits.free.requests * SITE_FACTOR };
    this.#addressWindows = new FixedWindows(limits.identities - 1);
  }

  /** How many windows are held. */
  get size(): number {
    return this.#addressWindows.size + this.#accountWindows.size;
  }

  /** What is left to an account, or to the caller at this address of 4 or 16 bytes. Takes nothing. */
  peek(address: ArrayBuffer, principal?: Principal): Quota {
    return this.consume(address, 0, principal);
  }

  /** Takes `weight` requests if so many are left, else nothing at all. */
  consume(address: ArrayBuffer, weight: number, principal?: Principal): Quota {
    const addressKey = addressKeyOf(address);
    if (principal === undefined)
      return this.#consumeFrom(
        this.#addressWindows,
        addressKey,
        this.#freeLimit,
        siteKeyOf(addressKey),
        this.#siteLimit,
        weight,
      );
    const { id, tier, perIpLimit } = principal;
    if (perIpLimit === undefined) return this.#consumeFrom(this.#accountWindows, id, tier, undefined, tier, weight);
    const share = { requests: perIpLimit, windowSeconds: tier.windowSeconds };
    return this.#consumeFrom(this.#accountWindows, id, tier, `${id} ${addressKey}`, share, weight);
  }

  /** Takes from `who`, which is among `windows`, and from what is around it, if anything is. */
  #consumeFrom(
    windows: FixedWindows,
    key: RateLimitKey,
    limit: RateLimit,
    outerKey: RateLimitKey | undefined,
    outerLimit: RateLimit,
    weight: number,
  ): Quota {
    const nowMs = this.#clock.monotonic();
    let countedKey = key;
    let window = windows.find(countedKey, nowMs);
    if (window === undefined && windows.isFull(nowMs)) {
      countedKey = OVERFLOW;
      window = windows.find(countedKey, nowMs);
    }
    let outerWindow = outerKey === undefined ? undefined : this.#addressWindows.find(outerKey, nowMs);
    let isBounded = outerKey !== undefined;
    const allowed =
      weight <= remainingIn(window, limit) &&
      (outerKey === undefined || weight <= remainingIn(outerWindow, outerLimit));
    if (allowed && weight > 0) {
      window ??= windows.open(countedKey, limit, nowMs, this.#resetTimeOf(limit));
      window.used += weight;
      if (outerKey !== undefined && outerWindow === undefined && !this.#addressWindows.isFull(nowMs))
        outerWindow = this.#addressWindows.open(outerKey, outerLimit, nowMs, this.#resetTimeOf(outerLimit));
      if (outerWindow !== undefined) outerWindow.used += weight;
      isBounded = outerWindow !== undefined;
    }
    return isBounded && remainingIn(outerWindow, outerLimit) < remainingIn(window, limit)
      ? this.#quotaFrom(outerWindow, outerLimit, allowed, nowMs)
      : this.#quotaFrom(window, limit, allowed, nowMs);
  }

  #resetTimeOf({ windowSeconds }: RateLimit): number {
    return Math.ceil(this.#clock.now() / 1000 + windowSeconds);
  }

  #quotaFrom(window: Window | undefined, allowance: RateLimit, allowed: boolean, nowMs: number): Quota {
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.limit = window?.limit ?? allowance.requests;
    quota.remaining = remainingIn(window, allowance);
    quota.reset = window?.reset ?? this.#resetTimeOf(allowance);
    quota.retryAfter = window === undefined ? allowance.windowSeconds : Math.ceil((window.endsAtMs - nowMs) / 1000);
    return quota;
  }
}

const remainingIn = (window: Window | undefined, { requests }: RateLimit): number =>
  window === undefined ? requests : window.limit - window.used;
