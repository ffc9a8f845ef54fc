import type { Clock } from '../../domain/clock.ts';
import { type RateLimitKey, siteKeyOf } from './rate-limit-key.ts';
import { SITE_FACTOR } from './rate-limiter.ts';
import type { Tier } from './tiers.ts';

/** Messages a second on one connection: who has much to say can open another. */
const MESSAGES_PER_STREAM = 10;

/** All connections of one identity. */
interface OpenStreams {
  streams: number;
  /** Counts a message, and tells the number of those in this second. */
  readonly countMessage: () => number;
}

/** One WebSocket connection's place, and what it may do there. */
export interface StreamSlot {
  /** Counts a message; false when there were too many in this second, on it or on all connections of its identity. */
  consumeMessage(): boolean;
  release(): void;
}

/** Who holds how many connections. An IPv6 /48 may hold some times as many as a /64 in it. */
export class StreamQuota {
  readonly #clock: Clock;
  readonly #byKey = new Map<RateLimitKey, OpenStreams>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many identities hold any. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Undefined when the identity holds as many as it may. */
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

/** Counts up from 1 in each second, which begins with the first count after the one before. */
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
