import type { ConfiguredOperators } from '../../../config/operators.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { GATEWAY_CALLER, type RequestCost } from '../../../shared/domain/units.ts';
import type { TaskOwner } from '../../../shared/runtime/thread-pool.ts';

/** What a read is made for, and how new its answer must be. All that reads for a miss is given it. */
export interface RequestScope {
  /** What it makes at the upstream; undefined for work of the gateway itself, which nobody pays. */
  readonly cost: RequestCost | undefined;
  /** Oldest slot that an answer may have: an older one was served already, or the caller has seen this slot. */
  readonly minSlot: Slot | undefined;
  /** Oldest slot that a snapshot may have, from which several answers come: the caller has seen it. Default: 0. */
  readonly namedSlot?: Slot;
  /** Operators that must give the answer. Default: 1. */
  readonly agree?: number | undefined;
  /** The most bytes that the answers of a batch may have together. Default: any number. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a call at another process needs of its scope. */
export type CallScope = Pick<RequestScope, 'minSlot' | 'maxBytes'>;

export const isDemanded = ({ agree = 1 }: Pick<RequestScope, 'agree'>): boolean => agree > 1;

/** Returns the operators that must give an answer; `isExact` if it is to be signed as `exact`, or kept for good. */
export const agreeFor = (
  { agree = 1 }: Pick<RequestScope, 'agree'>,
  { operators }: { readonly operators: ConfiguredOperators | undefined },
  isExact: boolean,
): number => (isExact ? Math.max(agree, operators?.needed ?? 1) : agree);

/** A query that names the request it counts for. What forgets that does not compile. */
export type Counted<Q> = Q & Pick<RequestScope, 'cost'>;

/** Returns the request that waits for work of threads. Work of the gateway itself, such as a refresh, queues as one more caller. */
export const requesterOf = ({ cost, signal }: Pick<RequestScope, 'cost' | 'signal'>): TaskOwner =>
  cost === undefined ? { caller: GATEWAY_CALLER } : { caller: cost.caller, signal };
