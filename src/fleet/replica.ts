import { Cache, type CacheOptions } from '../cache/cache.ts';
import { anchoredBodyOf, type CacheItem, type Entry, newEntry, newRefusal, newSlotMark } from '../cache/entry.ts';
import { SharedMetas } from '../cache/shared-metas.ts';
import type { Clock } from '../domain/clock.ts';
import type { Slot } from '../domain/slot.ts';
import type { ClaimGuard, ClaimRequest } from '../receipts/equivocation-guard.ts';
import type { Claim } from '../receipts/statement.ts';
import {
  type AnswerFrame,
  FRAME,
  keyOfAnswer,
  unpackAnswer,
  unpackGranted,
  unpackMark,
  unpackOver,
  unpackTip,
} from './frames.ts';
import { Mark, ReplicaLease } from './replica-lease.ts';

/** A cache that is a copy: whoever reads it first looks whether there is news of the one that it copies. */
export class ReplicaCache extends Cache {
  readonly #catchUp: () => void;

  constructor(options: CacheOptions, catchUp: () => void) {
    super(options);
    this.#catchUp = catchUp;
  }

  override get(key: string): CacheItem | undefined {
    this.#catchUp();
    return super.get(key);
  }

  override peekCurrent(key: string): CacheItem | undefined {
    this.#catchUp();
    return super.peekCurrent(key);
  }
}

/** An answer that was asked for, and comes beside the frames. */
export interface AwaitedAnswer {
  /** Applies the answer, packed when the frames were at this place. Returns what is served: that answer, or a newer one. */
  keep(payload: Buffer, at: number): CacheItem;
  /** Ends the wait. */
  end(): void;
}

/** Where the frames told something of a key that is waited for. */
interface AwaitedKey {
  waiting: number;
  /** The place of the last frame about it. */
  toldAt: number;
}

export interface ReplicaOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  /** Called with each newer slot at any commitment, after the cache has it. */
  readonly onTip: (tip: ReturnType<typeof unpackTip>) => void;
  /** Called with each answer that the pipeline keeps current. */
  readonly onLiveAnswer: (entry: Entry) => void;
}

/**
 * Makes a cache the copy of another process' cache, from frames in their order: its entries, the marks that date them, and
 * the ends of their leases. It keeps what was asked of it, and what is kept current for all; the rest it skips. `exact` is
 * granted for what the frames grant it for, and for nothing else.
 */
export class Replica implements ClaimGuard {
  readonly #options: ReplicaOptions;
  readonly #marks = new Map<number, Mark>();
  readonly #metas = new SharedMetas();
  readonly #granted = new WeakSet<CacheItem>();
  readonly #awaited = new Map<string, AwaitedKey>();
  #newestGranted: Slot = 0;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /** The newest slot at which any worker may have signed an answer as `exact`. */
  get newestGranted(): Slot {
    return this.#newestGranted;
  }

  /** Applies the frame at a place; skips types that it doesn't know. */
  apply(type: number, payload: Buffer, at: number): void {
    if (type === FRAME.tip) this.#applyTip(payload);
    else if (type === FRAME.mark) this.#applyMark(payload);
    else if (type === FRAME.over) this.#applyOver(payload, at);
    else if (type === FRAME.granted) this.#newestGranted = Math.max(this.#newestGranted, unpackGranted(payload));
    else if (type === FRAME.live || type === FRAME.answer) this.#applyAnswer(type, payload, at);
  }

  /**
   * Waits for an answer that comes beside the frames. They may tell meanwhile that its lease is over, when it is not here
   * yet: then it is dated no further than it says itself.
   */
  await(key: string): AwaitedAnswer {
    const awaited = this.#awaited.get(key) ?? { waiting: 0, toldAt: -1 };
    awaited.waiting++;
    this.#awaited.set(key, awaited);
    return {
      keep: (payload, at) => this.#keep(unpackAnswer(payload), awaited.toldAt >= at),
      end: () => {
        awaited.waiting--;
        if (awaited.waiting === 0) this.#awaited.delete(key);
      },
    };
  }

