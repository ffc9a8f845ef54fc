import type { Clock } from '../../../shared/domain/clock.ts';
import { QuotaWindow, type RateLimit, type WindowShare } from './quota-window.ts';
import type { RateLimitKey } from './rate-limit-key.ts';

/** Windows of one length. They end in the order in which they opened, so the ended ones are at the start of the list. */
interface WindowList {
  oldest: QuotaWindow | undefined;
  newest: QuotaWindow | undefined;
}

/** Ended windows dropped per check: more than one, so that they run out; few, so that no request waits for it. */
const EVICTIONS_PER_CHECK = 4;

/** Makes the part of a window that other processes know of. `endBeforeMs` is when the one before has ended, if it is known. */
export type ShareWindow = (window: QuotaWindow, endBeforeMs: number) => WindowShare;

/**
 * The windows of one process by key. One that ends with a debt, or with requests under way, is followed immediately by
 * another, which pays. Other ended ones are dropped lazily and never use the capacity of a new one.
 */
export class QuotaBook {
  readonly #capacity: number;
  readonly #clock: Clock;
  readonly #share: ShareWindow | undefined;
  readonly #byKey = new Map<RateLimitKey, QuotaWindow>();
  /** Lists by window length in seconds, at most one per tier. */
  readonly #listsByLength = new Map<number, WindowList>();
  #size = 0;

  /** Without `share` all windows are of this process alone. */
  constructor(capacity: number, clock: Clock, share?: ShareWindow) {
    this.#capacity = capacity;
    this.#clock = clock;
    this.#share = share;
  }

  get size(): number {
    return this.#size;
  }

  /** The windows that were found last under their keys; some have ended. */
  get windows(): Iterable<QuotaWindow> {
    return this.#byKey.values();
  }

  /** Returns the open window of a key, or a new one, which opens when something is spent in it. */
  find(key: RateLimitKey, limit: RateLimit, nowMs: number): QuotaWindow {
    const open = this.findOpen(key, nowMs);
    if (open !== undefined) return open;
    const window = new QuotaWindow(key, limit, this.#clock, this);
    window.share = this.#share?.(window, this.#byKey.get(key)?.endsAtMs ?? Number.NEGATIVE_INFINITY);
    return window;
  }

  findOpen(key: RateLimitKey, nowMs: number): QuotaWindow | undefined {
    const window = this.#byKey.get(key);
    return window === undefined || nowMs < window.endsAtMs || window.continueUntil(nowMs) ? window : undefined;
  }

  /** Returns whether open windows leave no place for that many more. Must be checked before a window opens. */
  isFull(nowMs: number, places = 1): boolean {
    this.#dropEnded(nowMs);
    return this.#size + places > this.#capacity;
  }

  add(window: QuotaWindow): void {
    this.#dropEnded(this.#clock.monotonic());
    const { key, windowSeconds } = window;
    const list = this.#listsByLength.get(windowSeconds) ?? { oldest: undefined, newest: undefined };
    this.#listsByLength.set(windowSeconds, list);
    append(list, window);
    this.#byKey.set(key, window);
    this.#size++;
  }

  #dropEnded(nowMs: number): void {
    for (const list of this.#listsByLength.values())
      for (let i = 0; i < EVICTIONS_PER_CHECK; i++) this.#evictEnded(list, nowMs);
  }

  #evictEnded(list: WindowList, nowMs: number): void {
    const window = list.oldest;
    if (window === undefined || nowMs < window.listedEndMs) return;
    list.oldest = window.next;
    if (list.oldest === undefined) list.newest = undefined;
    const isCurrent = this.#byKey.get(window.key) === window; // the key may have opened a newer one since
    if (isCurrent && (nowMs < window.endsAtMs || window.continueUntil(nowMs))) {
      window.listedEndMs = window.endsAtMs;
      append(list, window);
      return;
    }
    this.#size--;
    if (isCurrent) this.#byKey.delete(window.key);
  }
}

function append(list: WindowList, window: QuotaWindow): void {
  window.next = undefined;
  if (list.newest === undefined) list.oldest = window;
  else list.newest.next = window;
  list.newest = window;
}
