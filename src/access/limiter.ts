import type { Clock } from '../domain/clock.ts';
import { type Identity, identityOf, siteOf } from './identity.ts';
import { type Window, Windows } from './windows.ts';

/** How much an identity may do in one window. */
export interface Tier {
  readonly requests: number;
  readonly windowSeconds: number;
}

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
const SITE_FACTOR = 8;

/** All for whom there is no room, counted as one. */
const CROWD: Identity = 'crowd';

/**
 * Counts requests in one fixed window per identity, which starts at its first request, and for IPv6 in one per /48
 * as well. Holds at most `identities` windows, the one of the crowd included.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #tier: Tier;
  readonly #windows: Windows;
  readonly #quota = { allowed: true, limit: 0, remaining: 0, reset: 0, retryAfter: 1 };

  constructor(limits: { readonly free: Tier; readonly identities: number }, clock: Clock) {
    this.#clock = clock;
    this.#tier = limits.free;
    this.#windows = new Windows(limits.free.windowSeconds * 1000, limits.identities - 1);
  }

  /** How many windows are held. */
  get size(): number {
    return this.#windows.size;
  }

  /** What is left to the caller at this address of 4 or 16 bytes. Takes nothing. */
  peek(address: ArrayBuffer): Quota {
    return this.take(address, 0);
  }

  /** Takes `weight` requests if so many are left, else nothing at all. */
  take(address: ArrayBuffer, weight: number): Quota {
    const { requests } = this.#tier;
    const nowMs = this.#clock.monotonic();
    let identity = identityOf(address);
    const site = siteOf(identity);
    let own = this.#windows.find(identity, nowMs);
    if (own === undefined && this.#windows.isFull(nowMs)) {
      identity = CROWD;
      own = this.#windows.find(identity, nowMs);
    }
    let around = site === undefined ? undefined : this.#windows.find(site, nowMs);
    const allowed = weight <= leftIn(own, requests) && weight <= leftIn(around, requests * SITE_FACTOR);
    if (allowed && weight > 0) {
      own ??= this.#open(identity, requests, nowMs);
      own.used += weight;
      if (around === undefined && site !== undefined && !this.#windows.isFull(nowMs))
        around = this.#open(site, requests * SITE_FACTOR, nowMs);
      if (around !== undefined) around.used += weight;
    }
    const tightest = around !== undefined && leftIn(around, 0) < leftIn(own, requests) ? around : own;
    return this.#show(tightest, allowed, nowMs);
  }

  #open(identity: Identity, limit: number, nowMs: number): Window {
    return this.#windows.open(identity, limit, nowMs, this.#resetOfNew());
  }

  #resetOfNew(): number {
    return Math.ceil(this.#clock.now() / 1000 + this.#tier.windowSeconds);
  }

  #show(window: Window | undefined, allowed: boolean, nowMs: number): Quota {
    const quota = this.#quota;
    quota.allowed = allowed;
    quota.limit = window?.limit ?? this.#tier.requests;
    quota.remaining = leftIn(window, quota.limit);
    quota.reset = window?.reset ?? this.#resetOfNew();
    quota.retryAfter = window === undefined ? this.#tier.windowSeconds : Math.ceil((window.endsAtMs - nowMs) / 1000);
    return quota;
  }
}

const leftIn = (window: Window | undefined, limit: number): number =>
  window === undefined ? limit : window.limit - window.used;
