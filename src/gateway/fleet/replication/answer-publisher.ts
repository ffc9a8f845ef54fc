import type { Clock } from '../../../shared/domain/clock.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { Cache, CacheObserver } from '../../cache/cache.ts';
import { type CacheItem, type Entry, isExact } from '../../cache/entry.ts';
import type { ClaimGuard } from '../../receipts/equivocation-guard.ts';
import { ensureDigest } from '../../serving/result-digest.ts';
import type { Sealer } from '../../serving/sealer.ts';
import type { EventCodec } from '../codec.ts';
import type { Event, StoredAnswer, StoredLease } from '../events.ts';
import { NumberedWatermarks, tipEvents } from './watermarks.ts';

export interface AnswerPublisherOptions {
  readonly clock: Clock;
  readonly cache: Cache;
  readonly guard: ClaimGuard;
  readonly sealer: Pick<Sealer, 'invalidUntilMs'>;
  readonly codec: EventCodec;
  readonly publish: (event: Event) => void;
  /** The length of a result in bytes from which on its answer is published without it. */
  readonly maxResultBytes: number;
}

/** Publishes no watermark before the ends of leases and the bodies that come of the same turn of the event loop. */
export class AnswerPublisher implements CacheObserver {
  readonly #options: AnswerPublisherOptions;
  readonly #watermarks: NumberedWatermarks;
  readonly #tips = new Map<Commitment, Slot>();
  readonly #unflushed = new Set<CacheItem>();
  #areWatermarksDue = false;
  #newestGranted: Slot = 0;

  constructor(options: AnswerPublisherOptions) {
    this.#options = options;
    this.#watermarks = new NumberedWatermarks(options.clock, options.publish);
    options.cache.observeWith(this);
  }

  onPublished(item: CacheItem): void {
    this.#unflushed.add(item);
    this.#options.publish(this.#storedEvent(item));
  }

  onFlushed(): void {
    this.#unflushed.clear();
  }

  onLeaseEnded(key: string): void {
    this.#options.publish({ type: 'answer-ended', key });
  }

  onUnagreedDropped(): void {
    this.#options.publish({ type: 'unagreed-dropped' });
  }

  onTip(commitment: Commitment, slot: Slot, parent: Slot | undefined): void {
    this.#tips.set(commitment, slot);
    this.#options.publish({ type: 'tip-advanced', commitment, slot, parent });
    this.publishWatermarks();
  }

  /** Publishes the watermarks that have advanced: behind what else this turn and its signatures bring. */
  publishWatermarks(): void {
    if (this.#areWatermarksDue) return;
    this.#areWatermarksDue = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#areWatermarksDue = false;
        this.#watermarks.publishAll();
      }),
    );
  }

  liveAnswers(): readonly Event[] {
    return [...this.#options.cache.liveItems()].map((item) => this.#storedEvent(item));
  }

  /** Returns what dates answers as of now: what has been published before has no effect beyond it. */
  dates(): readonly Event[] {
    const tips = tipEvents((commitment) => this.#tips.get(commitment));
    return [...tips, ...this.#watermarks.snapshot(), { type: 'exact-granted', slot: this.#newestGranted }];
  }

  /** Encodes an item for the copy that has requested it. Others that have its key need it, too: it may be dated later. */
  encodeRequested(item: CacheItem): Buffer {
    if (!this.#unflushed.has(item)) this.onPublished(item);
    return this.#encode(item, true);
  }

  #encode(item: CacheItem, hasResult: boolean): Buffer {
    const { clock, cache, codec, sealer } = this.#options;
    const hasBody = item.meta.envelope === 'signed' && item.sealedMs > sealer.invalidUntilMs; // another one is made of the result
    const isAnswer = item.kind === 'answer';
    const answer: StoredAnswer = {
      slot: item.slot,
      final: item.final,
      policy: item.policy,
      meta: JSON.stringify(item.meta),
      tipAtFetch: item.tipAtFetch,
      ageMs: Math.max(0, Math.ceil(clock.monotonic() - item.validatedMs)),
      result: isAnswer && hasResult ? item.result.toString() : null,
      refusal: item.refusal ?? null,
      digest: item.digest,
      grant: isAnswer && this.#grants(item),
      agreement: item.agreement ?? null,
      body: hasBody && hasResult ? (item.body ?? null) : null,
      sealedAgeMs: item.body === undefined ? 0 : Math.max(0, Math.ceil(cache.coarseNowMs - item.sealedMs)),
      lease: this.#leaseOf(item),
    };
    return codec.encode(answer);
  }

  #storedEvent(item: CacheItem): Event {
    const answer = this.#encode(item, item.resultBytes <= this.#options.maxResultBytes);
    return { type: 'answer-stored', key: item.key, isLive: item.policy === 'live', answer };
  }

  /** Returns the lease of an item, if the cache learns of its end: else no copy would. */
  #leaseOf({ key, lease, kind }: CacheItem): StoredLease | null {
    if (lease === undefined || kind !== 'answer') return null;
    const published = this.#options.cache.peek(key);
    if (published?.lease !== lease && published?.successor?.lease !== lease) return null;
    if (lease.state === 'revoked') return null;
    const { sources, slot, endSlot } = lease;
    return { watermarks: sources.map((source) => this.#watermarks.idOf(source)), slot, endSlot };
  }

  #grants(entry: Entry): boolean {
    const { commitment, envelope, isPast } = entry.meta;
    if (!isExact(entry) || commitment !== 'finalized' || envelope !== 'signed') return false;
    const { guard, publish } = this.#options;
    const digest = ensureDigest(entry);
    const { key, slot } = entry;
    const claimed = guard.grantClaim({ request: `GET ${key}`, slot, commitment, claim: 'exact', digest, isPast });
    if (claimed !== 'exact') return false;
    if (slot > this.#newestGranted) {
      this.#newestGranted = slot;
      publish({ type: 'exact-granted', slot });
    }
    return true;
  }
}
