import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { ReadMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import type { AnswerMeta, CachePolicy, TimedPolicy } from '../../cache/entry.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { SerializedAnswer } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

/** A call, with the properties of all its answers. */
export interface RpcReadRequest {
  readonly call: RpcCall;
  /** Key of the answer in the cache. The slots of answers under one key never go back. */
  readonly key: string;
  /** Life of a cached answer; undefined for methods that are never cached. */
  readonly policy: CachePolicy | undefined;
  readonly meta: AnswerMeta;
  /** Oldest slot that the caller accepts: the higher one of `minContextSlot` and `X-Min-Slot`; 0 for any. */
  readonly minSlot: Slot;
  /** Throws GatewayError for an answer that must not be cached or returned. */
  readonly check?: (answer: SerializedAnswer) => void;
  /** Whether `X-Min-Slot` is that slot. The node itself speaks for `minContextSlot`. */
  readonly waitsForMinSlot: boolean;
}

const ONE_SLOT: TimedPolicy = { slots: 1 };
const TWO_SLOTS: TimedPolicy = { slots: 2 };
const TEN_SECONDS: TimedPolicy = { ms: 10_000 };
const ONE_MINUTE: TimedPolicy = { ms: 60_000 };
const TEN_MINUTES: TimedPolicy = { ms: 600_000 };

/** Life of a cached answer: in slots where each may change it. Undefined: never cached. */
const LIFETIMES: Readonly<Record<ReadMethod, TimedPolicy | undefined>> = {
  getBalance: TWO_SLOTS,
  getAccountInfo: TWO_SLOTS,
  getMultipleAccounts: TWO_SLOTS,
  getSlot: ONE_SLOT,
  getBlockHeight: ONE_SLOT,
  getEpochInfo: TWO_SLOTS,
  getLatestBlockhash: TWO_SLOTS,
  getTokenAccountsByOwner: TWO_SLOTS,
  getTokenAccountBalance: TWO_SLOTS,
  getTokenSupply: TWO_SLOTS,
  getSignaturesForAddress: TWO_SLOTS,
  getTransaction: TWO_SLOTS,
  getBlock: TWO_SLOTS,
  getBlockTime: TEN_SECONDS,
  getRecentPrioritizationFees: TWO_SLOTS,
  getRecentPerformanceSamples: TEN_SECONDS,
  getBlockProduction: TEN_SECONDS,
  getTokenLargestAccounts: TEN_SECONDS,
  getClusterNodes: ONE_MINUTE,
  getVersion: TEN_MINUTES,
  getHealth: undefined,
  getSignatureStatuses: ONE_SLOT,
  isBlockhashValid: ONE_SLOT,
  getFeeForMessage: TWO_SLOTS,
  getTransactionCount: ONE_SLOT,
  getSlotLeader: ONE_SLOT,
  getBlocks: TWO_SLOTS,
  getBlocksWithLimit: TWO_SLOTS,
  getSlotLeaders: TEN_SECONDS,
  getFirstAvailableBlock: TEN_SECONDS,
  minimumLedgerSlot: TEN_SECONDS,
  getTokenAccountsByDelegate: TEN_SECONDS, // a scan
  getVoteAccounts: TEN_SECONDS,
  getSupply: ONE_MINUTE, // a scan
  getInflationRate: ONE_MINUTE, // changes with the epoch
  getInflationReward: ONE_MINUTE,
  getStakeMinimumDelegation: ONE_MINUTE,
  getIdentity: TEN_MINUTES,
  getEpochSchedule: TEN_MINUTES,
  getMinimumBalanceForRentExemption: TEN_MINUTES, // the rent, from which each is computed
  getGenesisHash: undefined, // known since the start
};

/** Methods about the whole cluster: answers at one commitment share a key, whatever the other parameters. */
const CLUSTER_WIDE_METHODS: ReadonlySet<ReadMethod> = new Set([
  'getSlot',
  'getBlockHeight',
  'getEpochInfo',
  'getTransactionCount',
]);

/** Returns the read that answers a call, at the slot of its `X-Min-Slot` or later. */
export function toReadRequest(call: RpcCall, minSlot: Slot): RpcReadRequest {
  const { method, params } = call;
  const minContextSlot = minContextSlotOf(params) ?? 0;
  const commitment = commitmentOfCall(call);
  const isClusterWide = CLUSTER_WIDE_METHODS.has(method) && hasOnlyStandardConfig(params);
  return {
    call,
    key: `rpc ${method} ${isClusterWide ? commitment : toJson(params)}`,
    policy: isClusterWide && method === 'getSlot' ? 'live' : lifetimeOf(method, commitment),
    meta: { envelope: 'bare', commitment, exact: false },
    minSlot: Math.max(minContextSlot, minSlot),
    waitsForMinSlot: minSlot > minContextSlot,
  };
}

/** Returns the life of an answer. A processed one lives for a slot, since the next slot may take it back. */
export function lifetimeOf(method: ReadMethod, commitment: Commitment): TimedPolicy | undefined {
  const lifetime = LIFETIMES[method];
  return lifetime !== undefined && commitment === 'processed' ? ONE_SLOT : lifetime;
}
