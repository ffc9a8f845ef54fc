import type { AnswerMeta, CachePolicy } from '../../cache/entry.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { ReadMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { toJson } from '../../domain/to-json.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

/** A call, with the properties of all its answers. */
export interface RpcReadRequest {
  readonly call: RpcCall;
  /** Key of the answer in the cache. The slots of answers under one key never go back. */
  readonly key: string;
  /** Life of a cached answer; 0 slots for methods that are never cached. */
  readonly policy: CachePolicy;
  readonly meta: AnswerMeta;
  /** Oldest slot that the caller accepts: the higher one of `minContextSlot` and `X-Min-Slot`; 0 for any. */
  readonly minSlot: Slot;
  /** Whether `X-Min-Slot` is that slot. The node itself speaks for `minContextSlot`. */
  readonly waitsForMinSlot: boolean;
}

/** Life of a cached answer, in slots. Methods that aren't listed are never cached. */
const LIFETIME_SLOTS: Partial<Record<ReadMethod, number>> = {
  getBalance: 2,
  getAccountInfo: 2,
  getMultipleAccounts: 2,
  getSlot: 1,
  getBlockHeight: 1,
  getEpochInfo: 2,
  getLatestBlockhash: 2,
  getTokenAccountsByOwner: 2,
  getTokenAccountBalance: 2,
  getTokenSupply: 2,
  getSignaturesForAddress: 2,
  getTransaction: 2,
  getBlock: 2,
  getBlockTime: 25,
  getRecentPrioritizationFees: 2,
  getRecentPerformanceSamples: 25,
  getBlockProduction: 25,
  getTokenLargestAccounts: 25,
  getClusterNodes: 150,
  getVersion: 1500,
};

/** Methods about the whole cluster: answers at one commitment share a key, whatever the other parameters. */
const CLUSTER_WIDE_METHODS: ReadonlySet<ReadMethod> = new Set(['getSlot', 'getBlockHeight', 'getEpochInfo']);

/** Returns the read that answers a call, at the slot of its `X-Min-Slot` or later. */
export function toReadRequest(call: RpcCall, minSlot: Slot): RpcReadRequest {
  const { method, params } = call;
  const minContextSlot = minContextSlotOf(params) ?? 0;
  const commitment = commitmentOfCall(call);
  const isClusterWide = CLUSTER_WIDE_METHODS.has(method) && hasOnlyStandardConfig(params);
  return {
    call,
    key: `rpc ${method} ${isClusterWide ? commitment : toJson(params)}`,
    policy: isClusterWide && method === 'getSlot' ? 'live' : { slots: lifetimeSlotsOf(method, commitment) },
    meta: { envelope: 'bare', commitment, exact: false },
    minSlot: Math.max(minContextSlot, minSlot),
    waitsForMinSlot: minSlot > minContextSlot,
  };
}

/** Returns the life of an answer. A processed one lives for a slot, since the next slot may take it back. */
function lifetimeSlotsOf(method: ReadMethod, commitment: Commitment): number {
  const slots = LIFETIME_SLOTS[method] ?? 0;
  return commitment === 'processed' ? Math.min(slots, 1) : slots;
}
