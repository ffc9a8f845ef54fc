import type { Claim } from '../../../client/verify/index.ts';
import { agreementText } from '../../../shared/domain/agreement.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { ownBytes } from '../../../shared/runtime/own-bytes.ts';
import type { Cache } from '../../cache/cache.ts';
import { anchoredBodyOf, type CacheItem, type Entry, newEntry, newRefusal, newSlotMark } from '../../cache/entry.ts';
import { SharedMetas } from '../../cache/shared-metas.ts';
import type { ClaimGuard, ClaimRequest } from '../../receipts/equivocation-guard.ts';
import { EventCodec } from '../codec.ts';
import type { Event, EventOf, StoredAnswer, StoredLease } from '../events.ts';
import { ReplicatedLease, ReplicatedWatermark } from './watermarks.ts';

export interface AnswerFollowerOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly onTip: (tip: EventOf<'tip-advanced'>) => void;
  /** Called with each answer that the pipeline keeps current. */
  readonly onLiveAnswer: (entry: Entry) => void;
  /** Called when what one operator alone vouches for is dropped. */
  readonly onUnagreedDropped?: (() => void) | undefined;
}

/**
 * Makes a cache the copy of another process' cache, from events in their order: its entries, the watermarks that date them,
 * and the ends of their leases. It keeps what was requested of it, and what is kept current for all; the rest it skips.
 * `exact` is granted for what the events grant it for, and for nothing else.
 */
export class AnswerFollower implements ClaimGuard {
  /** The newest slot at which any worker may have signed an answer as `exact`. */
  newestGranted: Slot = 0;
  /** The place of the last event that dropped what one operator alone vouches for; -1 before one. */
  unagreedDroppedAt = -1;
  readonly #options: AnswerFollowerOptions;
  readonly #watermarks = new Map<number, ReplicatedWatermark>();
  readonly #metas = new SharedMetas();
  readonly #granted = new WeakSet<CacheItem>();
  /** The keys of answers that are waited for, each with the place of the last event about it. */
  readonly #awaited = new Map<string, { waiting: number; lastEventAt: number }>();
  #codec = new EventCodec();

  constructor(options: AnswerFollowerOptions) {
    this.#options = options;
  }

  follow(codec: EventCodec): void {
    this.#codec = codec;
  }

  /** Applies the event at a place; ignores types that are none of a cache. */
  apply(event: Event, at: number): void {
    if (event.type === 'tip-advanced') this.#applyTip(event);
    else if (event.type === 'watermark-advanced') this.#applyWatermark(event);
    else if (event.type === 'answer-ended') this.#endLease(event.key, at);
    else if (event.type === 'answer-stored') this.#applyAnswer(event, at);
    else if (event.type === 'unagreed-dropped') {
      this.unagreedDroppedAt = at;
      this.#options.cache.dropUnagreed();
      this.#options.onUnagreedDropped?.();
    } else if (event.type === 'exact-granted') this.newestGranted = Math.max(this.newestGranted, event.slot);
  }

  /** Until the answer is here, events may end its lease: then it is dated no further than it says itself. */
  await(key: string) {
    const awaited = this.#awaited.get(key) ?? { waiting: 0, lastEventAt: -1 };
    awaited.waiting++;
    this.#awaited.set(key, awaited);
    return {
      /** Applies the answer, encoded when the events were at this place. Returns what is served: it, or a newer one. */
      keep: (answer: Uint8Array, at: number): CacheItem =>
        this.#keep(key, this.#codec.decode(answer), awaited.lastEventAt >= at),
      end: (): void => {
        if (--awaited.waiting === 0) this.#awaited.delete(key);
      },
    };
  }

