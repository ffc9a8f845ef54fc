import { LRUCache } from 'lru-cache';
import type { Answer, Slot } from '../domain/answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { GatewayError } from '../domain/error.ts';
import type { Entry, Freshness, Label, Policy } from './entry.ts';
import { Floors } from './floors.ts';

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
export interface Origin {
  /** The tip when the upstream was asked. Default: the tip now. */
  readonly readAt?: Slot;
  /** Asks for it anew; never rejects. */
  readonly renew?: () => Promise<void>;
}

/** The length of a slot that the clusters aim at. https://solana.com/docs/terminology#slot */
export const SLOT_MS = 400;

/** Without a new slot for this many, the tip itself is in doubt. */
const STALLED_SLOTS = 5;

/** So far behind the tip an answer may be that is being renewed, or whose proof is lost, before others are asked. */
const NEAR_SLOTS = 8;

/** Memory beside the text: the entry, its key's slot in the map, the node of the list. */
const ENTRY_OVERHEAD = 400;

/** Answers by key, fresh by slot. A newer slot always wins, so no answer goes back in time. */
export class Cache {
  readonly maxStaleMs: number;
  #entries: LRUCache<string, Entry>;
  #clock: Clock;
  #tip: Slot = 0;
  /** The tip before: some slots are skipped. */
  #lastTip: Slot = 0;
  #tipMs: number;
  #nowMs: number;
  #stalled = true;
  /** The keys that were read since the tip moved, and during the slot before. */
  #hot: string[] = [];
  #lastHot: string[] = [];
  readonly #floors = new Floors();
  #hotKeys: number;
  #stage: ((next: Entry, shown: Entry | undefined) => boolean) | undefined;