  /** Ends all leases, since nothing is heard of them any more: no entry is dated further. The next frames begin anew. */
  loseMarks(): void {
    for (const mark of this.#marks.values()) mark.state = 'lost';
    this.#marks.clear();
    for (const awaited of this.#awaited.values()) awaited.toldAt = -1;
  }

  grantClaim({ request, slot, digest }: ClaimRequest): Claim {
    const item = this.#options.cache.peek(request.slice('GET '.length));
    if (item === undefined || item.slot !== slot || item.digest !== digest) return 'observed';
    return this.#granted.has(item) ? 'exact' : 'observed';
  }

  #applyTip(payload: Buffer): void {
    const tip = unpackTip(payload);
    if (tip.commitment === 'processed') this.#options.cache.advanceTip(tip.slot);
    this.#options.onTip(tip);
  }

  #applyMark(payload: Buffer): void {
    const frame = unpackMark(payload);
    const mark = this.#markOf(frame.id);
    mark.update(frame, this.#options.clock.monotonic());
    if (frame.state === 'lost') this.#marks.delete(frame.id); // it never comes back; its leases still have it
    this.#options.cache.advanceHot(mark);
  }

  #markOf(id: number): Mark {
    const known = this.#marks.get(id);
    if (known !== undefined) return known;
    const mark = new Mark();
    this.#marks.set(id, mark);
    return mark;
  }

  #applyOver(payload: Buffer, at: number): void {
    const key = unpackOver(payload);
    this.#noteTold(key, at);
    const lease = this.#options.cache.peek(key)?.lease;
    if (lease instanceof ReplicaLease) lease.end();
  }

  #applyAnswer(type: number, payload: Buffer, at: number): void {
    const key = keyOfAnswer(payload);
    this.#noteTold(key, at);
    if (type === FRAME.live || this.#options.cache.peek(key) !== undefined) this.#put(unpackAnswer(payload));
  }

  #noteTold(key: string, at: number): void {
    const awaited = this.#awaited.get(key);
    if (awaited !== undefined) awaited.toldAt = at;
  }

  #keep(frame: AnswerFrame, isOutdated: boolean): CacheItem {
    if (!isOutdated) return this.#put(frame);
    const known = this.#options.cache.peek(frame.key);
    if (known?.kind === 'answer' && known.slot >= frame.slot) return known;
    return this.#put({ ...frame, lease: null });
  }

  #put(frame: AnswerFrame): CacheItem {
    const { cache } = this.#options;
    const item = this.#itemOf(frame);
    cache.publish(item);
    if (item.kind === 'answer' && frame.policy === 'live') this.#options.onLiveAnswer(item);
    const served = cache.peek(frame.key);
    return served === undefined || served.slot < item.slot || served.kind === 'slot-mark' ? item : served;
  }

  #itemOf(frame: AnswerFrame): CacheItem {
    const { cache, clock } = this.#options;
    const published = cache.peek(frame.key);
    const init = {
      key: published?.key ?? frame.key,
      slot: frame.slot,
      final: frame.final,
      policy: frame.policy,
      meta: this.#metas.share(frame.meta),
      tipAtFetch: frame.tipAtFetch,
      validatedMs: clock.monotonic() - frame.ageMs,
      lease: this.#leaseOf(frame.lease),
    };
    if (frame.refusal !== null) return newRefusal(frame.refusal, init);
    if (frame.result === null) return newSlotMark(init);
    const entry = newEntry(frame.result, init);
    entry.digest = frame.digest;
    if (frame.grant) this.#granted.add(entry);
    if (entry.meta.envelope === 'anchored') entry.body = anchoredBodyOf(entry);
    else if (frame.body !== null) {
      entry.body = frame.body;
      entry.sealedMs = cache.coarseNowMs - frame.sealedAgeMs;
    } else if (
      published?.kind === 'answer' &&
      published.slot === entry.slot &&
      published.result.toString() === frame.result
    )
      copyBody(published, entry);
    return entry;
  }

  #leaseOf(lease: AnswerFrame['lease']): ReplicaLease | undefined {
    if (lease === null) return undefined;
    const { cache } = this.#options;
    const marks = lease.marks.map((id) => this.#marks.get(id) ?? new Mark());
    return new ReplicaLease({ ...lease, marks, tip: () => cache.tip });
  }
}

/** Keeps the body of the same answer at the same slot: to sign it again would tell nothing new. */
function copyBody(from: Entry, to: Entry): void {
  to.body = from.body;
  to.compressed = from.compressed;
  to.sealedMs = from.sealedMs;
  to.digest = from.digest;
}
