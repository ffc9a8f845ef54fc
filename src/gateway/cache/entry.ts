import { type Agreement, agreedAt, isAgreed } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { Envelope } from '../../shared/domain/envelope.ts';
import type { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Lease } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { BASE_UNITS, unitsOfBytes } from '../../shared/domain/units.ts';
import { TemplatedText, toTemplatedText } from '../../shared/runtime/templated-text.ts';

/**
 * For how long an entry is fresh: for some slots where it shows a state that changes with slots, or for some time where
 * it spares the nodes a read. Few milliseconds more may pass: the cache's clock is coarse.
 */
export type TimedPolicy =
  | { readonly slots: number; readonly ms?: undefined }
  | { readonly ms: number; readonly slots?: undefined };

/** The policy of an entry: `live` when the pipeline keeps it current, else for how long it is fresh. */
export type CachePolicy = 'live' | TimedPolicy;

/** For good, with its receipt (RFC 8246: `immutable`); or for seconds, as a later version may word it differently, or one operator gave it. */
export type FinalFor = 'immutable' | { readonly seconds: number; readonly keepsReceipt?: boolean };

export interface AnswerMeta {
  readonly envelope: Envelope;
  readonly commitment: Commitment;
  /** True when the result is a pure function of the ledger at its slot (claim `exact`). */
  readonly exact: boolean;
  /** The number of the claim. Default: the first one. */
  readonly claimNumber?: number | undefined;
  /** For how long callers may keep a final answer. Default: they revalidate it each time. */
  readonly finalFor?: FinalFor | undefined;
  /** The path of the route that answers, as metrics name it. Default: found by the key. */
  readonly route?: string;
  /** True for a part of a larger snapshot: it may be older than the answers about other keys. */
  readonly fromSnapshot?: boolean;
  /** True for the state of a past slot that the request names. */
  readonly isPast?: boolean;
  /** True where that slot has no block: the answer is that of its parent. */
  readonly isSkipped?: boolean;
}

/** Reads answers again before their next readers come: one for all answers of a kind. Never rejects. */
export interface Refresher {
  refresh(key: string): Promise<unknown>;
  /** Replaces the answer from live state, without waiting. Returns false, and changes nothing, if it can't. */
  refreshNow?(key: string): boolean;
}

export interface CompressedBody {
  readonly source: Body;
  br?: Buffer | 'pending';
  gzip?: Buffer | 'pending';
}

export type Body = string | Buffer;

/** Who waits for a body. Neither function throws. */
export interface SealWaiter {
  resolve(body: Body): void;
  reject(reason: unknown): void;
}

export interface SealJob {
  readonly entry: Entry;
  /** The nonce of a body for one caller, which is not kept for others; null for a shared body. */
  readonly nonce: string | null;
  /** `unagreedDrops` of the cache when it held the entry back until this body is made; undefined if it didn't. */
  readonly heldBackAt: number | undefined;
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
  /** The first slot at which the result may be signed as `exact`, if its meta allows that. */
  readonly provenFrom: Slot;
  /** The operators that gave the result, at the slot that it names; undefined over one operator. */
  readonly agreement: Agreement | undefined;
  /** Reads the answer again; undefined for one that is read on request only. */
  readonly refresher: Refresher | undefined;
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
  /** True while it is read again. The entry is still served, so that its readers don't wait. */
  isRefreshing: boolean;
  /** The next entry while that waits for its body: until then this one's body is served, and no other made of it. */
  successor: Entry | undefined;
  tipAtLastRead: Slot;
}

/** A cached answer, and the body that was last made for it. */
export interface Entry extends ItemState {
  readonly kind: 'answer';
  /** The result as compact JSON, of which `toString` returns the text; a long one as bytes. */
  readonly result: string | TemplatedText | Buffer;
  readonly refusal: undefined;
}

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

/** The number of hex digits of the digest that are an `ETag`: enough to distinguish two results of one request. */
export const ETAG_DIGITS = 16;

