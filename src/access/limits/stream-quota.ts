import type { Clock } from '../../domain/clock.ts';
import { type RateLimitKey, siteKeyOf } from './rate-limit-key.ts';
import { SITE_FACTOR } from './rate-limiter.ts';
import type { Tier } from './tiers.ts';

/** The most messages per second on one connection; callers who need more can open another. */
const MESSAGES_PER_STREAM = 10;

/** The open connections of one key. */
interface OpenStreams {
  streams: number;
  /** Counts a message and returns the number of messages in the current second. */
  readonly countMessage: () => number;
}

/** The right to one open WebSocket connection and to a rate of messages on it. */
export interface StreamSlot {
  /**
   * Counts a message; returns false if there were too many in this second, on this connection or on all of its
   * caller's.
   */
  consumeMessage(): boolean;
  release(): void;
}

/** Limits open connections per caller. An IPv6 /48 may have {@link SITE_FACTOR} times as many as a /64 in it. */
export class StreamQuota {
  readonly #clock: Clock;
  readonly #byKey = new Map<RateLimitKey, OpenStreams>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of keys with an open connection. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Returns a slot for one more connection; undefined if the caller is at the limit. */
  acquire(key: RateLimitKey, tier: Tier): StreamSlot | undefined {
    const site = siteKeyOf(key);
    if (this.#streamsOf(key) >= tier.streams) return undefined;
    if (site !== undefined && this.#streamsOf(site) >= tier.streams * SITE_FACTOR) return undefined;
    const openStreams = this.#addStream(key);
    if (site !== undefined) this.#addStream(site);
    const count = createSecondCounter(this.#clock);
    return {
      consumeMessage: () => count() <= MESSAGES_PER_STREAM && openStreams.countMessage() <= tier.messages,
      release: () => {
        this.#removeStream(key);
        if (site !== undefined) this.#removeStream(site);
      },
    };
  }

  #streamsOf(key: RateLimitKey): number {
    return this.#byKey.get(key)?.streams ?? 0;
  }

  #addStream(key: RateLimitKey): OpenStreams {
    const openStreams = this.#byKey.get(key) ?? { streams: 0, countMessage: createSecondCounter(this.#clock) };
    openStreams.streams++;
    this.#byKey.set(key, openStreams);
    return openStreams;
  }

  #removeStream(key: RateLimitKey): void {
    const openStreams = this.#byKey.get(key);
    if (openStreams !== undefined && --openStreams.streams === 0) this.#byKey.delete(key);
  }
}

/**
 * Returns a counter that restarts at 1 each second; a second begins with the first count after the previous one ended.
 */
function createSecondCounter(clock: Clock): () => number {
  let count = 0;
  let secondStartMs = clock.monotonic();
  return () => {
    const nowMs = clock.monotonic();
    if (nowMs - secondStartMs >= 1000) {
      secondStartMs = nowMs;
      count = 0;
    }
    return ++count;
  };
}
