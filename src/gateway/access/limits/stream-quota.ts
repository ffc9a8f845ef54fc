import type { Clock } from '../../../shared/domain/clock.ts';
import { TokenBucket } from '../../../shared/runtime/token-bucket.ts';
import { type RateLimitKey, SITE_FACTOR, siteKeyOf } from '../quota/rate-limit-key.ts';
import type { SharedStreams } from '../quota/shared-streams.ts';
import type { Tier } from './tiers.ts';

/** The most messages per second on one connection; callers who need more can open another. */
const MESSAGES_PER_STREAM = 10;

/** This number of messages over the pace within this time ends the connection. */
const MAX_REFUSED = 50;
const REFUSED_WINDOW_MS = 5000;

/** What becomes of a message: over the pace it is refused, and after too many of those the connection is closed. */
export type MessageVerdict = 'handle' | 'refuse' | 'close';

/** The open connections of one key, and what was used on them and on those closed lately. */
interface OpenStreams {
  /** A key is forgotten when it has had no connection until all its rights to subscribe are back. */
  cancelForgetting: () => void;
  readonly messageTokens: TokenBucket;
  readonly subscribeTokens: TokenBucket;
  readonly streams: Set<Revocable>;
}

interface Revocable {
  revoke: () => void;
}

/** The right to one open WebSocket connection and to a rate of messages on it. */
export type StreamSlot = NonNullable<ReturnType<StreamQuota['acquire']>>;

/** Limits open connections per caller. An IPv6 /48 may have {@link SITE_FACTOR} times the number of a /64 in it. */
export class StreamQuota {
  readonly #clock: Clock;
  readonly #shared: SharedStreams | undefined;
  readonly #byKey = new Map<RateLimitKey, OpenStreams>();

  constructor(clock: Clock, shared?: SharedStreams) {
    this.#clock = clock;
    this.#shared = shared;
    if (shared === undefined) return;
    shared.onExcess = (key, excess) => {
      for (const { revoke } of [...(this.#byKey.get(key)?.streams ?? [])].slice(-excess)) revoke();
    };
  }

  get size(): number {
    return this.#byKey.size;
  }

  acquire(key: RateLimitKey, firstTier: Tier) {
    let tier = firstTier;
    const site = siteKeyOf(key);
    const isFull = (ofKey: RateLimitKey, limit: number): boolean =>
      this.#streamsOf(ofKey) >= (this.#shared?.partOf(limit) ?? limit);
    if (isFull(key, tier.streams) || (site !== undefined && isFull(site, tier.streams * SITE_FACTOR))) return undefined;
    const stream: Revocable = { revoke: () => {} };
    const openStreams = this.#addStream(stream, key, tier.streams);
    if (site !== undefined) this.#addStream(stream, site, tier.streams * SITE_FACTOR);
    const messageTokens = new TokenBucket(this.#clock);
    let refusedMs: readonly number[] = [];
    const shareOf = (limit: number): number => this.#shareOf(key, limit);
    return {
      get messagesPerSecond() {
        return { stream: MESSAGES_PER_STREAM, caller: tier.messages };
      },
      consumeMessage: (): MessageVerdict => {
        const perSecond = shareOf(tier.messages);
        const isInPace = messageTokens.consume(MESSAGES_PER_STREAM, MESSAGES_PER_STREAM) === 0;
        if (isInPace && openStreams.messageTokens.consume(perSecond, perSecond) === 0) return 'handle';
        const nowMs = this.#clock.monotonic();
        refusedMs = [...refusedMs.filter((timeMs) => nowMs - timeMs < REFUSED_WINDOW_MS), nowMs];
        return refusedMs.length < MAX_REFUSED ? 'refuse' : 'close';
      },
      /**
       * Consumes the right to subscribe to one more address; returns 0, or the milliseconds until there is one. A caller may
       * subscribe immediately to the number that one connection may have, then each second to that of its messages: one
       * message may name many addresses, but they cost the nodes no more than one message each would.
       */
      consumeSubscribe: (): number =>
        openStreams.subscribeTokens.consume(shareOf(tier.subscriptions), shareOf(tier.messages)),
      changeTier: (changed: Tier): boolean => {
        tier = changed;
        return this.#streamsOf(key) <= tier.streams;
      },
      /** `revoke` is called when the caller turns out to have too many, and this one must be closed. */
      onRevoked(revoke: () => void): void {
        stream.revoke = revoke;
      },
      release: (): void => {
        this.#removeStream(stream, key, tier, tier.streams);
        if (site !== undefined) this.#removeStream(stream, site, tier, tier.streams * SITE_FACTOR);
      },
    };
  }

  #streamsOf(key: RateLimitKey): number {
    return (this.#byKey.get(key)?.streams.size ?? 0) + (this.#shared?.elsewhere(key) ?? 0);
  }

  #shareOf(key: RateLimitKey, limit: number): number {
    const elsewhere = this.#shared?.elsewhere(key) ?? 0;
    if (elsewhere === 0) return limit;
    const here = this.#byKey.get(key)?.streams.size ?? 0;
    return Math.max(1, Math.ceil((limit * here) / (here + elsewhere)));
  }

  #addStream(stream: Revocable, key: RateLimitKey, limit: number): OpenStreams {
    const openStreams = this.#byKey.get(key) ?? {
      cancelForgetting: () => {},
      messageTokens: new TokenBucket(this.#clock),
      subscribeTokens: new TokenBucket(this.#clock),
      streams: new Set(),
    };
    openStreams.cancelForgetting();
    openStreams.streams.add(stream);
    this.#byKey.set(key, openStreams);
    this.#shared?.set(key, openStreams.streams.size, limit);
    return openStreams;
  }

  /** Removes a stream. One opened right after it has no new rights, else each upgrade, a unit, would buy many. */
  #removeStream(stream: Revocable, key: RateLimitKey, { messages }: Tier, limit: number): void {
    const openStreams = this.#byKey.get(key);
    if (openStreams === undefined) return;
    openStreams.streams.delete(stream);
    this.#shared?.set(key, openStreams.streams.size, limit);
    if (openStreams.streams.size > 0) return;
    const refillMs = openStreams.subscribeTokens.refillMs(messages);
    if (refillMs === 0) this.#byKey.delete(key);
    else openStreams.cancelForgetting = this.#clock.after(refillMs, () => this.#byKey.delete(key));
  }
}
