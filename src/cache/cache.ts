import { LRUCache } from 'lru-cache';
import type { Answer } from '../domain/answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import { SLOT_MS, type Slot } from '../domain/slot.ts';
import { type AnswerMeta, type CachePolicy, type Entry, type EntryStatus, newEntry } from './entry.ts';
import { HotKeys } from './hot-keys.ts';
import { MonotonicFloors } from './monotonic-floors.ts';
import { Tip } from './tip.ts';

export interface CacheOptions {
  readonly clock: Clock;
  /** Bound on the memory of all entries together. */
  readonly bytes: number;
  /** For how many slots, counted by the clock, an answer may outlive the newest proof that it holds. */
  readonly maxStaleSlots: number;
  /** How many keys are remembered per slot as hot. */
  readonly hotKeys: number;
}

/** Where an answer comes from. */
export interface FetchInfo {
  /** The tip when the upstream was asked. Default: the tip now. */
  readonly tipAtFetch?: Slot;
  /** Asks for it anew; never rejects. */
  readonly refresh?: () => Promise<void>;
}

/** Without a new slot for this many, the tip itself is in doubt. */
const MAX_STALL_SLOTS = 5;

/** So far behind the tip an answer may be that is being renewed, or whose proof is lost, before others are asked. */
const MAX_REFRESH_LAG_SLOTS = 8;

/** Memory beside the text: the entry, its key's slot in the map, the node of the list. */
const ENTRY_OVERHEAD_BYTES = 400;

/** Answers by key, fresh by slot. A newer slot always wins, so no answer goes back in time. */
export class Cache {
  readonly maxStaleMs: number;
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;
  readonly #tip: Tip;
  readonly #hotKeys: HotKeys;
  readonly #floors = new MonotonicFloors();
  #holdBack: ((next: Entry, shown: Entry | undefined) => boolean) | undefined;

