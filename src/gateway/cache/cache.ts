import { agreedAt } from '../../shared/domain/agreement.ts';
import type { Answer } from '../../shared/domain/answer.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { COMMITMENTS, type Commitment } from '../../shared/domain/commitment.ts';
import type { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Lease, LeaseListener, LeaseSource } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { TemplatedText } from '../../shared/runtime/templated-text.ts';
import {
  type AnswerMeta,
  type CacheItem,
  type CachePolicy,
  type Entry,
  type EntryStatus,
  newEntry,
  newRefusal,
  newSlotMark,
  redatedEntry,
  type TimedPolicy,
} from './entry.ts';
import { isFresh, statusOf } from './freshness.ts';
import { HotKeys } from './hot-keys.ts';
import { type KeyRecord, LruItems } from './lru-items.ts';
import { Tip } from './tip.ts';

export interface CacheOptions {
  readonly clock: Clock;
  readonly bytes: number;
  /** The age in milliseconds up to which an answer is served after it was last validated. */
  readonly maxStaleMs: number;
  /** The most keys that are remembered as hot, per slot. */
  readonly hotKeys: number;
  /** Called before an item is read: a copy checks whether the cache that it copies has changed. */
  readonly beforeRead?: () => void;
}

export interface FetchInfo {
  /** The tip when the request was sent upstream. Default: the tip now. */
  readonly tipAtFetch?: Slot;
  readonly refresher?: Entry['refresher'];
}

/** Receives what the cache serves; for its copies in other processes. */
export interface CacheObserver {
  onPublished(item: CacheItem): void;
  /** Called when the lease of the answer that is served under the key is revoked, or is no longer observed. */
  onLeaseEnded(key: string): void;
  /** Called when the answers are dropped for which one operator alone vouches. */
  onUnagreedDropped(): void;
}

/** The time without a new slot, in milliseconds, after which the tip counts as stalled. */
const MAX_STALL_MS = 2000;

/** The memory of an entry without its text: the object, its place in the map and in the LRU list. */
const ENTRY_OVERHEAD_BYTES = 400;

