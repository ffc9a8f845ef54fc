import type { Clock } from '../../domain/clock.ts';
import { FixedWindows, type RateLimit, type Window } from './fixed-windows.ts';
import { addressKeyOf, type RateLimitKey, siteKeyOf } from './rate-limit-key.ts';
import type { Principal } from './tiers.ts';

/** The quota left to a caller. The limiter's next call overwrites it: read it at once, keep nothing. */
export interface Quota {
  readonly allowed: boolean;
  /** What the request costs. */
  readonly units: number;
  /** Whether the caller's address is counted, and not its key or wallet. */
  readonly isByAddress: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the full limit is available again. */
  readonly reset: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** The limit of an IPv6 /48, which one customer usually has, in multiples of that of a /64. */
export const SITE_FACTOR = 8;

/** The key shared by all addresses that exceed the capacity. */
const OVERFLOW = 'overflow';

/**
 * Counts requests in fixed windows, one per key, each starting at its first request. A second window bounds callers who
 * could have many keys: the /48 around an IPv6 address, or one address within an API key that is limited per address.
 * At most `identities` windows of addresses are kept, the overflow window included; principals always have a window.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #freeLimit: RateLimit;
  readonly #siteLimit: RateLimit;
  readonly #addressWindows: FixedWindows;
  readonly #principalWindows = new FixedWindows(Number.POSITIVE_INFINITY);
  readonly #quota = { allowed: true, units: 0, isByAddress: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

  constructor(limits: { readonly free: RateLimit; readonly identities: number }, clock: Clock) {
    this.#clock = clock;
    this.#freeLimit = limits.free;
    this.#siteLimit = { ...limits.free, requests: limits.free.requests * SITE_FACTOR };
    this.#addressWindows = new FixedWindows(limits.identities - 1);
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.#addressWindows.size + this.#principalWindows.size;
  }

  /** Returns the quota of a principal, or of the caller at this address of 4 or 16 bytes, and consumes nothing. */
  peek(address: ArrayBuffer, principal?: Principal): Quota {
    return this.consume(address, 0, principal);
  }

  /** Consumes `weight` requests if that many are left, else none. */
  consume(address: ArrayBuffer, weight: number, principal?: Principal): Quota {
    const addressKey = addressKeyOf(address);
    this.#quota.units = weight;
    this.#quota.isByAddress = principal === undefined;
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
    if (perIpLimit === undefined) return this.#consumeFrom(this.#principalWindows, id, tier, undefined, tier, weight);
    const share = { requests: perIpLimit, windowSeconds: tier.windowSeconds };
    return this.#consumeFrom(this.#principalWindows, id, tier, `${id} ${addressKey}`, share, weight);
  }

  /** Consumes from the window of `key` in `windows`, and from that of `outerKey` if there is one. */
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

  #quotaFrom(window: Window | undefined, limit: RateLimit, allowed: boolean, nowMs: number): Quota {
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.limit = window?.limit ?? limit.requests;
    quota.remaining = remainingIn(window, limit);
    quota.reset = window?.reset ?? this.#resetTimeOf(limit);
    quota.retryAfter = window === undefined ? limit.windowSeconds : Math.ceil((window.endsAtMs - nowMs) / 1000);
    return quota;
  }
}

const remainingIn = (window: Window | undefined, { requests }: RateLimit): number =>
  window === undefined ? requests : window.limit - window.used;
