import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { ReadMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { toJson } from '../../../shared/domain/to-json.ts';
import type { AnswerMeta, CachePolicy, TimedPolicy } from '../../cache/entry.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { SerializedAnswer } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

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

interface MethodFacts {
  /** Life of a cached answer: in slots where each may change it. Undefined: never cached. */
  readonly life: TimedPolicy | undefined;
  /** The position of the config among the parameters, where a node accepts a `minContextSlot` in it. */
  readonly configAt?: number;
  /** Whether it is about the whole cluster: answers at one commitment share a key, whatever the other parameters. */
  readonly isClusterWide?: true;
  /** Whether its result may be as long as a response of a node may be. */
  readonly isLarge?: true;
  /** Whether a node reads all accounts of a program for it, or all accounts. */
  readonly isScan?: true;
}

export const RPC_METHODS: Readonly<Record<ReadMethod, MethodFacts>> = {
  getBalance: { life: TWO_SLOTS, configAt: 1 },
  getAccountInfo: { life: TWO_SLOTS, configAt: 1, isLarge: true },
  getMultipleAccounts: { life: TWO_SLOTS, configAt: 1, isLarge: true },
  getSlot: { life: ONE_SLOT, configAt: 0, isClusterWide: true },
  getBlockHeight: { life: ONE_SLOT, configAt: 0, isClusterWide: true },
  getEpochInfo: { life: TWO_SLOTS, configAt: 0, isClusterWide: true },
  getLatestBlockhash: { life: TWO_SLOTS, configAt: 0 },
  getTokenAccountsByOwner: { life: TWO_SLOTS, configAt: 2, isLarge: true },
  getTokenAccountBalance: { life: TWO_SLOTS },
  getTokenSupply: { life: TWO_SLOTS },
  getSignaturesForAddress: { life: TWO_SLOTS, configAt: 1 },
  getTransaction: { life: TWO_SLOTS },
  getBlock: { life: TWO_SLOTS, isLarge: true },
  getBlockTime: { life: TEN_SECONDS },
  getRecentPrioritizationFees: { life: TWO_SLOTS },
  getRecentPerformanceSamples: { life: TEN_SECONDS },
  getBlockProduction: { life: TEN_SECONDS, isLarge: true },
  getTokenLargestAccounts: { life: TEN_SECONDS },
  getClusterNodes: { life: ONE_MINUTE, isLarge: true },
  getVersion: { life: TEN_MINUTES },
  getHealth: { life: undefined },
  getSignatureStatuses: { life: ONE_SLOT },
  isBlockhashValid: { life: ONE_SLOT, configAt: 1 },
  getFeeForMessage: { life: TWO_SLOTS, configAt: 1 },
  getTransactionCount: { life: ONE_SLOT, configAt: 0, isClusterWide: true },
  getSlotLeader: { life: ONE_SLOT, configAt: 0 },
  getBlocks: { life: TWO_SLOTS, configAt: 2, isLarge: true },
  getBlocksWithLimit: { life: TWO_SLOTS, configAt: 2, isLarge: true },
  getSlotLeaders: { life: TEN_SECONDS },
  getFirstAvailableBlock: { life: TEN_SECONDS },
  minimumLedgerSlot: { life: TEN_SECONDS },
  getTokenAccountsByDelegate: { life: TEN_SECONDS, configAt: 2, isLarge: true, isScan: true },
  getVoteAccounts: { life: TEN_SECONDS, isLarge: true },
  getSupply: { life: ONE_MINUTE, isScan: true },
  getInflationRate: { life: ONE_MINUTE }, // changes with the epoch
  getInflationReward: { life: ONE_MINUTE, configAt: 1 },
  getStakeMinimumDelegation: { life: ONE_MINUTE },
  getIdentity: { life: TEN_MINUTES },
  getEpochSchedule: { life: TEN_MINUTES },
  getMinimumBalanceForRentExemption: { life: TEN_MINUTES }, // the rent, from which each is computed
  getGenesisHash: { life: undefined }, // known since the start
};

/** Returns the read that answers a call, at the slot of its `X-Min-Slot` or later. */
export function toReadRequest(call: RpcCall, minSlot: Slot): RpcReadRequest {
  const { method, params } = call;
  const minContextSlot = minContextSlotOf(params) ?? 0;
  const commitment = commitmentOfCall(call);
  const isClusterWide = RPC_METHODS[method].isClusterWide === true && hasOnlyStandardConfig(params);
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
  const { life } = RPC_METHODS[method];
  return life !== undefined && commitment === 'processed' ? ONE_SLOT : life;
}
