import { Packr } from 'msgpackr';
import type { AnswerMeta, CacheItem, CachePolicy } from '../cache/entry.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import { type ErrorCode, GatewayError } from '../domain/gateway-error.ts';
import type { LeaseState } from '../domain/lease.ts';
import type { Slot } from '../domain/slot.ts';

/** The types of frames. A reader skips those that it doesn't know, and the fields behind those that it knows. */
export const FRAME = { tip: 1, mark: 2, over: 3, answer: 4, live: 5, vitals: 6, receiptKeys: 7, granted: 8 } as const;

/** The newest slot at a commitment. */
export interface TipFrame {
  readonly commitment: Commitment;
  readonly slot: Slot;
}

/** What advances leases, as it is now. */
export interface MarkFrame {
  readonly id: number;
  readonly slot: Slot;
  /** Milliseconds since it was last known to hold; infinite if it never did. */
  readonly ageMs: number;
  readonly state: LeaseState;
  readonly lagSlots: number;
}

/** An item of the cache. */
export interface AnswerFrame {
  readonly key: string;
  readonly slot: Slot;
  readonly final: boolean;
  readonly policy: CachePolicy;
  readonly meta: AnswerMeta;
  readonly tipAtFetch: Slot;
  /** Milliseconds since it was last known to hold. */
  readonly ageMs: number;
  /** The result as compact JSON; null for a refusal and for an answer of which only the slot is told. */
  readonly result: string | null;
  readonly refusal: GatewayError | null;
  /** The digest of the result; empty if nothing needed it yet. */
  readonly digest: string;
  /** Whether it may be signed as `exact` at its slot. */
  readonly grant: boolean;
  /** The signed body, and the milliseconds since. */
  readonly body: string | Buffer | null;
  readonly sealedAgeMs: number;
  /** The marks that date it beyond its slot, how far they do, and the tip with which that ends; null for none. */
  readonly lease: { readonly marks: readonly number[]; readonly slot: Slot; readonly endSlot: Slot | undefined } | null;
}

const packr = new Packr({ useRecords: false });
const STATES: readonly LeaseState[] = ['active', 'behind', 'renewing', 'lost', 'revoked'];

export const packTip = ({ commitment, slot }: TipFrame): Buffer => packr.pack([COMMITMENTS.indexOf(commitment), slot]);

export function unpackTip(payload: Buffer): TipFrame {
  const [commitment, slot] = packr.unpack(payload) as [number, Slot];
  return { commitment: COMMITMENTS[commitment] ?? 'processed', slot };
}

export const packMark = ({ id, slot, ageMs, state, lagSlots }: MarkFrame): Buffer =>
  packr.pack([
    id,
    slot,
    Number.isFinite(ageMs) ? Math.max(0, Math.ceil(ageMs)) : null,
    STATES.indexOf(state),
    lagSlots,
  ]);

export function unpackMark(payload: Buffer): MarkFrame {
  const [id, slot, ageMs, state, lagSlots] = packr.unpack(payload) as [number, Slot, number | null, number, number];
  return { id, slot, ageMs: ageMs ?? Number.POSITIVE_INFINITY, state: STATES[state] ?? 'lost', lagSlots };
}

/** The frame tells whose key the lease belonged to. */
export const packOver = (key: string): Buffer => packr.pack([key]);

export const unpackOver = (payload: Buffer): string => (packr.unpack(payload) as [string])[0];

/** The frame tells the newest slot up to which answers may be signed as `exact` so far. */
export const packGranted = (slot: Slot): Buffer => packr.pack([slot]);

export const unpackGranted = (payload: Buffer): Slot => (packr.unpack(payload) as [Slot])[0];

/** What others show of the pipeline process, in any form. */
export const packVitals = (vitals: unknown): Buffer => packr.pack([vitals]);

export const unpackVitals = <V>(payload: Buffer): V => (packr.unpack(payload) as [V])[0];

const KEY_HEAD_BYTES = 2;

/** Puts the key first, so that who doesn't need the answer needn't unpack it. */
export function packAnswer(frame: AnswerFrame): Buffer {
  const { policy, meta, refusal, lease } = frame;
  const { envelope, commitment, exact, claimNumber, finalFor, units, route, fromSnapshot } = meta;
  const fields = packr.pack([
    frame.slot,
    frame.final,
    policy === 'live' ? -1 : policy.slots,
    [
      envelope,
      COMMITMENTS.indexOf(commitment),
      exact,
      claimNumber ?? null,
      finalFor === undefined || finalFor === 'immutable' ? (finalFor ?? null) : finalFor.seconds,
      units ?? null,
      route ?? null,
      fromSnapshot ?? null,
    ],
    frame.tipAtFetch,
    Math.max(0, Math.ceil(frame.ageMs)),
    frame.result,
    refusal && packError(refusal),
    frame.digest,
    frame.grant,
    frame.body,
    Math.max(0, Math.ceil(frame.sealedAgeMs)),
    lease && [lease.marks, lease.slot, lease.endSlot ?? null],
  ]);
  const payload = Buffer.allocUnsafe(KEY_HEAD_BYTES + frame.key.length + fields.length);
  payload.writeUInt16LE(frame.key.length, 0);
  payload.write(frame.key, KEY_HEAD_BYTES, 'latin1');
  fields.copy(payload, KEY_HEAD_BYTES + frame.key.length);
  return payload;
}

