import type { Agreement } from '../../shared/domain/agreement.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import type { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { LeaseState } from '../../shared/domain/lease.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import type { CachePolicy } from '../cache/entry.ts';
import type { AccountJson } from '../live/accounts/account-json.ts';
import type { ReadRate, ValueEnd } from '../live/followed-session.ts';
import type { TokenList } from '../tokens/token-list.ts';
import type { NodeStatus } from '../upstream/mesh/mesh.ts';

/** What a process publishes to those that copy its state, in that order. Copies ignore types that they don't know. */
export type Event = Readonly<
  /** The newest slot at a commitment, and its parent where a node has notified of it. */
  | { type: 'tip-advanced'; commitment: Commitment; slot: Slot; parent: Slot | undefined }
  | WatermarkAdvanced
  /** Encoded, so that a copy without this key need not decode it. With `isLive` every copy has it, kept current. */
  | { type: 'answer-stored'; key: string; isLive: boolean; answer: Uint8Array }
  | { type: 'answer-ended'; key: string }
  /** The answers for which one operator alone vouches are dropped: one has lied. */
  | { type: 'unagreed-dropped' }
  /** The newest slot up to which answers may be signed as `exact` so far. */
  | { type: 'exact-granted'; slot: Slot }
  | { type: 'vitals-changed'; vitals: PipelineVitals }
  | { type: 'receipt-keys-changed' }
  /** `heldUntil`: the last slot at which the account before is known to hold. */
  | ({ type: 'account-set'; heldUntil: Slot } & ValueSet<AccountJson>)
  /** Lists whose amounts the Clock scales are not kept live: of a scale only its decimals are published. */
  | ({ type: 'list-set' } & ValueSet<TokenList>)
  | { type: 'value-ended'; key: StateKey; reason: ValueEnd; slot: Slot }
  /** What a follower's callers read, and whether it lacks the values. The one event that goes from followers to the leader. */
  | { type: 'states-read'; reads: readonly StateRead[]; needsValues: boolean }
>;

export type EventOf<T extends Event['type']> = Extract<Event, { readonly type: T }>;

export interface WatermarkAdvanced {
  type: 'watermark-advanced';
  id: number;
  /** The commitment of all that it dates; undefined where that does not matter. */
  commitment: Commitment | undefined;
  slot: Slot;
  /** Milliseconds since it was last known to hold; infinite if it never was. */
  ageMs: number;
  state: LeaseState;
  lagSlots: number;
}

export interface StoredAnswer {
  readonly slot: Slot;
  readonly final: boolean;
  readonly policy: CachePolicy;
  /** The `AnswerMeta` in JSON: there are few different ones, which a copy finds by their text. */
  readonly meta: string;
  readonly tipAtFetch: Slot;
  readonly ageMs: number;
  /** The result as compact JSON; null for a refusal, and for an answer of which only the slot is published. */
  readonly result: string | null;
  readonly refusal: GatewayError | null;
  /** The digest of the result; empty if nothing needed it yet. */
  readonly digest: string;
  readonly grant: boolean;
  /** The operators that gave it; null over one operator. */
  readonly agreement: Agreement | null;
  /** The signed body, and the milliseconds since. */
  readonly body: string | Uint8Array | null;
  readonly sealedAgeMs: number;
  readonly lease: StoredLease | null;
}

/** What dates an answer beyond its slot: the numbers of its watermarks, how far they do, and the tip with which that ends. */
export interface StoredLease {
  readonly watermarks: readonly number[];
  readonly slot: Slot;
  readonly endSlot: Slot | undefined;
}

export interface PipelineVitals {
  readonly nodes: readonly NodeStatus[];
  readonly isFailing: boolean;
  readonly slotTimeMs: number;
  readonly startupProblem: string | null;
  readonly problems: readonly string[];
  readonly genesisHash: string | null;
  readonly apiVersion: string | null;
  readonly embedded: { readonly rpc: string } | null;
}

/** The account, or the token accounts of the owner, under an address at one commitment. */
export interface StateKey {
  readonly kind: 'account' | 'list';
  readonly commitment: Commitment;
  readonly address: string;
}

/** A value that is kept live, from its slot on. */
export interface ValueSet<V> {
  readonly key: StateKey;
  readonly slot: Slot;
  /** The number of the watermark that dates it; undefined at processed, where none does. */
  readonly watermark: number | undefined;
  readonly value: V;
}

export interface StateRead extends ReadRate {
  readonly key: StateKey;
}
