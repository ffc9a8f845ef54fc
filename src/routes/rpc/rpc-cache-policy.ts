import type { CachePolicy } from '../../cache/entry.ts';
import type { Commitment } from '../../domain/commitment.ts';
import type { ReadMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { toJson } from '../../domain/to-json.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './rpc-call.ts';

/** A call, and what holds of every answer to it. */
export interface RpcReadRequest {
  readonly call: RpcCall;
  readonly commitment: Commitment;
  /** The name of the answer in the cache: of those with one name none goes back. */
  readonly key: string;
  /** For how long it may be given again; for 0 slots where it is always asked for. */
  readonly policy: CachePolicy;
  /** The caller has seen this slot: the answer must not be older. */
  readonly minSlot: Slot;
}

/** For how many slots an answer may be given again; a method that is not here is always asked. */
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

/** Told of the cluster as a whole: one question at each commitment, in however many ways it is asked. */
const CLUSTER_WIDE_METHODS: ReadonlySet<ReadMethod> = new Set(['getSlot', 'getBlockHeight', 'getEpochInfo']);

export function toReadRequest(call: RpcCall): RpcReadRequest {
  const { method, params } = call;
  const commitment = commitmentOfCall(call);
  const isClusterWide = CLUSTER_WIDE_METHODS.has(method) && hasOnlyStandardConfig(params);
  return {
    call,
    commitment,
    key: `rpc ${method} ${isClusterWide ? commitment : toJson(params)}`,
    policy: isClusterWide && method === 'getSlot' ? 'live' : { slots: lifetimeSlotsOf(method, commitment) },
    minSlot: minContextSlotOf(params) ?? 0,
  };
}

/** What is only processed may be taken back with the next slot. */
function lifetimeSlotsOf(method: ReadMethod, commitment: Commitment): number {
  const slots = LIFETIME_SLOTS[method] ?? 0;
  return commitment === 'processed' ? Math.min(slots, 1) : slots;
}