/** The cached answers by key, each with the slot at which it holds. A newer slot always wins: no answer goes back in time. */
export class Cache {
  readonly maxStaleMs: number;
  readonly maxBytes: number;
  /** The reads that the hit path didn't answer, by where their answers came from. */
  readonly reads = { hit: 0, miss: 0, stale: 0, bypass: 0, joined: 0 };
  evictions = 0;
  /** How often {@link dropUnagreed} was called: an answer that was read before may be made of what it drops. */
  unagreedDrops = 0;
  readonly #clock: Clock;
  readonly #items: LruItems;
  readonly #tip: Tip;
  readonly #hotKeys: HotKeys;
  readonly #beforeRead: (() => void) | undefined;
  /** For all evicted keys of a commitment together: the slot may be higher than a key needs, and never lower. */
  readonly #floors = new Map<Commitment, Slot>();
  /** Refreshes a hot entry whose lease was revoked, so that its readers needn't wait. */
  readonly #leaseListener: LeaseListener = {
    onRevoked: (key) => {
      this.#observer?.onLeaseEnded(key);
      const entry = this.peek(key);
      if (entry !== undefined && this.isHot(entry)) this.#refresh(entry);
    },
  };
  #holdBack: ((next: Entry, published: CacheItem | undefined) => boolean) | undefined;
  #observer: CacheObserver | undefined;

  constructor({ clock, bytes, maxStaleMs, hotKeys, beforeRead }: CacheOptions) {
    this.#beforeRead = beforeRead;
    this.#clock = clock;
    this.maxStaleMs = maxStaleMs;
    this.#tip = new Tip(clock, MAX_STALL_MS);
    this.#hotKeys = new HotKeys(hotKeys);
    this.maxBytes = bytes;
    this.#items = new LruItems({
      maxBytes: bytes,
      maxItemBytes: Math.ceil(bytes / 4),
      sizeOf: entrySizeBytes,
      onEvicted: (item) => {
        this.evictions++;
        this.#onEvicted(item);
      },
    });
  }

  get tip(): Slot {
    return this.#tip.slot;
  }

  /** Milliseconds since the tip last moved; infinite before the first slot. */
  get tipAgeMs(): number {
    return this.#clock.monotonic() - this.#tip.advancedMs;
  }

  /** True after a time without a new slot that skipped slots don't explain: nothing is fresh then. */
  get isStalled(): boolean {
    return this.#tip.isStalled;
  }

  /** Monotonic milliseconds at the last {@link tick}: precise enough for ages in seconds, without a system call. */
  get coarseNowMs(): number {
    return this.#tip.coarseNowMs;
  }

  get entryCount(): number {
    return this.#items.size;
  }

  get sizeBytes(): number {
    return this.#items.bytes;
  }

  /** Advances the tip to the newest slot. It never goes back. */
  advanceTip(slot: Slot): void {
    this.#tip.advance(slot);
  }

  /** Updates the coarse time; called a few times a second, so that a hit needs no clock. */
  tick(): void {
    this.#tip.tick();
  }

  /** Returns the item of a key, an answer re-dated to the newest slot that its lease covers, and records the read. */
  get(key: string): CacheItem | undefined {
    this.#beforeRead?.();
    const record = this.#items.find(key);
    if (record === undefined) return undefined;
    if (record.item.tipAtLastRead !== this.#tip.slot) this.#recordRead(record);
    return this.#advanceToLease(record);
  }

  /** Returns true for an entry that was read at this tip or at the one before. */
  isHot({ tipAtLastRead }: CacheItem): boolean {
    return tipAtLastRead >= this.#tip.previous;
  }

  peek(key: string): CacheItem | undefined {
    return this.#items.find(key)?.item;
  }

  /** Returns what is served last under the key, be it held back: readers may wait for its body. */
  peekLast(key: string): CacheItem | undefined {
    const item = this.peek(key);
    return item?.successor ?? item;
  }

  peekCurrent(key: string): CacheItem | undefined {
    this.#beforeRead?.();
    const record = this.#items.find(key);
    return record && this.#advanceToLease(record);
  }

  /** Returns true when the entry may be served as a hit. The only check on the hot path. */
  isFresh(entry: CacheItem): boolean {
    return isFresh(entry, this.#tip, this.maxStaleMs);
  }

  /** Replaces an answer that is not fresh from live state. Returns the new one; undefined if its reader has to wait. */
  renew(entry: Entry): Entry | undefined {
    if (this.#tip.isStalled || entry.refresher?.refreshNow?.(entry.key) !== true) return undefined;
    const last = this.peekLast(entry.key);
    return last?.kind === 'answer' && this.isFresh(last) ? last : undefined;
  }

  /** Returns how an entry may be used, for requests that are not hits. */
  statusOf(entry: CacheItem): EntryStatus {
    return statusOf(entry, this.#tip, this.maxStaleMs, this.#clock.monotonic());
  }

  observeWith(observer: CacheObserver): void {
    this.#observer = observer;
  }

  /** Raises the floors of all keys that have no entry: another process has served answers up to these slots. */
  raiseFloors(slots: Readonly<Partial<Record<Commitment, Slot>>>): void {
    for (const commitment of COMMITMENTS) raise(this.#floors, commitment, slots[commitment] ?? 0);
  }

  *liveItems(): Iterable<CacheItem> {
    for (const item of this.#items) if (item.policy === 'live') yield item;
  }

  newestSlots(): Partial<Record<Commitment, Slot>> {
    const newest = new Map(this.#floors);
    for (const { slot, meta, kind } of this.#items) if (kind !== 'refusal') raise(newest, meta.commitment, slot);
    return Object.fromEntries(newest);
  }

  /** Returns the slot below which no later answer for a key may be (I7). */
  floor(key: string, commitment: Commitment): Slot | undefined {
    const last = this.peekLast(key);
    return last === undefined || last.kind === 'refusal' ? this.#floors.get(commitment) : last.slot;
  }

  put(
    key: string,
    answer: Answer<string | Buffer>,
    policy: CachePolicy,
    meta: AnswerMeta,
    fetchInfo: FetchInfo = {},
  ): Entry {
    const published = this.peek(key);
    const last = this.peekLast(key);
    const isOvertaken = isNewer(last, answer.slot);
    if (isOvertaken && last?.kind === 'answer') return last;
    const next = newEntry(answer.result, {
      key: published?.key ?? key, // one text for all answers
      slot: answer.slot,
      final: answer.final,
      policy,
      meta,
      tipAtFetch: fetchInfo.tipAtFetch ?? this.#tip.slot,
      validatedMs: this.#clock.monotonic(),
      lease: answer.lease,
      provenFrom: answer.provenFrom,
      agreement: answer.agreement,
      refresher: fetchInfo.refresher,
      tipAtLastRead: published?.tipAtLastRead,
    });
    if (isOvertaken) return next;
    this.#releaseLease(published);
    answer.lease?.onRevoked(next.key, this.#leaseListener);
    this.#replace(next, published);
    return next;
  }

  /** Returns an answer as an entry that is served once and not cached; only its slot is remembered. */
  passBy(key: string, answer: Answer<string | Buffer>, meta: AnswerMeta): Entry {
    const { slot, result, agreement, provenFrom } = answer;
    this.putSlotMark(key, slot, meta);
    const validatedMs = this.#clock.monotonic();
    const tipAtFetch = this.#tip.slot;
    return newEntry(result, { key, slot, policy: { slots: 0 }, meta, tipAtFetch, validatedMs, agreement, provenFrom });
  }

  /** Remembers the slot of an answer that was served but isn't cached, so that no later one under its key is older (I7). */
  putSlotMark(key: string, slot: Slot, meta: AnswerMeta): void {
    if (isNewer(this.peekLast(key), slot)) return;
    this.#releaseLease(this.peek(key));
    const validatedMs = this.#clock.monotonic();
    this.publish(newSlotMark({ key, slot, policy: { slots: 0 }, meta, tipAtFetch: this.#tip.slot, validatedMs }));
  }

  /**
   * Caches a refusal for some slots or some time, a final one for good, so that requests for missing data don't reach the upstream. It
   * answers requests with a minimum slot up to `slot`, which its node had reached, and those that demand up to `agreed` operators. It
   * replaces an answer that is neither fresh nor newer.
   */
  putRefusal(key: string, refusal: GatewayError, policy: TimedPolicy, meta: AnswerMeta, slot = 0, agreed = 1): void {
    const published = this.peek(key);
    if (isNewer(published, slot)) return;
    if (published !== undefined && published.kind !== 'refusal') {
      if (published.kind === 'slot-mark' || this.isFresh(published)) return;
      this.#onEvicted(published);
    }
    const tip = this.#tip.slot;
    this.publish(
      newRefusal(refusal, {
        key,
        slot,
        final: refusal.final,
        policy,
        meta,
        agreement: { slot, agreed, read: agreed, needed: agreed },
        tipAtFetch: tip,
        validatedMs: this.#clock.monotonic(),
        tipAtLastRead: tip,
      }),
    );
  }

  /**
   * When `holdBack` returns true, it calls {@link publish} once the body is ready, with the {@link unagreedDrops} of now: so a hot
   * key always has a body.
   */
  holdBackWith(holdBack: (next: Entry, published: CacheItem | undefined) => boolean): void {
    this.#holdBack = holdBack;
  }

  /** Publishes an item, unless {@link dropUnagreed} has dropped what is as little vouched for since it was held back. */
  publish(item: CacheItem, unagreedDrops = this.unagreedDrops): void {
    if (unagreedDrops === this.unagreedDrops || !isUnagreed(item)) this.#publish(item, this.peek(item.key));
  }

  #publish(item: CacheItem, published: CacheItem | undefined): void {
    if (isNewer(published, item.slot)) return;
    if (published !== undefined) item.tipAtLastRead = Math.max(item.tipAtLastRead, published.tipAtLastRead); // it may be newer
    this.#items.set(item);
    this.#observer?.onPublished(item);
    if (item.kind === 'answer' && this.isHot(item)) this.#advanceHot(item); // its lease may have advanced while it was held back
  }

  /** If the lease covers a newer slot, the answer's next reader gets another body. Returns false where it doesn't. */
  removeSpentBody(key: string): boolean {
    const item = this.peek(key);
    if (item?.lease === undefined || item.successor !== undefined) return false;
    if (item.lease.slot <= item.slot || item.lease.state === 'revoked') return false;
    item.body = undefined;
    item.compressed = undefined;
    return true;
  }

  /** Drops what one operator alone vouches for, since one has lied. */
  dropUnagreed(): void {
    this.unagreedDrops++;
    this.#observer?.onUnagreedDropped();
    for (const item of [...this.#items]) {
      if (item.successor !== undefined && isUnagreed(item.successor)) item.successor = undefined;
      if (!isUnagreed(item)) continue;
      this.#onEvicted(item);
      this.#items.delete(item.key);
    }
  }

  /** Returns the keys that were read since the last call, and are likely to be read again. */
  rotateHotKeys(): readonly string[] {
    return this.#hotKeys.rotate();
  }

  /**
   * Refreshes the entries that were read since the last call and have no active lease, before their next readers come. Called with
   * each slot; what is fresh for some time is refreshed in the last `slotTimeMs` of it.
   */
  refreshHot(slotTimeMs: number): void {
    for (const key of this.rotateHotKeys()) {
      const entry = this.peek(key);
      if (entry === undefined || entry.policy === 'live') continue;
      const { lease, policy, validatedMs } = entry;
      if (lease?.state === 'active' || lease?.state === 'renewing') continue; // that one is read soon, with many others
      if (policy.ms === undefined || validatedMs + policy.ms - this.#tip.coarseNowMs <= slotTimeMs)
        this.#refresh(entry);
    }
  }

  advanceHot(source: LeaseSource): void {
    for (const key of this.#hotKeys.datedBy(source)) {
      const entry = this.peek(key);
      if (entry?.kind === 'answer') this.#advanceHot(entry);
    }
  }

  #recordRead(record: KeyRecord): void {
    const { item } = record;
    const { slot } = this.#tip;
    if (isReadOften(item, this.#tip)) this.#hotKeys.record(item.key, item.lease?.sources);
    item.tipAtLastRead = slot;
    item.lease?.recordRead(slot);
    this.#items.touch(record);
  }

  /** Re-dates an answer to the newest slot that its lease covers. Its body is made at its next read. */
  #advanceToLease(record: KeyRecord): CacheItem {
    const { item } = record;
    const { lease } = item;
    if (lease === undefined || item.kind !== 'answer') return item;
    if (lease.slot <= item.slot || item.successor !== undefined || lease.state === 'revoked') return item;
    const next = this.#redated(item, lease);
    record.item = next;
    return next;
  }

  #redated(
    entry: Entry,
    { slot, validatedMs, provenFrom = entry.provenFrom, agreement = entry.agreement }: Lease,
  ): Entry {
    const earliest = Math.min(provenFrom, entry.provenFrom); // both prove the same state
    return redatedEntry(entry, { slot, validatedMs, tipAtFetch: this.#tip.slot, provenFrom: earliest, agreement });
  }

  /** Re-dates an entry that is likely to be read, when its body is ready. */
  #advanceHot(entry: Entry): void {
    const { lease } = entry;
    if (lease?.state !== 'active' || lease.slot <= entry.slot || entry.successor !== undefined) return;
    this.#replace(this.#redated(entry, lease), entry);
  }

  #replace(next: Entry, published: CacheItem | undefined): void {
    if (this.#holdBack?.(next, published) !== true) this.#publish(next, published);
    else if (published !== undefined) published.successor = next;
  }

  #refresh(entry: CacheItem | undefined): void {
    if (entry?.refresher === undefined || entry.isRefreshing) return;
    if (entry.refresher.refreshNow?.(entry.key) === true) return;
    entry.isRefreshing = true;
    void entry.refresher.refresh(entry.key).finally(() => {
      entry.isRefreshing = false;
    });
  }

  #releaseLease(item: CacheItem | undefined): void {
    if (item?.lease === undefined) return;
    item.lease.offRevoked(item.key);
    this.#observer?.onLeaseEnded(item.key);
  }

  #onEvicted(item: CacheItem): void {
    this.#releaseLease(item);
    if (item.kind !== 'refusal') raise(this.#floors, item.meta.commitment, item.slot);
  }
}

function raise(floors: Map<Commitment, Slot>, commitment: Commitment, slot: Slot): void {
  if (slot > (floors.get(commitment) ?? -1)) floors.set(commitment, slot);
}

/** True if the next reader is likely to come while an answer that is read now is fresh: leases need no reads. */
const isReadOften = (
  { lease, meta, policy, tipAtLastRead, tipAtFetch, validatedMs }: CacheItem,
  { slot, coarseNowMs }: Pick<Tip, 'slot' | 'coarseNowMs'>,
): boolean => {
  if (meta.isPast === true) return false; // it doesn't change
  if (lease !== undefined || policy === 'live') return true;
  if (policy.ms !== undefined) return coarseNowMs - validatedMs <= policy.ms;
  return slot - Math.max(tipAtLastRead, tipAtFetch) <= policy.slots;
};

/** Returns true if an answer after this slot was served under the key. Refusals have no part in the order of answers. */
const isNewer = (item: CacheItem | undefined, slot: Slot): boolean =>
  item !== undefined && item.kind !== 'refusal' && item.slot > slot;

/** Returns true for what one operator alone vouches for. What the pipeline keeps is soon replaced; a mark has no content. */
const isUnagreed = ({ kind, policy, agreement, slot }: CacheItem): boolean =>
  policy !== 'live' && kind !== 'slot-mark' && (kind === 'refusal' || agreedAt(agreement, slot) <= 1);

const REFUSAL_BYTES = 600;
const RECEIPT_LENGTH = 600;

/** The shortest body worth compressing, in bytes: shorter ones gain less than the extra header costs. */
export const MIN_COMPRESSIBLE_BYTES = 1024;

/** What the two compressed forms of a body together have at most of its length. */
const COMPRESSED_SHARE = 1.5; // base64 of random bytes, which is the worst that nodes send

/** Estimates the memory of an entry in bytes, including the body and its compressed forms, which most entries get later. */
function entrySizeBytes({ key, result, resultBytes }: CacheItem): number {
  const ownBytes = ENTRY_OVERHEAD_BYTES + key.length * 2;
  if (result === undefined) return ownBytes + REFUSAL_BYTES;
  const bodyBytes = resultBytes + RECEIPT_LENGTH;
  const compressedBytes = bodyBytes >= MIN_COMPRESSIBLE_BYTES ? bodyBytes * COMPRESSED_SHARE : 0;
  const textBytes = result instanceof TemplatedText ? result.ownLength : textSizeBytes(result, resultBytes);
  return Math.ceil(ownBytes + textBytes + Math.max(bodyBytes, textBytes) + compressedBytes);
}

/** V8 stores a text with one character beyond Latin-1 as two bytes for each. */
const textSizeBytes = ({ length }: string | Buffer, utf8Bytes: number): number =>
  utf8Bytes === length ? length : length * 2;
