import { Packr } from 'msgpackr';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import type { Slot } from '../domain/slot.ts';
import type { AccountJson } from '../live/accounts/account-json.ts';
import type { ToldHeat } from '../live/followed-session.ts';
import type { TokenList } from '../tokens/token-list.ts';
import { FRAME, packTip, type TipFrame, unpackTip } from './frames.ts';

/** The types of frames between gateways. A reader skips those that it doesn't know. */
export const FEED_FRAME = {
  tip: FRAME.tip,
  mark: 32,
  held: 33,
  list: 34,
  over: 35,
  follow: 36,
  touch: 37,
} as const;

/** What a key names: an account, or the token accounts of an owner. */
export type FollowedKind = 'account' | 'list';

/** What is kept live at one commitment. */
export interface FollowedKey {
  readonly kind: FollowedKind;
  readonly commitment: Commitment;
  /** The account, or the owner of the list. */
  readonly address: string;
}

/** A watermark of the gateway that keeps states live. */
export interface FeedMark {
  readonly id: number;
  readonly commitment: Commitment;
  readonly slot: Slot;
  /** Milliseconds since it was last known to hold. */
  readonly ageMs: number;
  readonly isLost: boolean;
}

/** A value that is kept live, from its slot on. */
export interface FeedValue<V> {
  readonly key: FollowedKey;
  readonly slot: Slot;
  /** The mark that dates it; undefined at processed, where none does. */
  readonly mark: number | undefined;
  readonly value: V;
}

/** Why a value is told no longer: a newer one comes, it was wrong, its fork was left, or it isn't kept live any more. */
export type OverReason = 'replaced' | 'wrong' | 'rolled-back' | 'left';

/** What a follower's callers read. */
export type FollowedRead = FollowedKey & ToldHeat;

const KINDS: readonly FollowedKind[] = ['account', 'list'];
const REASONS: readonly OverReason[] = ['replaced', 'wrong', 'rolled-back', 'left'];

const packr = new Packr({ useRecords: false, useBigIntExtension: true });

type PackedKey = readonly [kind: number, commitment: number, address: string];

const packKey = ({ kind, commitment, address }: FollowedKey): PackedKey => [
  KINDS.indexOf(kind),
  COMMITMENTS.indexOf(commitment),
  address,
];

const unpackKey = ([kind, commitment, address]: PackedKey): FollowedKey => ({
  kind: KINDS[kind] ?? 'account',
  commitment: COMMITMENTS[commitment] ?? 'processed',
  address,
});

export const packFeedTip: (tip: TipFrame) => Buffer = packTip;
export const unpackFeedTip: (payload: Buffer) => TipFrame = unpackTip;

export const packFeedMark = ({ id, commitment, slot, ageMs, isLost }: FeedMark): Buffer =>
  packr.pack([id, COMMITMENTS.indexOf(commitment), slot, Math.max(0, Math.ceil(ageMs)), isLost]);

export function unpackFeedMark(payload: Buffer): FeedMark {
  const [id, commitment, slot, ageMs, isLost] = packr.unpack(payload) as [number, number, Slot, number, boolean];
  return { id, commitment: COMMITMENTS[commitment] ?? 'processed', slot, ageMs, isLost };
}

export const packHeld = ({ key, slot, mark, value }: FeedValue<AccountJson>): Buffer =>
  packr.pack([...packKey(key), slot, mark ?? null, value]);

export function unpackHeld(payload: Buffer): FeedValue<AccountJson> {
  const [kind, commitment, address, slot, mark, value] = packr.unpack(payload) as [
    ...PackedKey,
    Slot,
    number | null,
    AccountJson,
  ];
  return { key: unpackKey([kind, commitment, address]), slot, mark: mark ?? undefined, value };
}

type ListEntries = {
  readonly accounts: TokenList['accounts'];
  /** Lists whose amounts the Clock scales are not kept live: the decimals say all. */
  readonly decimals: readonly (readonly [mint: string, decimals: number])[];
  readonly identities: readonly (readonly [string, NonNullable<ReturnType<IdentitiesOf['get']>>])[] | null;
};
type IdentitiesOf = NonNullable<TokenList['identities']>;

export function packList({ key, slot, mark, value }: FeedValue<TokenList>): Buffer {
  const entries: ListEntries = {
    accounts: value.accounts,
    decimals: [...value.scales].map(([mint, { decimals }]) => [mint, decimals]),
    identities: value.identities === undefined ? null : [...value.identities],
  };
  return packr.pack([...packKey(key), slot, mark ?? null, entries]);
}

export function unpackList(payload: Buffer): FeedValue<TokenList> {
  const [kind, commitment, address, slot, mark, entries] = packr.unpack(payload) as [
    ...PackedKey,
    Slot,
    number | null,
    ListEntries,
  ];
  const value: TokenList = {
    accounts: entries.accounts,
    scales: new Map(entries.decimals.map(([mint, decimals]) => [mint, { decimals }])),
    identities: entries.identities === null ? undefined : new Map(entries.identities),
    dependsOnClock: false,
  };
  return { key: unpackKey([kind, commitment, address]), slot, mark: mark ?? undefined, value };
}

export const packFeedOver = (key: FollowedKey, reason: OverReason, slot: Slot): Buffer =>
  packr.pack([...packKey(key), REASONS.indexOf(reason), slot]);

export function unpackFeedOver(payload: Buffer): { key: FollowedKey; reason: OverReason; slot: Slot } {
  const [kind, commitment, address, reason, slot] = packr.unpack(payload) as [...PackedKey, number, Slot];
  return { key: unpackKey([kind, commitment, address]), reason: REASONS[reason] ?? 'wrong', slot };
}

/** The payload of `follow` and `touch`. */
export const packReads = (reads: readonly FollowedRead[]): Buffer =>
  packr.pack(reads.map((read) => [...packKey(read), read.rank, read.tipAtLastRead]));

export const unpackReads = (payload: Buffer): readonly FollowedRead[] =>
  (packr.unpack(payload) as [...PackedKey, number, Slot][]).map(([kind, commitment, address, rank, tipAtLastRead]) => ({
    ...unpackKey([kind, commitment, address]),
    rank,
    tipAtLastRead,
  }));
