import type { RateLimitKey } from './rate-limit-key.ts';

/** So many requests in so much time. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** A stretch of time in which an identity may do so much. */
export interface Window {
  readonly limit: number;
  used: number;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  /** The same moment in Unix seconds. It is fixed when the window opens, since the caller was told. */
  readonly reset: number;
}

interface LinkedWindow extends Window {
  readonly key: RateLimitKey;
  next: LinkedWindow | undefined;
}

/** Windows of one length: they end in the order in which they opened, so a list, oldest first, finds the ended ones. */
interface WindowList {
  oldest: LinkedWindow | undefined;
  newest: LinkedWindow | undefined;
}

/** Ended windows forgotten for each new one: more than one, so that they run out; few, so that nobody waits for it. */
const EVICTIONS_PER_CHECK = 4;

/** The open windows. Ended ones can stay a while, but never take the room of a new one. */
export class FixedWindows {
  readonly #capacity: number;
  readonly #byKey = new Map<RateLimitKey, LinkedWindow>();
  /** By length in seconds: there are as many as tiers, at most. */
  readonly #listsByLength = new Map<number, WindowList>();
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many windows are held. */
  get size(): number {
    return this.#size;
  }

  /** The identity's open window. */
  find(key: RateLimitKey, nowMs: number): Window | undefined {
    const window = this.#byKey.get(key);
    return window !== undefined && nowMs < window.endsAtMs ? window : undefined;
  }

  /** True when as many windows as there may be are open now. Ask before each {@link open}. */
  isFull(nowMs: number): boolean {
    for (const list of this.#listsByLength.values())
      for (let i = 0; i < EVICTIONS_PER_CHECK; i++) this.#evictEnded(list, nowMs);
    return this.#size >= this.#capacity;
  }

  /** Opens a window for an identity that has none open. `reset`: its end in Unix seconds. */
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
    // The identity may have opened a newer one since.
    if (this.#byKey.get(window.key) === window) this.#byKey.delete(window.key);
  }
}
