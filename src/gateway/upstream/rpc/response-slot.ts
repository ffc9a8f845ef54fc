import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import { type Picked, parseSafeInteger, pickMembers } from '../json/raw-json.ts';
import type { RpcResponse } from './rpc-response.ts';

/** Methods that return `{context, value}`: the node itself names the slot (Solana RPC, RpcResponse). */
const METHODS_WITH_CONTEXT: ReadonlySet<RpcMethod> = new Set([
  'getBalance',
  'getAccountInfo',
  'getMultipleAccounts',
  'getBlockProduction',
  'getTokenAccountsByOwner',
  'getTokenAccountBalance',
  'getTokenSupply',
  'getTokenLargestAccounts',
  'getLatestBlockhash',
  'getSignatureStatuses',
  'isBlockhashValid',
  'getFeeForMessage',
  'getStakeMinimumDelegation',
  'getTokenAccountsByDelegate',
  'getSupply',
]);

/**
 * Methods that accept no commitment: statuses are of the newest bank (agave, rpc.rs), and the others say of confirmed slots what
 * they say of any.
 */
const FIXED_COMMITMENTS: ReadonlyMap<string, Commitment> = new Map([
  ['getSignatureStatuses', 'processed'],
  ['getBlockTime', 'confirmed'],
  ['getClusterNodes', 'confirmed'],
  ['getEpochSchedule', 'confirmed'],
  ['getFirstAvailableBlock', 'confirmed'],
  ['getHealth', 'confirmed'],
  ['getIdentity', 'confirmed'],
  ['getRecentPerformanceSamples', 'confirmed'],
  ['getRecentPrioritizationFees', 'confirmed'],
  ['getSlotLeaders', 'confirmed'],
  ['getVersion', 'confirmed'],
  ['minimumLedgerSlot', 'confirmed'],
]);

/** Methods that return no context, but refuse to answer from before a given `minContextSlot`. */
const METHODS_WITH_MIN_CONTEXT_SLOT: ReadonlySet<RpcMethod> = new Set(['getBlockHeight', 'getSignaturesForAddress']);

/** The members of a result that may name its slot. */
export const DATING_MEMBERS = ['context', 'value', 'absoluteSlot'];

/** The longest context that is looked at: a slot and the version of a server. */
const MAX_CONTEXT_BYTES = 1024;

/** A node's result, and its {@link DATING_MEMBERS} if it is an object. */
export interface NodeResult {
  readonly result: Buffer;
  readonly dating: Picked | undefined;
}

/** Response with its slot, whether the node itself named that slot, and the node's version. */
export interface DatedResponse {
  readonly response: RpcResponse;
  readonly isOwnSlot: boolean;
  readonly apiVersion: Buffer | undefined;
}

/**
 * Finds the slot at which a node's `result` holds: the one it names, else the `minContextSlot` of the request, else
 * `anchor`, the node's latest slot when the request was sent. Returns undefined when none of the three is known.
 */
export function slotOfResponse(
  method: RpcMethod,
  params: readonly unknown[],
  { result, dating = [] }: NodeResult,
  anchor: Slot | undefined,
): DatedResponse | undefined {
  const [context, value, absoluteSlot] = dating;
  // With `withContext` getProgramAccounts has a context too; otherwise its result is an array.
  if (METHODS_WITH_CONTEXT.has(method) || (method === 'getProgramAccounts' && result[0] === OPEN_OBJECT)) {
    if (context === undefined || value === undefined || context.length > MAX_CONTEXT_BYTES) {
      throw new GatewayError('upstream_error', 'a node sent a response without its context');
    }
    const [slotBytes, apiVersion] = pickMembers(context, ['slot', 'apiVersion']);
    return { response: { slot: parseSafeInteger(slotBytes), result, value }, isOwnSlot: true, apiVersion };
  }
  const ownSlot = slotInResult(method, result, absoluteSlot);
  const slot = ownSlot ?? (METHODS_WITH_MIN_CONTEXT_SLOT.has(method) ? minContextSlotOf(params) : undefined) ?? anchor;
  if (slot === undefined) return undefined;
  return { response: { slot, result, value: result }, isOwnSlot: ownSlot !== undefined, apiVersion: undefined };
}

/** Returns the commitment of a call: `finalized` by default (Solana RPC), undefined for an unknown name. */
export function commitmentOf(method: string, params: readonly unknown[]): Commitment | undefined {
  const fixed = FIXED_COMMITMENTS.get(method);
  if (fixed !== undefined) return fixed;
  const { commitment } = configOf(params);
  return COMMITMENTS.find((known) => known === (commitment ?? 'finalized'));
}

export function minContextSlotOf(params: readonly unknown[]): Slot | undefined {
  const { minContextSlot } = configOf(params);
  const isSlot = typeof minContextSlot === 'number' && Number.isSafeInteger(minContextSlot) && minContextSlot >= 0;
  return isSlot ? minContextSlot : undefined;
}

/** Returns the parameters with this `minContextSlot` in their config. */
export function withMinContextSlot(params: readonly unknown[], minContextSlot: Slot): readonly unknown[] {
  const config = params.at(-1);
  return typeof config === 'object' && config !== null && !Array.isArray(config)
    ? [...params.slice(0, -1), { ...config, minContextSlot }]
    : [...params, { minContextSlot }];
}

/** Returns true for statuses that are not searched for in the ledger: nodes have those of the last 150 blocks (Solana RPC). */
export const isOfRecent = (method: RpcMethod, params: readonly unknown[]): boolean =>
  method === 'getSignatureStatuses' && configOf(params).searchTransactionHistory !== true;

/** Returns true if a response's slot is only the `minContextSlot` of the request: the node may be far ahead of it. */
export const isSlotLowerBound = (method: RpcMethod, params: readonly unknown[]): boolean =>
  METHODS_WITH_MIN_CONTEXT_SLOT.has(method) && minContextSlotOf(params) !== undefined;

function slotInResult(method: RpcMethod, result: Buffer, absoluteSlot: Buffer | undefined): Slot | undefined {
  if (method === 'getSlot') return parseSafeInteger(result);
  if (method === 'getEpochInfo') return parseSafeInteger(absoluteSlot);
  return undefined;
}

interface Config {
  readonly commitment?: unknown;
  readonly minContextSlot?: unknown;
  readonly searchTransactionHistory?: unknown;
}

/** Returns the last parameter that is there, where that is a config: null stands for one that is left out. */
function configOf(params: readonly unknown[]): Config {
  const last = params.findLast((each) => each !== null);
  return typeof last === 'object' ? { ...last } : {};
}
