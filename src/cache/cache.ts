import { LRUCache } from 'lru-cache';
import type { Answer } from '../domain/answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { GatewayError } from '../domain/error.ts';
import { SLOT_MS, type Slot } from '../domain/slot.ts';
import { type Entry, type Freshness, type Label, newEntry, type Policy } from './entry.ts';
import { Floors } from './floors.ts';
import { HotKeys } from './hot-keys.ts';
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
export interface Origin {
  /** The tip when the upstream was asked. Default: the tip now. */
  readonly readAt?: Slot;
  /** Asks for it anew; never rejects. */
  readonly renew?: () => Promise<void>;
}

/** Without a new slot for this many, the tip itself is in doubt. */
const STALLED_SLOTS = 5;

/** So far behind the tip an answer may be that is being renewed, or whose proof is lost, before others are asked. */
const NEAR_SLOTS = 8;

/** Memory beside the text: the entry, its key's slot in the map, the node of the list. */
const ENTRY_OVERHEAD = 400;

/** Answers by key, fresh by slot. A newer slot always wins, so no answer goes back in time. */
export class Cache {
  readonly maxStaleMs: number;
  readonly #clock: Clock;
  readonly #entries: LRUCache<string, Entry>;
  readonly #tip: Tip;
  readonly #hot: HotKeys;
  readonly #floors = new Floors();
  #stage: ((next: Entry, shown: Entry | undefined) => boolean) | undefined;

  constructor({ clock, bytes, maxStaleSlots, hotKeys }: CacheOptions) {
    this.#clock = clock;
    this.maxStaleMs = maxStaleSlots * SLOT_MS;
    this.#tip = new Tip(clock, STALLED_SLOTS * SLOT_MS);
    this.#hot = new HotKeys(hotKeys);
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
    return this.#tip.slot;
  }

  /** Milliseconds since the tip last moved; infinite before the first slot. */
  get tipAgeMs(): number {
    return this.#clock.monotonic() - this.#tip.movedMs;
  }

  /** True while the tip stands still for longer than slots explain: nothing can be called fresh then. */
  get stalled(): boolean {
    return this.#tip.stalled;
  }

  /** Monotonic milliseconds at the last {@link tick}: good enough for ages in seconds, and free. */
  get nowMs(): number {
    return this.#tip.nowMs;
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  /** Tells the cache the newest slot. Slots never go back. */
  advance(slot: Slot): void {
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
    if (entry !== undefined && entry.lastRead !== slot) {
      entry.lastRead = slot;
      entry.proof?.touch(slot);
      this.#hot.note(key);
    }
    return entry;
  }

  /** Was it read while this slot is the newest, or the one before was? */
  isHot({ lastRead }: Entry): boolean {
    return lastRead >= this.#tip.before;
  }

  peek(key: string): Entry | undefined {
    return this.#entries.peek(key);
  }

  /** True when the entry may be served as a hit. The one question on the hot path. */
  isFresh(entry: Entry): boolean {
    if (entry.final) return true;
    if (this.#tip.stalled) return false;
    if (entry.policy === 'live') return this.#tip.nowMs - entry.provenMs <= this.maxStaleMs;
    const state = entry.proof?.state;
    if (state === 'lost' || state === 'behind') return false;
    if (entry.renewing || entry.leaving) return this.#tip.slot - entry.readAt < NEAR_SLOTS;
    if (entry.proof !== undefined) return state === 'live' && entry.proof.slot <= entry.slot;
    return this.#tip.slot - entry.readAt < entry.policy.slots;
  }

  /** What may be done with an entry, for those that are not hits. */
  freshness(entry: Entry): Freshness {
    if (this.isFresh(entry)) return 'fresh';
    if (entry.refusal !== undefined) return 'expired';
    const { proof } = entry;
    const provenMs =
      entry.policy === 'live' ? Math.min(entry.provenMs, this.#tip.movedMs) : (proof?.provenMs ?? entry.provenMs);
    if (this.#clock.monotonic() - provenMs > this.maxStaleMs) return 'expired';
    if (isPassing(entry) && entry.readAt < this.#tip.slot) return 'expired';
    return this.#tip.stalled || (proof?.state === 'lost' && proof.behindSlots <= NEAR_SLOTS) ? 'stale' : 'old';
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
    const next = newEntry(key, answer, {
      policy,
      label,
      readAt: origin.readAt ?? this.#tip.slot,
      provenMs: this.#clock.monotonic(),
      renew: origin.renew,
      lastRead: shown?.lastRead ?? -1,
    });
    shown?.proof?.offNews(key);
    answer.proof?.onNews(key, () => this.#outdate(key));
    this.#succeed(next, shown);
    return next;
  }

  /** The same answer at the newest slot that its proof vouches for. Costs no question to anybody. */
  carry(entry: Entry): Entry {
    const { proof } = entry;
    if (proof === undefined || proof.slot <= entry.slot || entry.leaving || proof.state === 'superseded') return entry;
    const { slot, provenMs } = proof;
    const next: Entry = {
      ...entry,
      slot,
      provenMs,
      readAt: this.#tip.slot,
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
    const { slot } = this.#tip;
    const answer = { slot, result: '', final: refusal.final };
    const provenMs = this.#clock.monotonic();
    this.show(newEntry(key, answer, { policy: { slots }, label, readAt: slot, provenMs, refusal, lastRead: slot }));
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
    for (const key of this.#hot.turn()) {
      const entry = this.#entries.peek(key);
      if (entry?.proof?.state !== 'live') this.#renew(entry);
    }
  }

  /** Carries on what is being read, when its proofs have moved. */
  carryHot(): void {
    for (const key of this.#hot.all()) {
      const entry = this.#entries.peek(key);
      if (entry?.proof?.state === 'live') this.carry(entry);
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
    entry.proof?.offNews(entry.key);
    if (entry.refusal === undefined) this.#floors.raise(entry.label.commitment, entry.slot);
  }
}

/** A processed state may be taken back with the next slot. */
const isPassing = ({ policy, label }: Entry): boolean => policy !== 'live' && label.commitment === 'processed';

/** In bytes; the body and its compressed forms are counted from the start, since most entries get them. */
const sizeOf = (entry: Entry): number => ENTRY_OVERHEAD + entry.key.length * 2 + entry.result.length * 3 + 600;