  constructor({ clock, bytes, maxStaleSlots, hotKeys }: CacheOptions) {
    this.#clock = clock;
    this.#hotKeys = hotKeys;
    this.maxStaleMs = maxStaleSlots * SLOT_MS;
    this.#nowMs = clock.monotonic();
    this.#tipMs = Number.NEGATIVE_INFINITY;
    this.#entries = new LRUCache({
      maxSize: bytes,
      maxEntrySize: Math.ceil(bytes / 4),
      sizeCalculation: sizeOf,
      dispose: (entry, _, reason) => {
        if (reason === 'evict') this.#leave(entry);
      },
    });
  }

  /** The newest processed slot. */
  get tip(): Slot {
    return this.#tip;
  }

  /** Milliseconds since the tip last moved; infinite before the first slot. */
  get tipAgeMs(): number {
    return this.#clock.monotonic() - this.#tipMs;
  }

  /** True while the tip stands still for longer than slots explain: nothing can be called fresh then. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** Monotonic milliseconds at the last {@link tick}: good enough for ages in seconds, and free. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /** Tells the cache the newest slot. Slots never go back. */
  advance(slot: Slot): void {
    if (slot <= this.#tip) return;
    this.#lastTip = this.#tip;
    this.#tip = slot;
    this.#tipMs = this.#clock.monotonic();
    this.tick();
  }

  /** Lets the cache notice the passing of time; called a few times a second, so that a hit needs no clock. */
  tick(): void {
    this.#nowMs = this.#clock.monotonic();
    this.#stalled = this.#nowMs - this.#tipMs > STALLED_SLOTS * SLOT_MS;
  }

  /** The entry shown under this key, and a note that somebody wants it. */
  get(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.lastRead !== this.#tip) {
      entry.lastRead = this.#tip;
      entry.proof?.touch(this.#tip);
      if (this.#hot.length < this.#hotKeys) this.#hot.push(key);
    }
    return entry;
  }

  /** Was it read while this slot is the newest, or the one before was? */
  isHot({ lastRead }: Entry): boolean {
    return lastRead >= this.#lastTip;
  }

  peek(key: string): Entry | undefined {
    return this.#entries.peek(key);
  }

  /** True when the entry may be served as a hit. The one question on the hot path. */
  isFresh(entry: Entry): boolean {
    if (entry.final) return true;
    if (this.#stalled) return false;
    if (entry.policy === 'live') return this.#nowMs - entry.provenMs <= this.maxStaleMs;
    const state = entry.proof?.state;
    if (state === 'lost' || state === 'behind') return false;
    if (entry.renewing || entry.leaving) return this.#tip - entry.readAt < NEAR_SLOTS;
    if (entry.proof !== undefined) return state === 'live' && entry.proof.slot <= entry.slot;
    return this.#tip - entry.readAt < entry.policy.slots;
  }

  /** What may be done with an entry, for those that are not hits. */
  freshness(entry: Entry): Freshness {
    if (this.isFresh(entry)) return 'fresh';
    if (entry.refusal !== undefined) return 'expired';
    const { proof } = entry;
    const provenMs =
      entry.policy === 'live' ? Math.min(entry.provenMs, this.#tipMs) : (proof?.provenMs ?? entry.provenMs);
    if (this.#clock.monotonic() - provenMs > this.maxStaleMs) return 'expired';
    return this.#stalled || (proof?.state === 'lost' && proof.behindSlots <= NEAR_SLOTS) ? 'stale' : 'old';
  }

  /** The slot below which no answer to this question may go. */
  floor(key: string, commitment: Commitment): Slot | undefined {
    const kept = this.#entries.peek(key);
    return kept === undefined || kept.refusal !== undefined ? this.#floors.of(commitment) : kept.slot;
  }

  /** Keeps the newer of two answers: a node that lags must not turn time back. Returns what is kept. */
  put(key: string, answer: Answer<string>, policy: Policy, label: Label, origin: Origin = {}): Entry {
    const shown = this.#entries.peek(key);
    if (shown !== undefined && shown.refusal === undefined && shown.slot > answer.slot) return shown;
    const next: Entry = {
      key,
      slot: answer.slot,
      result: answer.result,
      final: answer.final ?? false,
      policy,
      label,
      readAt: origin.readAt ?? this.#tip,
      provenMs: this.#clock.monotonic(),
      proof: answer.proof,
      refusal: undefined,
      renew: origin.renew,
      body: undefined,
      compressed: undefined,
      digest: '',
      etag: '',
      sealedMs: 0,
      renewing: false,
      leaving: false,
      lastRead: shown?.lastRead ?? -1,
    };
    answer.proof?.onNews(key, () => this.#outdate(key));
    this.#succeed(next, shown);
    return next;
  }

  /** The same answer at the newest slot that its proof vouches for. Costs no question to anybody. */
  carry(entry: Entry): Entry {
    const { proof } = entry;
    if (proof === undefined || proof.slot <= entry.slot || entry.leaving) return entry;
    const { slot, provenMs } = proof;
    const next: Entry = {
      ...entry,
      slot,
      provenMs,
      readAt: this.#tip,
      body: undefined,
      compressed: undefined,
      renewing: false,
    };
    this.#succeed(next, entry);
    return next;
  }

  /** Keeps a refusal for some slots, so that asking for what isn't there can't hammer the upstream; a final one for good. */
  refuse(key: string, refusal: GatewayError, slots: number, label: Label): void {
    const shown = this.#entries.peek(key);
    if (shown !== undefined && shown.refusal === undefined) return;
    this.show({
      key,
      slot: this.#tip,
      result: '',
      final: refusal.final,
      policy: { slots },
      label,
      readAt: this.#tip,
      provenMs: this.#clock.monotonic(),
      proof: undefined,
      refusal,
      renew: undefined,
      body: undefined,
      compressed: undefined,
      digest: '',
      etag: '',
      sealedMs: 0,
      renewing: false,
      leaving: false,
      lastRead: this.#tip,
    });
  }

  /**
   * Lets `stage` hold back the next entry of a key until its body is ready, by returning true; it then calls
   * {@link show}. So a key that is read all the time always has a body at hand.
   */
  stageWith(stage: (next: Entry, shown: Entry | undefined) => boolean): void {
    this.#stage = stage;
  }

  /** Makes an entry the one that is served, unless a newer one is there already. */
  show(entry: Entry): void {
    const shown = this.#entries.peek(entry.key);
    if (shown !== undefined && shown.refusal === undefined && shown.slot > entry.slot) return;
    if (shown !== undefined) entry.lastRead = Math.max(entry.lastRead, shown.lastRead); // it was read meanwhile
    this.#entries.set(entry.key, entry);
    if (!this.#entries.has(entry.key))
      this.#leave(entry); // larger than any entry may be
    else if (entry.proof?.state === 'live' && this.isHot(entry)) this.carry(entry); // what moved while it was held back
  }

  /** Asks anew for what was read since the last call and has no proof, before its next reader comes. */
  renewHot(): void {
    this.#lastHot = this.#hot;
    this.#hot = [];
    for (const key of this.#lastHot) {
      const entry = this.#entries.peek(key);
      if (entry?.proof?.state !== 'live') this.#renew(entry);
    }
  }

  /** Carries on what is being read, when its proofs have moved. */
  carryHot(): void {
    for (const keys of [this.#lastHot, this.#hot]) {
      for (const key of keys) {
        const entry = this.#entries.peek(key);
        if (entry?.proof?.state === 'live') this.carry(entry);
      }
    }
  }

  /** Shows the next entry of a key, now or when its body is ready. */
  #succeed(next: Entry, shown: Entry | undefined): void {
    if (this.#stage?.(next, shown) !== true) this.show(next);
    else if (shown !== undefined) shown.leaving = true;
  }

  /** There is news of an entry: whoever reads it all the time has the new one before he comes again. */
  #outdate(key: string): void {
    const entry = this.#entries.peek(key);
    if (entry !== undefined && this.isHot(entry)) this.#renew(entry);
  }

  #renew(entry: Entry | undefined): void {
    if (entry?.renew === undefined || entry.renewing) return;
    entry.renewing = true;
    void entry.renew().finally(() => {
      entry.renewing = false;
    });
  }

  #leave(entry: Entry): void {
    if (entry.refusal === undefined) this.#floors.raise(entry.label.commitment, entry.slot);
  }
}

/** In bytes; the body and its compressed forms are counted from the start, since most entries get them. */
const sizeOf = (entry: Entry): number => ENTRY_OVERHEAD + entry.key.length * 2 + entry.result.length * 3 + 600;