/** Returns the key of a packed answer. Keys are canonical targets, so ASCII. */
export const keyOfAnswer = (payload: Buffer): string =>
  payload.toString('latin1', KEY_HEAD_BYTES, KEY_HEAD_BYTES + payload.readUInt16LE(0));

export function unpackAnswer(payload: Buffer): AnswerFrame {
  const [slot, final, slots, meta, tipAtFetch, ageMs, result, refusal, digest, grant, body, sealedAgeMs, lease] =
    packr.unpack(payload.subarray(KEY_HEAD_BYTES + payload.readUInt16LE(0))) as PackedAnswer;
  const [envelope, commitment, exact, claimNumber, finalFor, units, route, fromSnapshot] = meta;
  return {
    key: keyOfAnswer(payload),
    slot,
    final,
    policy: slots === -1 ? 'live' : { slots },
    meta: {
      envelope,
      commitment: COMMITMENTS[commitment] ?? 'processed',
      exact,
      claimNumber: claimNumber ?? undefined,
      finalFor: typeof finalFor === 'number' ? { seconds: finalFor } : (finalFor ?? undefined),
      ...(units !== null && { units }),
      ...(route !== null && { route }),
      ...(fromSnapshot !== null && { fromSnapshot }),
    },
    tipAtFetch,
    ageMs,
    result,
    refusal: refusal && unpackError(refusal),
    digest,
    grant,
    body: typeof body === 'string' || body === null ? body : Buffer.from(body), // of its own: the frame's memory is used again
    sealedAgeMs,
    lease: lease && { marks: lease[0], slot: lease[1], endSlot: lease[2] ?? undefined },
  };
}

type PackedAnswer = [
  slot: Slot,
  final: boolean,
  slots: number,
  meta: [
    AnswerMeta['envelope'],
    number,
    boolean,
    number | null,
    'immutable' | number | null,
    number | null,
    string | null,
    boolean | null,
  ],
  tipAtFetch: Slot,
  ageMs: number,
  result: string | null,
  refusal: PackedError | null,
  digest: string,
  grant: boolean,
  body: string | Uint8Array | null,
  sealedAgeMs: number,
  lease: [number[], Slot, Slot | null] | null,
];

/** An error as it travels between processes. */
export type PackedError = [
  code: ErrorCode,
  message: string,
  status: number,
  retryAfter: number | null,
  rpcCode: number | null,
  final: boolean,
  jsonRpcId: string | null,
];

export const packError = (error: GatewayError): PackedError => [
  error.code,
  error.message,
  error.status,
  error.retryAfter ?? null,
  error.rpcCode ?? null,
  error.final,
  error.jsonRpcId ?? null,
];

export const unpackError = ([
  code,
  message,
  status,
  retryAfter,
  rpcCode,
  final,
  jsonRpcId,
]: PackedError): GatewayError =>
  new GatewayError(code, message, {
    status,
    retryAfter: retryAfter ?? undefined,
    rpcCode: rpcCode ?? undefined,
    final,
    ...(jsonRpcId !== null && { jsonRpcId }),
  });

/** Returns the frame of an item, without what only its owner knows. */
export const frameOfItem = (
  item: CacheItem,
  { nowMs, coarseNowMs }: { readonly nowMs: number; readonly coarseNowMs: number },
  { grant, lease }: Pick<AnswerFrame, 'grant' | 'lease'>,
): AnswerFrame => ({
  key: item.key,
  slot: item.slot,
  final: item.final,
  policy: item.policy,
  meta: item.meta,
  tipAtFetch: item.tipAtFetch,
  ageMs: nowMs - item.validatedMs,
  result: item.kind === 'answer' ? item.result.toString() : null,
  refusal: item.kind === 'refusal' ? item.refusal : null,
  digest: item.digest,
  grant,
  body: item.meta.envelope === 'signed' ? (item.body ?? null) : null, // another body is made of the result at once
  sealedAgeMs: item.body === undefined ? 0 : coarseNowMs - item.sealedMs,
  lease,
});