  lose(): void {
    for (const watermark of this.#watermarks.values()) watermark.state = 'lost';
    this.#watermarks.clear();
    for (const awaited of this.#awaited.values()) awaited.lastEventAt = -1;
    this.unagreedDroppedAt = -1;
  }

  grantClaim({ request, slot, digest }: ClaimRequest): Claim {
    const item = this.#options.cache.peek(request.slice('GET '.length));
    if (item === undefined || item.slot !== slot || item.digest !== digest) return 'observed';
    return this.#granted.has(item) ? 'exact' : 'observed';
  }

  #applyTip(tip: EventOf<'tip-advanced'>): void {
    if (tip.commitment === 'processed') this.#options.cache.advanceTip(tip.slot);
    this.#options.onTip(tip);
  }

  #applyWatermark(event: EventOf<'watermark-advanced'>): void {
    const watermark = this.#watermarks.get(event.id) ?? new ReplicatedWatermark();
    watermark.update(event, this.#options.clock.monotonic());
    if (event.state === 'lost')
      this.#watermarks.delete(event.id); // it never comes back; its leases still have it
    else this.#watermarks.set(event.id, watermark);
    this.#options.cache.advanceHot(watermark);
  }

  #endLease(key: string, at: number): void {
    this.#noteEvent(key, at);
    const lease = this.#options.cache.peek(key)?.lease;
    if (lease instanceof ReplicatedLease) lease.end();
  }

  #applyAnswer({ key, isLive, answer }: EventOf<'answer-stored'>, at: number): void {
    this.#noteEvent(key, at);
    // Another worker may have served what is awaited here, and newer than it was read for this one.
    if (isLive || this.#awaited.has(key) || this.#options.cache.peek(key) !== undefined)
      this.#put(key, this.#codec.decode(answer));
  }

  #noteEvent(key: string, at: number): void {
    const awaited = this.#awaited.get(key);
    if (awaited !== undefined) awaited.lastEventAt = at;
  }

  #keep(key: string, answer: StoredAnswer, isOutdated: boolean): CacheItem {
    if (!isOutdated) return this.#put(key, answer);
    const known = this.#options.cache.peek(key);
    if (known?.kind === 'answer' && known.slot >= answer.slot) return known;
    return this.#put(key, { ...answer, lease: null });
  }

  #put(key: string, answer: StoredAnswer): CacheItem {
    const { cache } = this.#options;
    const item = this.#itemOf(key, answer);
    cache.publish(item);
    if (item.kind === 'answer' && answer.policy === 'live') this.#options.onLiveAnswer(item);
    const served = cache.peek(key);
    return served === undefined || served.slot < item.slot || served.kind === 'slot-mark' ? item : served;
  }

  #itemOf(key: string, answer: StoredAnswer): CacheItem {
    const { cache, clock } = this.#options;
    const { slot, final, policy, tipAtFetch, result, body } = answer;
    const published = cache.peek(key);
    const init = {
      key: published?.key ?? key,
      slot,
      final,
      policy,
      meta: this.#metas.parse(answer.meta),
      tipAtFetch,
      validatedMs: clock.monotonic() - answer.ageMs,
      lease: this.#leaseOf(answer.lease),
      agreement: answer.agreement ?? undefined,
    };
    if (answer.refusal !== null) return newRefusal(answer.refusal, init);
    if (result === null) return newSlotMark(init);
    const entry = newEntry(result, init);
    entry.digest = answer.digest;
    if (answer.grant) this.#granted.add(entry);
    if (entry.meta.envelope === 'anchored') entry.body = anchoredBodyOf(entry);
    else if (body !== null) {
      entry.body = typeof body === 'string' ? body : ownBytes(body); // a copy: the log's memory is used again
      entry.sealedMs = cache.coarseNowMs - answer.sealedAgeMs;
    } else if (published?.kind === 'answer' && published.slot === slot && published.result.toString() === result) {
      const { body, compressed, sealedMs, digest, agreement } = published;
      if (agreementText(agreement, slot) === agreementText(entry.agreement, slot))
        Object.assign(entry, { body, compressed, sealedMs, digest }); // its signature holds for this one, too
    }
    return entry;
  }

  #leaseOf(lease: StoredLease | null): ReplicatedLease | undefined {
    if (lease === null) return undefined;
    const { cache } = this.#options;
    const watermarks = lease.watermarks.map((id) => this.#watermarks.get(id) ?? new ReplicatedWatermark());
    return new ReplicatedLease(lease, watermarks, () => cache.tip);
  }
}
