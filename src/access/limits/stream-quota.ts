import type { Clock } from '../../domain/clock.ts';
import type { SharedSeats } from '../quota/shared-seats.ts';
import { type RateLimitKey, SITE_FACTOR, siteKeyOf } from './rate-limit-key.ts';
import type { Tier } from './tiers.ts';

/** The most messages per second on one connection; callers who need more can open another. */
const MESSAGES_PER_STREAM = 10;

/** So many messages over the pace within this time end the connection. */
const MAX_REFUSED = 50;
const REFUSED_WINDOW_MS = 5000;

/** What becomes of a message: over the pace it is refused, and after too many of those the connection is closed. */
export type MessageVerdict = 'handle' | 'refuse' | 'close';

/** The open connections of one key, and what was used on them and on those closed lately. */
interface OpenStreams {
  streams: number;
  /** Keeps the key known, which is forgotten when it has had no connection until all its rights are back. */
  cancelForgetting: () => void;
  /** Counts a message and returns the number of messages in the current second. */
  readonly countMessage: () => number;
  readonly subscribeTokens: TokenBucket;
  /** Its connections in the order in which they were opened. */
  readonly revocables: Set<{ readonly revoke: () => void }>;
}

/** The right to one open WebSocket connection and to a rate of messages on it. */
export interface StreamSlot {
  /** The most messages per second, on this connection and on all of its caller's. */
  readonly messagesPerSecond: { readonly stream: number; readonly caller: number };
  /** Counts a message and tells what becomes of it. */
  consumeMessage(): MessageVerdict;
  /**
   * Takes the right to subscribe to one more address; returns 0, or the milliseconds until there is one. A caller may
   * subscribe to as many at once as one connection may have, then to as many a second as messages are allowed: one
   * message may name many addresses, but they cost the nodes no more than one message each would.
   */
  consumeSubscribe(): number;
  /** Has a function called when the caller turns out to have too many, and this one must be closed. */
  onRevoked(revoke: () => void): void;
  /** Goes on with another tier of its caller. Returns false if that allows fewer connections than are open. */
  changeTier(tier: Tier): boolean;
  release(): void;
}

/** Limits open connections per caller. An IPv6 /48 may have {@link SITE_FACTOR} times as many as a /64 in it. */
export class StreamQuota {
  readonly #clock: Clock;
  readonly #seats: SharedSeats | undefined;
  readonly #byKey = new Map<RateLimitKey, OpenStreams>();

  /** `seats` are those at other processes, if there are any. */
  constructor(clock: Clock, seats?: SharedSeats) {
    this.#clock = clock;
    this.#seats = seats;
    if (seats !== undefined) seats.onExcess = (key, excess) => this.#revokeNewest(key, excess);
  }