export type CacheItem = Entry | CachedRefusal | SlotMark;

type ContentOf<I extends CacheItem> = Pick<I, 'kind' | 'result' | 'refusal'>;

export type ItemInit = Pick<ItemState, 'key' | 'slot' | 'policy' | 'meta' | 'tipAtFetch' | 'validatedMs'> & {
  readonly [K in 'final' | 'lease' | 'provenFrom' | 'agreement' | 'refresher' | 'tipAtLastRead']?:
    | ItemState[K]
    | undefined;
};

/** Creates an entry. Very many may have a lease, and stay for long. */
export function newEntry(result: string | Buffer, init: ItemInit): Entry {
  const stored = init.lease === undefined || typeof result !== 'string' ? result : toTemplatedText(result);
  const ofResult = { resultBytes: Buffer.byteLength(result), digest: '' };
  return newItem<Entry>({ kind: 'answer', result: stored, refusal: undefined }, init, init, ofResult);
}

export const newRefusal = (refusal: GatewayError, init: ItemInit): CachedRefusal =>
  newItem<CachedRefusal>({ kind: 'refusal', result: undefined, refusal }, init);

export const newSlotMark = (init: ItemInit): SlotMark =>
  newItem<SlotMark>({ kind: 'slot-mark', result: undefined, refusal: undefined }, init);

/** Creates the entry of the same answer at another slot. It has no body yet. */
export const redatedEntry = (entry: Entry, date: Dating): Entry => newItem<Entry>(entry, entry, date, entry);

/** Returns whether the result is proven to be a pure function of the ledger at its slot (claim `exact`). */
export const isExact = ({
  meta,
  slot,
  provenFrom,
  agreement,
}: Pick<Entry, 'meta' | 'slot' | 'provenFrom' | 'agreement'>): boolean =>
  meta.exact && slot >= provenFrom && isAgreed(agreement, slot);

/** Returns the entry that is to replace this one, unless fewer operators vouch for it: a caller may demand as many. */
export const newestOf = (entry: Entry): Entry => {
  const { successor, agreement, slot } = entry;
  const isVouchedFor =
    successor !== undefined && agreedAt(successor.agreement, successor.slot) >= agreedAt(agreement, slot);
  return isVouchedFor ? successor : entry;
};

/** Returns the slot that the request of an answer names, if that slot has no block; `slot` comes last in a canonical request. */
export const skippedSlotOf = ({ key, meta }: Entry): Slot | undefined =>
  meta.isSkipped === true ? Number(key.slice(key.lastIndexOf('=') + 1)) : undefined;

export const etagOf = ({ digest }: Pick<Entry, 'digest'>): string => digest.slice(0, ETAG_DIGITS);

export const wholeResultOf = ({ result }: Pick<Entry, 'result'>): string | Buffer =>
  result instanceof TemplatedText ? result.toString() : result;

export const anchoredBodyOf = ({ result, slot }: Entry): Buffer => Buffer.from(`{"result":${result},"slot":${slot}}`);

type Dating = Pick<ItemState, 'slot' | 'tipAtFetch' | 'validatedMs'> & {
  readonly provenFrom?: Slot | undefined;
  readonly agreement?: Agreement | undefined;
};

const newItem = <I extends CacheItem>(
  content: ContentOf<I>,
  init: ItemInit,
  { slot, tipAtFetch, validatedMs, provenFrom = 0, agreement }: Dating = init,
  { resultBytes, digest }: Pick<ItemState, 'resultBytes' | 'digest'> = { resultBytes: 0, digest: '' },
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
  units: BASE_UNITS + unitsOfBytes(resultBytes),
  tipAtFetch,
  validatedMs: Math.floor(validatedMs),
  lease: init.lease,
  provenFrom,
  agreement,
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
 * `expired` must not be served: the error `stale` says so where nothing newer can be read.
 */
export type EntryStatus = 'fresh' | 'old' | 'stale' | 'expired';
