import { LRUCache } from 'lru-cache';
import type { Answer, Slot } from '../domain/answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { GatewayError } from '../domain/error.ts';

/** `live`: the pipeline keeps it current. Otherwise, for how many slots of the tip an answer may be served. */
export type Policy = 'live' | { readonly slots: number };

/** What is said of an answer beside its text, and how. */
export interface Label {
  readonly envelope: Envelope;
  readonly commitment: Commitment;
  /** True when the result is a pure function of the ledger at its slot (claim `exact`). */
  readonly exact: boolean;
  /** True when the whole body of a final answer stands for good: its receipt is never made again. */
  readonly immutable?: boolean;
}

/** A body in other content codings; they belong to one body and go with it. */
export interface Compressed {
  readonly of: string | Buffer;
  br?: Buffer | 'pending';
  gzip?: Buffer | 'pending';
}

/** An answer in the cache, and the body it was last served as. */
export interface Entry {
  readonly key: string;
  readonly slot: Slot;
  /** The result as compact JSON. */
  readonly result: string;
  readonly final: boolean;
  readonly policy: Policy;
  readonly label: Label;
  /** The tip when the answer was asked for: its life in slots counts from here. */
  readonly readAt: Slot;
  /** Monotonic milliseconds at which it was last known to hold. */
  readonly provenMs: number;
  /** Set instead of a result for an answer that is a refusal, kept briefly. */
  readonly refusal: GatewayError | undefined;
  /** Asks the upstream for it anew, ahead of the next reader. */
  readonly renew: (() => Promise<void>) | undefined;
  /** The whole body as it goes on the wire, once somebody has asked for it. */
  body: string | Buffer | undefined;
  compressed: Compressed | undefined;
  /** Names the result for `ETag`; empty until it is sealed. */
  etag: string;
  /** Coarse monotonic time of the seal in `body`. */
  sealedMs: number;
  /** True while {@link renew} is under way: until then the entry goes on, so that its readers never wait. */
  renewing: boolean;
  /** The tip at which it was last read: a hot key is one that was read during the last slot. */
  lastRead: Slot;
}

/** May it be served? `stale` only while no upstream can do better; `expired` not at all. */
export type Freshness = 'fresh' | 'old' | 'stale' | 'expired';

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

/** So far behind the tip an answer may be that is being renewed. */
const RENEWING_SLOTS = 8;

/** Memory beside the text: the entry, its key's slot in the map, the node of the list. */
const ENTRY_OVERHEAD = 400;

/** Answers by key, fresh by slot. A newer slot always wins, so no answer goes back in time. */
export class Cache {
  readonly maxStaleMs: number;
  #entries: LRUCache<string, Entry>;
  #clock: Clock;
  #tip: Slot = 0;
  #tipMs: number;
  #nowMs: number;
  #stalled = true;
  #hot: string[] = [];
  #hotKeys: number;
  #stage: ((next: Entry, shown: Entry | undefined) => boolean) | undefined;

  constructor({ clock, bytes, maxStaleSlots, hotKeys }: CacheOptions) {
    this.#clock = clock;
    this.#hotKeys = hotKeys;
    this.maxStaleMs = maxStaleSlots * SLOT_MS;
    this.#nowMs = clock.monotonic();
    this.#tipMs = Number.NEGATIVE_INFINITY;
    this.#entries = new LRUCache({ maxSize: bytes, maxEntrySize: Math.ceil(bytes / 4), sizeCalculation: sizeOf });
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
      if (this.#hot.length < this.#hotKeys) this.#hot.push(key);
    }
    return entry;
  }

  peek(key: string): Entry | undefined {
    return this.#entries.peek(key);
  }

  /** True when the entry may be served as a hit. The one question on the hot path. */
  isFresh(entry: Entry): boolean {
    if (entry.final) return true;
    if (this.#stalled) return false;
    if (entry.policy === 'live') return this.#nowMs - entry.provenMs <= this.maxStaleMs;
    return this.#tip - entry.readAt < (entry.renewing ? RENEWING_SLOTS : entry.policy.slots);
  }

  /** What may be done with an entry, for those that are not hits. */
  freshness(entry: Entry): Freshness {
    if (this.isFresh(entry)) return 'fresh';
    if (entry.refusal !== undefined) return 'expired';
    const provenMs = entry.policy === 'live' ? Math.min(entry.provenMs, this.#tipMs) : entry.provenMs;
    if (this.#clock.monotonic() - provenMs > this.maxStaleMs) return 'expired';
    return this.#stalled ? 'stale' : 'old';
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
      refusal: undefined,
      renew: origin.renew,
      body: undefined,
      compressed: undefined,
      etag: '',
      sealedMs: 0,
      renewing: false,
      lastRead: shown?.lastRead ?? -1,
    };
    if (this.#stage?.(next, shown) !== true) this.show(next);
    return next;
  }

  /** Keeps a refusal for a slot or two, so that asking for what isn't there can't hammer the upstream. */
  refuse(key: string, refusal: GatewayError, slots: number, label: Label): void {
    const shown = this.#entries.peek(key);
    if (shown !== undefined && shown.refusal === undefined) return;
    this.show({
      key,
      slot: this.#tip,
      result: '',
      final: false,
      policy: { slots },
      label,
      readAt: this.#tip,
      provenMs: this.#clock.monotonic(),
      refusal,
      renew: undefined,
      body: undefined,
      compressed: undefined,
      etag: '',
      sealedMs: 0,
      renewing: false,
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
    this.#entries.set(entry.key, entry);
  }

  /** Asks anew for what was read since the last call, before its next reader comes. */
  renewHot(): void {
    const hot = this.#hot;
    this.#hot = [];
    for (const key of hot) {
      const entry = this.#entries.peek(key);
      if (entry?.renew === undefined || entry.renewing) continue;
      entry.renewing = true;
      void entry.renew().finally(() => {
        entry.renewing = false;
      });
    }
  }
}

/** In bytes; the body and its compressed forms are counted from the start, since most entries get them. */
const sizeOf = (entry: Entry): number => ENTRY_OVERHEAD + entry.key.length * 2 + entry.result.length * 3 + 600;