  constructor({ clock, bytes, maxStaleSlots, hotKeys }: CacheOptions) {
    this.#clock = clock;
    this.maxStaleMs = maxStaleSlots * SLOT_MS;
    this.#tip = new Tip(clock, MAX_STALL_SLOTS * SLOT_MS);
    this.#hotKeys = new HotKeys(hotKeys);
    this.#entries = new LRUCache({
      maxSize: bytes,
      maxEntrySize: Math.ceil(bytes / 4),
      sizeCalculation: entrySizeBytes,
      dispose: (entry, _, reason) => {
        if (reason === 'evict') this.#onEvicted(entry);
      },
    });
  }

  /** The newest processed slot. */
  get tip(): Slot {
    return this.#tip.slot;
  }

  /** Milliseconds since the tip last moved; infinite before the first slot. */
  get tipAgeMs(): number {
    return this.#clock.monotonic() - this.#tip.advancedMs;
  }

  /** True while the tip stands still for longer than slots explain: nothing can be called fresh then. */
  get isStalled(): boolean {
    return this.#tip.isStalled;
  }

  /** Monotonic milliseconds at the last {@link tick}: good enough for ages in seconds, and free. */
  get coarseNowMs(): number {
    return this.#tip.coarseNowMs;
  }

  get entryCount(): number {
    return this.#entries.size;
  }

  get sizeBytes(): number {
    return this.#entries.calculatedSize;
  }

  /** Tells the cache the newest slot. Slots never go back. */
  advanceTip(slot: Slot): void {
    this.#tip.advance(slot);
  }

  /** Lets the cache notice the passing of time; called a few times a second, so that a hit needs no clock. */
  tick(): void {
    this.#tip.tick();
  }

  /** The entry shown under this key, and a note that somebody wants it. */
  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    const { slot } = this.#tip;
    if (entry !== undefined && entry.tipAtLastRead !== slot) {
      entry.tipAtLastRead = slot;
      entry.lease?.recordRead(slot);
      this.#hotKeys.record(key);
    }
    return entry;
  }

  /** Was it read while this slot is the newest, or the one before was? */
  isHot({ tipAtLastRead }: Entry): boolean {
    return tipAtLastRead >= this.#tip.previous;
  }

  peek(key: string): Entry | undefined {
    return this.#entries.peek(key);
  }

  /** True when the entry may be served as a hit. The one question on the hot path. */
  isFresh(entry: Entry): boolean {
    if (entry.final) return true;
    if (this.#tip.isStalled) return false;
    if (entry.policy === 'live') return this.#tip.coarseNowMs - entry.validatedMs <= this.maxStaleMs;
    const state = entry.lease?.state;
    if (state === 'lost' || state === 'behind') return false;
    if (entry.isRefreshing || entry.isReplaced) return this.#tip.slot - entry.tipAtFetch < MAX_REFRESH_LAG_SLOTS;
    if (entry.lease !== undefined) return state === 'active' && entry.lease.slot <= entry.slot;
    return this.#tip.slot - entry.tipAtFetch < entry.policy.slots;
  }

  /** What may be done with an entry, for those that are not hits. */
  statusOf(entry: Entry): EntryStatus {
    if (this.isFresh(entry)) return 'fresh';
    if (entry.refusal !== undefined) return 'expired';
    const { lease } = entry;
    const provenMs =
      entry.policy === 'live'
        ? Math.min(entry.validatedMs, this.#tip.advancedMs)
        : (lease?.validatedMs ?? entry.validatedMs);
    if (this.#clock.monotonic() - provenMs > this.maxStaleMs) return 'expired';
    if (isTentative(entry) && entry.tipAtFetch < this.#tip.slot) return 'expired';
    return this.#tip.isStalled || (lease?.state === 'lost' && lease.lagSlots <= MAX_REFRESH_LAG_SLOTS)
      ? 'stale'
      : 'old';
  }

  /** The slot below which no answer to this question may go. */
  floor(key: string, commitment: Commitment): Slot | undefined {
    const cached = this.#entries.peek(key);
    return cached === undefined || cached.refusal !== undefined ? this.#floors.of(commitment) : cached.slot;
  }

  /** Keeps the newer of two answers: a node that lags must not turn time back. Returns what is kept. */
  put(key: string, answer: Answer<string>, policy: CachePolicy, meta: AnswerMeta, fetchInfo: FetchInfo = {}): Entry {
    const published = this.#entries.peek(key);
    if (published !== undefined && published.refusal === undefined && published.slot > answer.slot) return published;
    const next = newEntry(key, answer, {
      policy,
      meta,
      tipAtFetch: fetchInfo.tipAtFetch ?? this.#tip.slot,
      validatedMs: this.#clock.monotonic(),
      refresh: fetchInfo.refresh,
      tipAtLastRead: published?.tipAtLastRead ?? -1,
    });
    published?.lease?.offRevoked(key);
    answer.lease?.onRevoked(key, () => this.#onRevoked(key));
    this.#replace(next, published);
    return next;
  }

  /** The same answer at the newest slot that its proof vouches for. Costs no question to anybody. */
  advanceToLease(entry: Entry): Entry {
    const { lease } = entry;
    if (lease === undefined || lease.slot <= entry.slot || entry.isReplaced || lease.state === 'revoked') return entry;
    const { slot, validatedMs } = lease;
    const next: Entry = {
      ...entry,
      slot,
      validatedMs,
      tipAtFetch: this.#tip.slot,
      body: undefined,
      compressed: undefined,
      isRefreshing: false,
    };
    this.#replace(next, entry);
    return next;
  }

  /** Keeps a refusal for some slots, so that asking for what isn't there can't hammer the upstream; a final one for good. */
  putRefusal(key: string, refusal: GatewayError, slots: number, meta: AnswerMeta): void {
    const published = this.#entries.peek(key);
    if (published !== undefined && published.refusal === undefined) return;
    const { slot } = this.#tip;
    const answer = { slot, result: '', final: refusal.final };
    const validatedMs = this.#clock.monotonic();
    this.publish(
      newEntry(key, answer, { policy: { slots }, meta, tipAtFetch: slot, validatedMs, refusal, tipAtLastRead: slot }),
    );
  }

  /**
   * Lets `stage` hold back the next entry of a key until its body is ready, by returning true; it then calls
   * {@link publish}. So a key that is read all the time always has a body at hand.
   */
  holdBackWith(holdBack: (next: Entry, published: Entry | undefined) => boolean): void {
    this.#holdBack = holdBack;
  }

  /** Makes an entry the one that is served, unless a newer one is there already. */
  publish(entry: Entry): void {
    const published = this.#entries.peek(entry.key);
    if (published !== undefined && published.refusal === undefined && published.slot > entry.slot) return;
    if (published !== undefined) entry.tipAtLastRead = Math.max(entry.tipAtLastRead, published.tipAtLastRead); // it was read meanwhile
    this.#entries.set(entry.key, entry);
    if (!this.#entries.has(entry.key))
      this.#onEvicted(entry); // larger than any entry may be
    else if (entry.lease?.state === 'active' && this.isHot(entry)) this.advanceToLease(entry); // what moved while it was held back
  }

  /** Asks anew for what was read since the last call and has no proof, before its next reader comes. */
  refreshHot(): void {
    for (const key of this.#hotKeys.rotate()) {
      const entry = this.#entries.peek(key);
      if (entry?.lease?.state !== 'active') this.#refresh(entry);
    }
  }

  /** Carries on what is being read, when its proofs have moved. */
  advanceHot(): void {
    for (const key of this.#hotKeys.all()) {
      const entry = this.#entries.peek(key);
      if (entry?.lease?.state === 'active') this.advanceToLease(entry);
    }
  }

  /** Shows the next entry of a key, now or when its body is ready. */
  #replace(next: Entry, published: Entry | undefined): void {
    if (this.#holdBack?.(next, published) !== true) this.publish(next);
    else if (published !== undefined) published.isReplaced = true;
  }

  /** There is news of an entry: whoever reads it all the time has the new one before he comes again. */
  #onRevoked(key: string): void {
    const entry = this.#entries.peek(key);
    if (entry !== undefined && this.isHot(entry)) this.#refresh(entry);
  }

  #refresh(entry: Entry | undefined): void {
    if (entry?.refresh === undefined || entry.isRefreshing) return;
    entry.isRefreshing = true;
    void entry.refresh().finally(() => {
      entry.isRefreshing = false;
    });
  }

  #onEvicted(entry: Entry): void {
    entry.lease?.offRevoked(entry.key);
    if (entry.refusal === undefined) this.#floors.raise(entry.meta.commitment, entry.slot);
  }
}

/** A processed state may be taken back with the next slot. */
const isTentative = ({ policy, meta }: Entry): boolean => policy !== 'live' && meta.commitment === 'processed';

/** In bytes; the body and its compressed forms are counted from the start, since most entries get them. */
const entrySizeBytes = (entry: Entry): number =>
  ENTRY_OVERHEAD_BYTES + entry.key.length * 2 + entry.result.length * 3 + 600;
