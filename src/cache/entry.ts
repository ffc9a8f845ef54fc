import type { Answer } from '../domain/answer.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Envelope } from '../domain/envelope.ts';
import type { GatewayError } from '../domain/error.ts';
import type { Proof } from '../domain/proof.ts';
import type { Slot } from '../domain/slot.ts';

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
  /** True of a part of a reading that others are parts of too: it may be older than what was said of other things. */
  readonly fromSnapshot?: boolean;
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
  /** Vouches for the result at later slots than the entry's own. */
  readonly proof: Proof | undefined;
  /** Set instead of a result for an answer that is a refusal, kept briefly. */
  readonly refusal: GatewayError | undefined;
  /** Asks the upstream for it anew, ahead of the next reader. */
  readonly renew: (() => Promise<void>) | undefined;
  /** The whole body as it goes on the wire, once somebody has asked for it. */
  body: string | Buffer | undefined;
  compressed: Compressed | undefined;
  /** SHA-256 of the result, hex; empty until it is sealed. */
  digest: string;
  /** Names the result for `ETag`; empty until it is sealed. */
  etag: string;
  /** Coarse monotonic time of the seal in `body`. */
  sealedMs: number;
  /** True while {@link renew} is under way: until then the entry goes on, so that its readers never wait. */
  renewing: boolean;
  /** True while its successor waits for its body: until then the entry goes on. */
  leaving: boolean;
  /** The tip at which it was last read. */
  lastRead: Slot;
}

/** What is known of an entry beside its answer when it is made. */
export type Begun = Pick<Entry, 'policy' | 'label' | 'readAt' | 'provenMs' | 'lastRead'> &
  Partial<Pick<Entry, 'refusal' | 'renew'>>;

/** An entry that nobody was served yet. All are made by this one literal: so all are of one shape, and hits are quick. */
export const newEntry = (key: string, { slot, result, final, proof }: Answer<string>, begun: Begun): Entry => ({
  key,
  slot,
  result,
  final: final ?? false,
  policy: begun.policy,
  label: begun.label,
  readAt: begun.readAt,
  provenMs: begun.provenMs,
  proof,
  refusal: begun.refusal,
  renew: begun.renew,
  body: undefined,
  compressed: undefined,
  digest: '',
  etag: '',
  sealedMs: 0,
  renewing: false,
  leaving: false,
  lastRead: begun.lastRead,
});

/** May it be served? `stale` only while no upstream can do better; `expired` not at all. */
export type Freshness = 'fresh' | 'old' | 'stale' | 'expired';
