import type { RateLimitKey } from './rate-limit-key.ts';

/** A number of requests per window. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** One window of one key. */
export interface Window {
  readonly limit: number;
  used: number;
  /** The end on the monotonic clock. */
  readonly endsAtMs: number;
  /** The end in Unix seconds. It is fixed when the window opens, because callers have seen it. */
  readonly reset: number;
}

interface LinkedWindow extends Window {
  readonly key: RateLimitKey;
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

/** The open windows by key. Ended ones are dropped lazily and never take the capacity of a new one. */
export class FixedWindows {
  readonly #capacity: number;
  readonly #byKey = new Map<RateLimitKey, LinkedWindow>();
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
  find(key: RateLimitKey, nowMs: number): Window | undefined {
    const window = this.#byKey.get(key);
    return window !== undefined && nowMs < window.endsAtMs ? window : undefined;
  }

  /** Tells whether the capacity is used up by open windows. Must be checked before each {@link open}. */
  isFull(nowMs: number): boolean {
    for (const list of this.#listsByLength.values())
      for (let i = 0; i < EVICTIONS_PER_CHECK; i++) this.#evictEnded(list, nowMs);
    return this.#size >= this.#capacity;
  }

  /** Opens a window for a key that has none open. `reset` is its end in Unix seconds. */
  open(key: RateLimitKey, { requests, windowSeconds }: RateLimit, nowMs: number, reset: number): Window {
    const endsAtMs = nowMs + windowSeconds * 1000;
    const window: LinkedWindow = { limit: requests, used: 0, endsAtMs, reset, key, next: undefined };
    const list = this.#listsByLength.get(windowSeconds) ?? { oldest: undefined, newest: undefined };
    if (list.newest === undefined) list.oldest = window;
    else list.newest.next = window;
    list.newest = window;
    this.#listsByLength.set(windowSeconds, list);
    this.#byKey.set(key, window);
    this.#size++;
    return window;
  }

  #evictEnded(list: WindowList, nowMs: number): void {
    const window = list.oldest;
    if (window === undefined || nowMs < window.endsAtMs) return;
    list.oldest = window.next;
    if (list.oldest === undefined) list.newest = undefined;
    this.#size--;
    // the key may have opened a newer one since
    if (this.#byKey.get(window.key) === window) this.#byKey.delete(window.key);
  }
}
