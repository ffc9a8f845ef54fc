import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';
import { TemplatedText, toTemplatedText } from '../domain/templated-text.ts';
import { BASE_UNITS, unitsOfBytes } from '../domain/units.ts';

/** The policy of an entry: `live` when the pipeline keeps it current, else the number of slots for which it is fresh. */
export type CachePolicy = 'live' | { readonly slots: number };

/**
 * For how long callers may keep a final answer: for good, with its receipt, which is made once (RFC 8246: `immutable`); or
 * for some seconds, since a later version may say the same in other words.
 */
export type FinalFor = 'immutable' | { readonly seconds: number };

/** The properties of an answer other than its text. */
export interface AnswerMeta {
  readonly envelope: Envelope;
  readonly commitment: Commitment;
  /** True when the result is a pure function of the ledger at its slot (claim `exact`). */
  readonly exact: boolean;
  /** The number of the claim. Default: the first one. */
  readonly claimNumber?: number | undefined;
  /** For how long callers may keep a final answer. Default: they ask each time whether it is unchanged. */
  readonly finalFor?: FinalFor | undefined;
  /** The units of the rate limit that a request for the answer costs, whatever its length. Default: 1. */
  readonly units?: number;
  /** The path of the route that answers, as metrics name it. Default: found by the key. */
  readonly route?: string;
  /** True for a part of a larger snapshot: it may be older than the answers about other keys. */
  readonly fromSnapshot?: boolean;
}

/** Who reads answers again, before their next readers come: one for all answers of a kind. Never rejects. */
export interface Refresher {
  refresh(key: string): Promise<void>;
  /** Makes the answer anew from live state, without waiting. Returns false, and has done nothing, where that can't be. */
  refreshNow?(key: string): boolean;
}

/** The compressed forms of one body, by content coding (RFC 9110, 8.4). */
export interface CompressedBody {
  readonly source: Body;
  br?: Buffer | 'pending';
  gzip?: Buffer | 'pending';
}

/** A body as it is sent. */
export type Body = string | Buffer;

/** Who waits for a body. Neither function throws. */
export interface SealWaiter {
  resolve(body: Body): void;
  reject(reason: unknown): void;
}

/** One body to make. */
export interface SealJob {
  readonly entry: Entry;
  /** The nonce of a body for one caller, which is not kept for others; null for a shared body. */
  readonly nonce: string | null;
  /** True if the cache publishes the entry only once it has its body. */
  readonly isHeldBack: boolean;
  readonly waiters: SealWaiter[];
}

/**
 * The members that all items of the cache have, so that V8 gives them one hidden class and hits stay fast. Times are whole
 * milliseconds as a rule: most other numbers would be objects of their own.
 */
interface ItemState {
  readonly key: string;
  readonly slot: Slot;
  readonly final: boolean;
  readonly policy: CachePolicy;
  readonly meta: AnswerMeta;
  /** The length of the result as UTF-8; 0 if there is none. */
  readonly resultBytes: number;
  /** The units of the rate limit that a hit costs: more for a long answer. */
  readonly units: number;
  /** The tip when the answer was requested: its age in slots counts from here. */
  readonly tipAtFetch: Slot;
  /** Whole monotonic milliseconds at which the answer was last known to hold. */
  readonly validatedMs: number;
  /** The lease that dates the result beyond the entry's slot. */
  readonly lease: Lease | undefined;
  /** Reads the answer again; undefined for one that is read on request only. */
  readonly refresher: Refresher | undefined;
  /** The whole response body, once a request has needed it. */
  body: Body | undefined;
  compressed: CompressedBody | undefined;
  /** How often {@link body} was sent as text. */
  timesServed: number;
  /** The SHA-256 of the result in hex; empty until it is sealed. */
  digest: string;
  /** The job that makes {@link body}, until that is there: each first read in a slot looks for it. */
  sealJob: SealJob | undefined;
  /** The coarse monotonic time at which `body` was sealed. */
  sealedMs: number;
  /** True while it is read again: the entry is served meanwhile, so that its readers don't wait. */
  isRefreshing: boolean;
  /** The next entry while that waits for its body: this one's body is served meanwhile, and no other made of it. */
  successor: Entry | undefined;
  /** The tip at which it was last read. */
  tipAtLastRead: Slot;
}

/** A cached answer, and the body that was last made for it. */
export interface Entry extends ItemState {
  readonly kind: 'answer';
  /** The result as compact JSON, of which `toString` returns the text; a long one as bytes. */
  readonly result: string | TemplatedText | Buffer;
  readonly refusal: undefined;
}

