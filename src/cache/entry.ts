import type { Answer } from '../domain/answer.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';

/** The policy of an entry: `live` when the pipeline keeps it current, else the number of slots for which it is fresh. */
export type CachePolicy = 'live' | { readonly slots: number };

/** The properties of an answer other than its text. */
export interface AnswerMeta {
  readonly envelope: Envelope;
  readonly commitment: Commitment;
  /** True when the result is a pure function of the ledger at its slot (claim `exact`). */
  readonly exact: boolean;
  /** True when the whole body of a final answer never changes: its receipt is made once. */
  readonly immutable?: boolean;
  /** True for a part of a larger snapshot: it may be older than the answers about other keys. */
  readonly fromSnapshot?: boolean;
}

/** The compressed forms of one body, by content coding (RFC 9110, 8.4). */
export interface CompressedBody {
  readonly source: string | Buffer;
  br?: Buffer | 'pending';
  gzip?: Buffer | 'pending';
}

/** A cached answer, and the body that was last made for it. */
export interface Entry {
  readonly key: string;
  readonly slot: Slot;
  /** The result as compact JSON. */
  readonly result: string;
  readonly final: boolean;
  readonly policy: CachePolicy;
  readonly meta: AnswerMeta;
  /** The tip when the answer was requested: its age in slots counts from here. */
  readonly tipAtFetch: Slot;
  /** Monotonic milliseconds at which the answer was last known to hold. */
  readonly validatedMs: number;
  /** The lease that dates the result beyond the entry's slot. */
  readonly lease: Lease | undefined;
  /** The error of a negative answer, in place of a result. */
  readonly refusal: GatewayError | undefined;
  /** Fetches the answer again before its next reader comes. */
  readonly refresh: (() => Promise<void>) | undefined;
  /** The whole response body, once a request has needed it. */
  body: string | Buffer | undefined;
  compressed: CompressedBody | undefined;
  /** The SHA-256 of the result in hex; empty until it is sealed. */
  digest: string;
  /** The `ETag` of the result; empty until it is sealed. */
  etag: string;
  /** The coarse monotonic time at which `body` was sealed. */
  sealedMs: number;
  /** True while {@link refresh} is under way: the entry is served meanwhile, so that its readers don't wait. */
  isRefreshing: boolean;
  /** True while its successor waits for a body: the entry is served meanwhile. */
  isReplaced: boolean;
  /** The tip at which it was last read. */
  tipAtLastRead: Slot;
}

/** The properties of a new entry other than its answer. */
export type EntryInit = Pick<Entry, 'policy' | 'meta' | 'tipAtFetch' | 'validatedMs' | 'tipAtLastRead'> &
  Partial<Pick<Entry, 'refusal' | 'refresh'>>;

/** Creates an entry. All come from this one literal, so that V8 gives them one hidden class and hits stay fast. */
export const newEntry = (key: string, { slot, result, final, lease }: Answer<string>, init: EntryInit): Entry => ({
  key,
  slot,
  result,
  final: final ?? false,
  policy: init.policy,
  meta: init.meta,
  tipAtFetch: init.tipAtFetch,
  validatedMs: init.validatedMs,
  lease,
  refusal: init.refusal,
  refresh: init.refresh,
  body: undefined,
  compressed: undefined,
  digest: '',
  etag: '',
  sealedMs: 0,
  isRefreshing: false,
  isReplaced: false,
  tipAtLastRead: init.tipAtLastRead,
});

/**
 * The use of an entry: `fresh` is a hit; `old` must be fetched again; `stale` may be served while no upstream answers;
 * `expired` must not be served.
 */
export type EntryStatus = 'fresh' | 'old' | 'stale' | 'expired';
