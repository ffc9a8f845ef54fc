import type { Clock } from '../../domain/clock.ts';
import { type Identity, identityOf, siteOf } from './identity.ts';
import type { Account } from './tier.ts';
import { type Allowance, type Window, Windows } from './windows.ts';

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
const CROWD = 'crowd';

/**
 * Counts requests in one fixed window per identity, which starts at its first request. A second window bounds those
 * who could have many: that of the /48 around an IPv6 address, and that of an address within a key which is to be
 * bounded per address. Of addresses it holds at most `identities` windows, the one of the crowd included; of accounts
 * as many as there are.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #free: Allowance;
  readonly #site: Allowance;
  readonly #ofAddresses: Windows;
  readonly #ofAccounts = new Windows(Number.POSITIVE_INFINITY);
  readonly #quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

  constructor(limits: { readonly free: Allowance; readonly identities: number }, clock: Clock) {
    this.#clock = clock;
    this.#free = limits.free;
    this.#site = { ...limits.free, requests: limits.free.requests * SITE_FACTOR };
    this.#ofAddresses = new Windows(limits.identities - 1);
  }

  /** How many windows are held. */
  get size(): number {
    return this.#ofAddresses.size + this.#ofAccounts.size;
  }

  /** What is left to an account, or to the caller at this address of 4 or 16 bytes. Takes nothing. */
  peek(address: ArrayBuffer, account?: Account): Quota {
    return this.take(address, 0, account);
  }

  /** Takes `weight` requests if so many are left, else nothing at all. */
  take(address: ArrayBuffer, weight: number, account?: Account): Quota {
    const at = identityOf(address);
    if (account === undefined) return this.#charge(this.#ofAddresses, at, this.#free, siteOf(at), this.#site, weight);
    const { id, tier, perIpLimit } = account;
    if (perIpLimit === undefined) return this.#charge(this.#ofAccounts, id, tier, undefined, tier, weight);
    const share = { requests: perIpLimit, windowSeconds: tier.windowSeconds };
    return this.#charge(this.#ofAccounts, id, tier, `${id} ${at}`, share, weight);
  }

  /** Takes from `who`, which is among `windows`, and from what is around it, if anything is. */
  #charge(
    windows: Windows,
    who: Identity,
    allowance: Allowance,
    around: Identity | undefined,
    aroundAllowance: Allowance,
    weight: number,
  ): Quota {
    const nowMs = this.#clock.monotonic();
    let identity = who;
    let own = windows.find(identity, nowMs);
    if (own === undefined && windows.isFull(nowMs)) {
      identity = CROWD;
      own = windows.find(identity, nowMs);
    }
    let outer = around === undefined ? undefined : this.#ofAddresses.find(around, nowMs);
    let isBounded = around !== undefined;
    const allowed =
      weight <= leftIn(own, allowance) && (around === undefined || weight <= leftIn(outer, aroundAllowance));
    if (allowed && weight > 0) {
      own ??= windows.open(identity, allowance, nowMs, this.#resetOf(allowance));
      own.used += weight;
      if (around !== undefined && outer === undefined && !this.#ofAddresses.isFull(nowMs))
        outer = this.#ofAddresses.open(around, aroundAllowance, nowMs, this.#resetOf(aroundAllowance));
      if (outer !== undefined) outer.used += weight;
      isBounded = outer !== undefined;
    }
    return isBounded && leftIn(outer, aroundAllowance) < leftIn(own, allowance)
      ? this.#show(outer, aroundAllowance, allowed, nowMs)
      : this.#show(own, allowance, allowed, nowMs);
  }

  #resetOf({ windowSeconds }: Allowance): number {
    return Math.ceil(this.#clock.now() / 1000 + windowSeconds);
  }

  #show(window: Window | undefined, allowance: Allowance, allowed: boolean, nowMs: number): Quota {
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.limit = window?.limit ?? allowance.requests;
    quota.remaining = leftIn(window, allowance);
    quota.reset = window?.reset ?? this.#resetOf(allowance);
    quota.retryAfter = window === undefined ? allowance.windowSeconds : Math.ceil((window.endsAtMs - nowMs) / 1000);
    return quota;
  }
}

const leftIn = (window: Window | undefined, { requests }: Allowance): number =>
  window === undefined ? requests : window.limit - window.used;
