import type { Answer } from '../domain/answer.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { GatewayError } from '../domain/gateway-error.ts';
import type { Lease } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';

/** `live`: the pipeline keeps it current. Otherwise, for how many slots of the tip an answer may be served. */
export type CachePolicy = 'live' | { readonly slots: number };

/** What is said of an answer beside its text, and how. */
export interface AnswerMeta {
  readonly envelope: Envelope;
  readonly commitment: Commitment;
  /** True when the result is a pure function of the ledger at its slot (claim `exact`). */
  readonly exact: boolean;
  /** True when the whole body of a final answer stands for good: its receipt is never made again. */
  readonly immutable?: boolean;
  /** True of a part of a reading that others are parts of too: it may be older than what was said of other things. */
  readonly fromSnapshot?: boolean;
}

/** A body in other content codings; they belong to one body and go with it. */
export interface CompressedBody {
  readonly source: string | Buffer;
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
  readonly policy: CachePolicy;
  readonly meta: AnswerMeta;
  /** The tip when the answer was asked for: its life in slots counts from here. */
  readonly tipAtFetch: Slot;
  /** Monotonic milliseconds at which it was last known to hold. */
  readonly validatedMs: number;
  /** Vouches for the result at later slots than the entry's own. */
  readonly lease: Lease | undefined;
  /** Set instead of a result for an answer that is a refusal, kept briefly. */
  readonly refusal: GatewayError | undefined;
  /** Asks the upstream for it anew, ahead of the next reader. */
  readonly refresh: (() => Promise<void>) | undefined;
  /** The whole body as it goes on the wire, once somebody has asked for it. */
  body: string | Buffer | undefined;
  compressed: CompressedBody | undefined;
  /** SHA-256 of the result, hex; empty until it is sealed. */
  digest: string;
  /** Names the result for `ETag`; empty until it is sealed. */
  etag: string;
  /** Coarse monotonic time of the seal in `body`. */
  sealedMs: number;
  /** True while {@link refresh} is under way: until then the entry goes on, so that its readers never wait. */
  isRefreshing: boolean;
  /** True while its successor waits for its body: until then the entry goes on. */
  isReplaced: boolean;
  /** The tip at which it was last read. */
  tipAtLastRead: Slot;
}

/** What is known of an entry beside its answer when it is made. */
export type EntryInit = Pick<Entry, 'policy' | 'meta' | 'tipAtFetch' | 'validatedMs' | 'tipAtLastRead'> &
  Partial<Pick<Entry, 'refusal' | 'refresh'>>;

/** An entry that nobody was served yet. All are made by this one literal: so all are of one shape, and hits are quick. */
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

/** May it be served? `stale` only while no upstream can do better; `expired` not at all. */
export type EntryStatus = 'fresh' | 'old' | 'stale' | 'expired';
