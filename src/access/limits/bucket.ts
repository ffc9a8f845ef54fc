import type { Clock } from '../../domain/clock.ts';
import type { QuotaBook, QuotaWindow, RateLimit } from '../quota/quota-book.ts';
import type { RateLimitKey } from './rate-limit-key.ts';

/** One of the windows that a caller is counted in, open or not. It is reused, so that a hit allocates nothing. */
export class Bucket {
  readonly #clock: Clock;
  #book: QuotaBook;
  #key: RateLimitKey | undefined;
  #limit: RateLimit = { requests: 0, windowSeconds: 1 };
  #window: QuotaWindow | undefined;

  /** Has its windows in that book until it is told another. */
  constructor(book: QuotaBook, clock: Clock) {
    this.#book = book;
    this.#clock = clock;
  }

  /** Whether anything is counted in it. */
  get isUsed(): boolean {
    return this.#key !== undefined;
  }

  /** The open window. */
  get window(): QuotaWindow | undefined {
    return this.#window;
  }

  /** The limit of the open window, or of the one that would open. */
  get limit(): number {
    return this.#window?.limit ?? this.#limit.requests;
  }

  /** The units that may be charged. */
  get left(): number {
    return Math.max(0, this.balance);
  }

  /** The units that are left for the caller, of which some may have to be asked for first. */
  get remaining(): number {
    return Math.max(0, this.total);
  }

  /** The same; below 0 the debt. */
  get total(): number {
    return this.#window === undefined ? this.#limit.requests : this.#book.remainingIn(this.#window);
  }

  /** The units that may be charged; below 0 the debt. */
  get balance(): number {
    return this.#window === undefined ? this.#limit.requests : this.#book.balanceOf(this.#window);
  }

  /** The units that requests under way may still be charged without a debt of more than one limit. */
  get room(): number {
    return this.total + this.limit - (this.#window === undefined ? 0 : this.#window.reserved);
  }

  /** Counts nothing in it. */
  leaveUnused(): void {
    this.#key = undefined;
    this.#window = undefined;
  }

  /** Finds the window of a key. */
  find(book: QuotaBook, key: RateLimitKey, limit: RateLimit, nowMs: number): void {
    this.#book = book;
    this.#key = key;
    this.#limit = limit;
    this.#window = book.find(key, nowMs);
  }

  /** Tells whether the next charge opens a window in a book. */
  willOpenIn(book: QuotaBook): boolean {
    return this.#window === undefined && this.#book === book;
  }

  /** Charges units, which opens the window if none is. Returns those that are beyond the greatest debt: not charged. */
  charge(units: number): number {
    const window = this.open();
    if (window === undefined) return 0;
    const beyond = Math.max(0, units - this.total - window.limit);
    this.#book.charge(window, units - beyond);
    return beyond;
  }

  /** Returns the open window, or opens it; undefined if the bucket is not used. */
  open(): QuotaWindow | undefined {
    if (this.#key === undefined) return undefined;
    this.#window ??= this.#book.open(this.#key, this.#limit, this.#clock.monotonic(), this.resetOf(0));
    return this.#window;
  }

  /** Tells that so many units may not be charged. */
  miss(units: number): void {
    if (this.#window !== undefined && units > this.left) this.#book.miss(this.#window, units);
  }

  /** Gives back units that were charged. */
  giveBack(units: number): void {
    if (this.#window !== undefined) this.#window.used = Math.max(0, this.#window.used - units);
  }

  /** Returns the monotonic time at which so many units are left after this window. */
  freeAtMs(units: number): number {
    const endsAtMs = this.#window?.endsAtMs ?? this.#clock.monotonic() + this.#limit.windowSeconds * 1000;
    return endsAtMs + this.#secondsOfDebt(units) * 1000;
  }

  /** Returns that time in Unix seconds. */
  resetOf(units: number): number {
    const reset = this.#window?.reset ?? Math.ceil(this.#clock.now() / 1000 + this.#limit.windowSeconds);
    return reset + this.#secondsOfDebt(units);
  }

  /** Returns for how long after the window's end the debt leaves fewer units than that. */
  #secondsOfDebt(units: number): number {
    if (this.#window === undefined) return 0;
    const { limit, windowSeconds } = this.#window;
    const balance = this.balance;
    return balance < 0 && units > limit + balance ? windowSeconds : 0;
  }
}
