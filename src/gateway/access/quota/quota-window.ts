import type { Clock } from '../../../shared/domain/clock.ts';
import type { RateLimitKey } from './rate-limit-key.ts';

export interface RateLimit {
  readonly units: number;
  readonly windowSeconds: number;
}

/** The part of a window that other processes know of, and spend in too. */
export interface WindowShare {
  /** The units that may be spent now; below 0 none. */
  readonly spendable: number;
  onSpent(): void;
  /** A request was refused that costs that many units, which are left for later. */
  onRefused(units: number): void;
  /** The next window has begun, which pays the debt of the one before. */
  onContinued(): void;
}

export class QuotaWindow {
  readonly key: RateLimitKey;
  readonly limit: number;
  readonly windowSeconds: number;
  /** The units that were spent, as far as this process knows. Those beyond the limit are a debt for the next window. */
  used = 0;
  /** The units that requests under way may still cost. */
  reserved = 0;
  endsAtMs: number;
  /** What is added to monotonic times for Unix times. */
  readonly #unixOffsetMs: number;
  share: WindowShare | undefined = undefined;
  /** The end by which the windows of one length are listed: a debt, or another process, may give it another end. */
  listedEndMs: number;
  next: QuotaWindow | undefined = undefined;
  /** The list that it is added to when it opens; undefined once it is open. */
  unopenedIn: { add(window: QuotaWindow): void } | undefined;

  constructor(
    key: RateLimitKey,
    { units, windowSeconds }: RateLimit,
    clock: Clock,
    unopenedIn: QuotaWindow['unopenedIn'],
  ) {
    this.key = key;
    this.limit = units;
    this.windowSeconds = windowSeconds;
    const nowMs = clock.monotonic();
    this.endsAtMs = nowMs + windowSeconds * 1000;
    this.listedEndMs = this.endsAtMs;
    this.#unixOffsetMs = clock.now() - nowMs;
    this.unopenedIn = unopenedIn;
  }

  /** The end in Unix seconds: it stays the same, as callers have seen it, unless the end moves. */
  get reset(): number {
    return Math.ceil((this.endsAtMs + this.#unixOffsetMs) / 1000);
  }

  /** The units that are left; below 0 the debt. */
  get balance(): number {
    return this.limit - this.used;
  }

  get spendableNow(): number {
    return Math.max(0, this.share === undefined ? this.balance : this.share.spendable);
  }

  /** The units that may be spent in this window, some of them once other processes know what was spent here. */
  get spendableLater(): number {
    return Math.max(0, this.balance);
  }

  open(): void {
    const book = this.unopenedIn;
    this.unopenedIn = undefined;
    book?.add(this);
  }

  /** Spends units, which opens the window. Returns those beyond the greatest debt, which are not counted. */
  spend(units: number): number {
    if (this.unopenedIn !== undefined) this.open();
    const beyond = Math.max(0, units - this.balance - this.limit);
    this.used += units - beyond;
    this.share?.onSpent();
    return beyond;
  }

  /** Reports the price of a refused request: other processes may let it pass when it comes again. */
  refuse(units: number): void {
    if (this.share === undefined || units <= this.spendableNow || units > this.balance) return;
    this.open();
    this.share.onRefused(units);
  }

  giveBack(units: number): void {
    this.used = Math.max(0, this.used - units);
  }

  /** Returns for how long after the window's end its debt leaves fewer units than that. */
  secondsOfDebt(units: number): number {
    return this.balance < 0 && units > this.limit + this.balance ? this.windowSeconds : 0;
  }

  /** Continues as the windows that follow, each of which pays what the one before owes. Returns false if none owes. */
  continueUntil(nowMs: number): boolean {
    while (nowMs >= this.endsAtMs) {
      const debt = Math.max(0, -this.balance);
      if (debt === 0 && this.reserved === 0) return false;
      this.used = debt;
      this.endsAtMs += this.windowSeconds * 1000;
      this.share?.onContinued();
    }
    return true;
  }
}

/** The quota left to a caller. The limiter's next call overwrites it: read it in the same turn, keep nothing. */
export interface Quota {
  readonly allowed: boolean;
  readonly units: number;
  /** Whether the caller's address is counted, and not its key or wallet. */
  readonly isByAddress: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in whole seconds at which the full limit, or in debt what the request costs, is available again. */
  readonly reset: number;
  /** Whole seconds until then, at least 1. */
  readonly retryAfter: number;
}

export type QuotaFigures = Pick<Quota, 'limit' | 'remaining' | 'reset'>;