/** A cached negative answer: the cluster's own error, such as "no such account". */
export interface CachedRefusal extends ItemState {
  readonly kind: 'refusal';
  readonly result: undefined;
  readonly refusal: GatewayError;
}

/** The slot of an answer that was served and not cached: no later answer under its key may be older. */
export interface SlotMark extends ItemState {
  readonly kind: 'slot-mark';
  readonly result: undefined;
  readonly refusal: undefined;
}

/** The number of hex digits of the digest that are an `ETag`: enough to tell two results of one request apart. */
export const ETAG_DIGITS = 16;

/** The contents of the cache under one key. */
export type CacheItem = Entry | CachedRefusal | SlotMark;

type ContentOf<I extends CacheItem> = Pick<I, 'kind' | 'result' | 'refusal'>;

/** The properties of a new item other than its content. */
export type ItemInit = Pick<ItemState, 'key' | 'slot' | 'policy' | 'meta' | 'tipAtFetch' | 'validatedMs'> & {
  readonly [K in 'final' | 'lease' | 'refresher' | 'tipAtLastRead']?: ItemState[K] | undefined;
};

/** Creates an entry. Very many may have a lease, and stay for long. */
export function newEntry(result: string | Buffer, init: ItemInit): Entry {
  const kept = init.lease === undefined || typeof result !== 'string' ? result : toTemplatedText(result);
  return newItem<Entry>({ kind: 'answer', result: kept, refusal: undefined }, init, init, resultPropertiesOf(result));
}

/** Creates a refusal. */
export const newRefusal = (refusal: GatewayError, init: ItemInit): CachedRefusal =>
  newItem<CachedRefusal>({ kind: 'refusal', result: undefined, refusal }, init);

/** Creates a slot mark. */
export const newSlotMark = (init: ItemInit): SlotMark =>
  newItem<SlotMark>({ kind: 'slot-mark', result: undefined, refusal: undefined }, init);

/** Creates the entry of the same answer at another slot. It has no body yet. */
export const redatedEntry = (entry: Entry, date: Pick<Entry, 'slot' | 'tipAtFetch' | 'validatedMs'>): Entry =>
  newItem<Entry>(entry, entry, date, entry);

/** Returns the `ETag` of an answer; empty until it is sealed. */
export const etagOf = ({ digest }: Pick<Entry, 'digest'>): string => digest.slice(0, ETAG_DIGITS);

/** Returns the result in one piece. */
export const wholeResultOf = ({ result }: Pick<Entry, 'result'>): string | Buffer =>
  result instanceof TemplatedText ? result.toString() : result;

/** Returns the body of an answer without a receipt, but with its slot. */
export const anchoredBodyOf = ({ result, slot }: Entry): Buffer => Buffer.from(`{"result":${result},"slot":${slot}}`);

/** The properties of an item that follow from its result. */
type ResultProperties = Pick<ItemState, 'resultBytes' | 'digest'>;

const resultPropertiesOf = (result: string | Buffer): ResultProperties => ({
  resultBytes: Buffer.byteLength(result),
  digest: '',
});

const NO_RESULT = resultPropertiesOf('');

/** Creates an item from one literal for all kinds. */
const newItem = <I extends CacheItem>(
  content: ContentOf<I>,
  init: ItemInit,
  { slot, tipAtFetch, validatedMs }: Pick<ItemState, 'slot' | 'tipAtFetch' | 'validatedMs'> = init,
  { resultBytes, digest }: ResultProperties = NO_RESULT,
): ItemState & ContentOf<I> => ({
  kind: content.kind,
  result: content.result,
  refusal: content.refusal,
  key: init.key,
  slot,
  final: init.final ?? false,
  policy: init.policy,
  meta: init.meta,
  resultBytes,
  units: (init.meta.units ?? BASE_UNITS) + unitsOfBytes(resultBytes),
  tipAtFetch,
  validatedMs: Math.floor(validatedMs),
  lease: init.lease,
  refresher: init.refresher,
  body: undefined,
  compressed: undefined,
  timesServed: 0,
  sealJob: undefined,
  digest,
  sealedMs: 0,
  isRefreshing: false,
  successor: undefined,
  tipAtLastRead: init.tipAtLastRead ?? -1,
});

/**
 * The use of an entry: `fresh` is a hit; `old` must be fetched again; `stale` may be served while no upstream answers;
 * `expired` must not be served.
 */
export type EntryStatus = 'fresh' | 'old' | 'stale' | 'expired';
