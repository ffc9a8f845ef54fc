import type { QuotaKey } from './quota-key.ts';

/** A number of units per window. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** One window of one key. */
export interface QuotaWindow {
  readonly limit: number;
  readonly windowSeconds: number;
  /** The units that were charged. Those beyond the limit are a debt, which the next window pays. */
  used: number;
  /** The units that requests under way may still cost. */
  reserved: number;
  /** The end on the monotonic clock. */
  readonly endsAtMs: number;
  /** The end in Unix seconds. It is fixed when the window opens, because callers have seen it. */
  readonly reset: number;
}

/** A window in the list of those of its length. */
export interface LinkedWindow extends QuotaWindow {
  readonly key: QuotaKey;
  endsAtMs: number;
  reset: number;
  /** The end by which the list is ordered: a window that has a debt goes on beyond it. */
  listedEndMs: number;
  next: LinkedWindow | undefined;
}

/**
 * Windows of one length. They end in the order in which they opened, so the ended ones are at the start of the list.
 */
interface WindowList {
  oldest: LinkedWindow | undefined;
  newest: LinkedWindow | undefined;
}

/** Ended windows dropped per check: more than one, so that they run out; few, so that no request waits for it. */
const EVICTIONS_PER_CHECK = 4;

/**
 * The windows of one process by key, and what may be charged in them at once: here all of the limit. A window that ends
 * with a debt, or with requests under way, is followed at once by another, which pays. Other ended ones are dropped
 * lazily and never take the capacity of a new one.
 */
export class QuotaBook {
  readonly #capacity: number;
  readonly #byKey = new Map<QuotaKey, LinkedWindow>();
  /** Lists by window length in seconds, at most one per tier. */
  readonly #listsByLength = new Map<number, WindowList>();
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.#size;
  }

  /** Returns the open window of a key. */
  find(key: QuotaKey, nowMs: number): QuotaWindow | undefined {
    const window = this.#byKey.get(key);
    return window === undefined || nowMs < window.endsAtMs || this.isContinued(window, nowMs) ? window : undefined;
  }

  /** Tells whether open windows leave no place for so many more. Must be checked before each {@link open}. */
  isFull(nowMs: number, places = 1): boolean {
    this.#dropEnded(nowMs);
    return this.#size + places > this.#capacity;
  }

  /** Opens a window for a key that has none open. `reset` is its end in Unix seconds. */
  open(key: QuotaKey, { requests, windowSeconds }: RateLimit, nowMs: number, reset: number): QuotaWindow {
    this.#dropEnded(nowMs);
    const endsAtMs = nowMs + windowSeconds * 1000;
    const window = this.prepared({
      limit: requests,
      windowSeconds,
      used: 0,
      reserved: 0,
      endsAtMs,
      reset,
      key,
      listedEndMs: endsAtMs,
      next: undefined,
    });
    const list = this.#listsByLength.get(windowSeconds) ?? { oldest: undefined, newest: undefined };
    this.#listsByLength.set(windowSeconds, list);
    append(list, window);
    this.#byKey.set(key, window);
    this.#size++;
    return window;
  }

  /** Returns the units that may be charged in a window at once; below 0 its debt. */
  balanceOf(window: QuotaWindow): number {
    return window.limit - window.used;
  }

  /** Returns the units that are left in a window for its caller; below 0 its debt. */
  remainingIn(window: QuotaWindow): number {
    return window.limit - window.used;
  }

  /** Charges units in a window. */
  charge(window: QuotaWindow, units: number): void {
    window.used += units;
  }

  /** Tells that a request was refused, as so many units may not be charged at once. */
  miss(_window: QuotaWindow, _units: number): void {}

  /** Prepares a window that opens. */
  protected prepared(window: LinkedWindow): LinkedWindow {
    return window;
  }

  /** The windows that were found last under their keys; some have ended. */
  protected get windows(): Iterable<LinkedWindow> {
    return this.#byKey.values();
  }

  /**
   * Continues an ended window as those that follow it, each of which pays what the one before owes. False if none owes.
   */
  protected isContinued(window: LinkedWindow, nowMs: number): boolean {
    while (nowMs >= window.endsAtMs) {
      const debt = Math.max(0, window.used - window.limit);
      if (debt === 0 && window.reserved === 0) return false;
      window.used = debt;
      window.endsAtMs += window.windowSeconds * 1000;
      window.reset += window.windowSeconds;
    }
    return true;
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
    if (isCurrent && (nowMs < window.endsAtMs || this.isContinued(window, nowMs))) {
      window.listedEndMs = window.endsAtMs;
      append(list, window);
      return;
    }
    this.#size--;
    if (isCurrent) this.#byKey.delete(window.key);
  }
}

function append(list: WindowList, window: LinkedWindow): void {
  window.next = undefined;
  if (list.newest === undefined) list.oldest = window;
  else list.newest.next = window;
  list.newest = window;
}