  /** The number of keys with an open connection, or with one closed lately. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Returns a slot for one more connection; undefined if the caller is at the limit. */
  acquire(key: RateLimitKey, firstTier: Tier): StreamSlot | undefined {
    let tier = firstTier;
    const site = siteKeyOf(key);
    if (this.#streamsOf(key) >= tier.streams) return undefined;
    if (site !== undefined && this.#streamsOf(site) >= tier.streams * SITE_FACTOR) return undefined;
    const openStreams = this.#addStream(key, tier.streams);
    const ofSite = site === undefined ? undefined : this.#addStream(site, tier.streams * SITE_FACTOR);
    const revocable = { revoke: (): void => {} };
    for (const { revocables } of [openStreams, ...(ofSite === undefined ? [] : [ofSite])]) revocables.add(revocable);
    const count = createSecondCounter(this.#clock);
    const refusals = new RecentRefusals(this.#clock);
    const shareOf = (limit: number): number => this.#shareOf(key, limit);
    return {
      get messagesPerSecond() {
        return { stream: MESSAGES_PER_STREAM, caller: tier.messages };
      },
      consumeMessage() {
        if (count() <= MESSAGES_PER_STREAM && openStreams.countMessage() <= shareOf(tier.messages)) return 'handle';
        return refusals.add() ? 'refuse' : 'close';
      },
      consumeSubscribe: () => openStreams.subscribeTokens.take(shareOf(tier.subscriptions), shareOf(tier.messages)),
      changeTier: (changed) => {
        tier = changed;
        return this.#streamsOf(key) <= tier.streams;
      },
      onRevoked(revoke) {
        revocable.revoke = revoke;
      },
      release: () => {
        openStreams.revocables.delete(revocable);
        ofSite?.revocables.delete(revocable);
        this.#removeStream(key, tier, tier.streams);
        if (site !== undefined) this.#removeStream(site, tier, tier.streams * SITE_FACTOR);
      },
    };
  }

  #revokeNewest(key: RateLimitKey, count: number): void {
    const newest = [...(this.#byKey.get(key)?.revocables ?? [])].slice(-count);
    for (const { revoke } of newest) revoke();
  }

  #streamsOf(key: RateLimitKey): number {
    return (this.#byKey.get(key)?.streams ?? 0) + (this.#seats?.elsewhere(key) ?? 0);
  }

  /** Returns the part of a caller's limit for the streams that it has here. */
  #shareOf(key: RateLimitKey, limit: number): number {
    const elsewhere = this.#seats?.elsewhere(key) ?? 0;
    if (elsewhere === 0) return limit;
    const here = this.#byKey.get(key)?.streams ?? 0;
    return Math.max(1, Math.ceil((limit * here) / (here + elsewhere)));
  }

  #addStream(key: RateLimitKey, limit: number): OpenStreams {
    const openStreams = this.#byKey.get(key) ?? {
      streams: 0,
      cancelForgetting: () => {},
      countMessage: createSecondCounter(this.#clock),
      subscribeTokens: new TokenBucket(this.#clock),
      revocables: new Set(),
    };
    openStreams.cancelForgetting();
    openStreams.streams++;
    this.#byKey.set(key, openStreams);
    this.#seats?.set(key, openStreams.streams, limit);
    return openStreams;
  }

  /** Removes a stream. Who opens another at once doesn't begin anew, else each upgrade, a unit, would buy many addresses. */
  #removeStream(key: RateLimitKey, { messages }: Tier, limit: number): void {
    const openStreams = this.#byKey.get(key);
    if (openStreams === undefined) return;
    openStreams.streams--;
    this.#seats?.set(key, openStreams.streams, limit);
    if (openStreams.streams > 0) return;
    const refillMs = openStreams.subscribeTokens.refillMs(messages);
    if (refillMs === 0) this.#byKey.delete(key);
    else openStreams.cancelForgetting = this.#clock.after(refillMs, () => this.#byKey.delete(key));
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

/** The times of the messages that were refused lately on one connection. */
class RecentRefusals {
  readonly #clock: Clock;
  #timesMs: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a message over the pace; returns false once there are {@link MAX_REFUSED} in {@link REFUSED_WINDOW_MS}. */
  add(): boolean {
    const nowMs = this.#clock.monotonic();
    this.#timesMs = this.#timesMs.filter((timeMs) => nowMs - timeMs < REFUSED_WINDOW_MS);
    return this.#timesMs.push(nowMs) < MAX_REFUSED;
  }
}

/** Rights that come back at a constant rate, up to a number that may be used at once. */
class TokenBucket {
  readonly #clock: Clock;
  #used = 0;
  #updatedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one of at most `capacity`; returns 0, or the milliseconds until there is one. */
  take(capacity: number, perSecond: number): number {
    this.#refill(perSecond);
    const missing = this.#used + 1 - capacity;
    if (missing > 0) return Math.ceil((missing / perSecond) * 1000);
    this.#used++;
    return 0;
  }

  /** Returns the milliseconds until all of them are back. */
  refillMs(perSecond: number): number {
    this.#refill(perSecond);
    return Math.ceil((this.#used / perSecond) * 1000);
  }

  #refill(perSecond: number): void {
    const nowMs = this.#clock.monotonic();
    this.#used = Math.max(0, this.#used - ((nowMs - this.#updatedMs) * perSecond) / 1000);
    this.#updatedMs = nowMs;
  }
}
