import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import { type Members, members, parseSafeInteger } from '../json/raw-json.ts';
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

/** Methods that accept no commitment, and read the newest bank (agave, rpc.rs). */
const PROCESSED_METHODS: ReadonlySet<string> = new Set(['getSignatureStatuses']);

/** Methods that return no context, but refuse to answer from before a given `minContextSlot`. */
const METHODS_WITH_MIN_CONTEXT_SLOT: ReadonlySet<RpcMethod> = new Set(['getBlockHeight', 'getSignaturesForAddress']);

/** A node's result, and its members if it is an object. */
export interface NodeResult {
  readonly result: Buffer;
  readonly members: Members | undefined;
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
  { result, members: parts }: NodeResult,
  anchor: Slot | undefined,
): DatedResponse | undefined {
  // With `withContext` getProgramAccounts has a context too; otherwise its result is an array.
  if (METHODS_WITH_CONTEXT.has(method) || (method === 'getProgramAccounts' && result[0] === OPEN_OBJECT)) {
    const [context, value] = [parts?.get('context'), parts?.get('value')];
    if (context === undefined || value === undefined) {
      throw new GatewayError('upstream_error', 'a node sent a response without its context');
    }
    const contextMembers = members(context);
    const slot = parseSafeInteger(contextMembers.get('slot'));
    return { response: { slot, result, value }, isOwnSlot: true, apiVersion: contextMembers.get('apiVersion') };
  }
  const ownSlot = slotInResult(method, result, parts);
  const slot = ownSlot ?? (METHODS_WITH_MIN_CONTEXT_SLOT.has(method) ? minContextSlotOf(params) : undefined) ?? anchor;
  if (slot === undefined) return undefined;
  return { response: { slot, result, value: result }, isOwnSlot: ownSlot !== undefined, apiVersion: undefined };
}

/** Returns the commitment of a call: `finalized` by default (Solana RPC), undefined for an unknown name. */
export function commitmentOf(method: string, params: readonly unknown[]): Commitment | undefined {
  if (PROCESSED_METHODS.has(method)) return 'processed';
  const { commitment } = configOf(params);
  return COMMITMENTS.find((known) => known === (commitment ?? 'finalized'));
}

export function minContextSlotOf(params: readonly unknown[]): Slot | undefined {
  const { minContextSlot } = configOf(params);
  const isSlot = typeof minContextSlot === 'number' && Number.isSafeInteger(minContextSlot) && minContextSlot >= 0;
  return isSlot ? minContextSlot : undefined;
}

/** Returns true if a response's slot is only the `minContextSlot` of the request: the node may be far ahead of it. */
export const isSlotLowerBound = (method: RpcMethod, params: readonly unknown[]): boolean =>
  METHODS_WITH_MIN_CONTEXT_SLOT.has(method) && minContextSlotOf(params) !== undefined;

function slotInResult(method: RpcMethod, result: Buffer, parts: Members | undefined): Slot | undefined {
  if (method === 'getSlot') return parseSafeInteger(result);
  if (method === 'getEpochInfo') return parseSafeInteger(parts?.get('absoluteSlot'));
  return undefined;
}

function configOf(params: readonly unknown[]): { readonly commitment?: unknown; readonly minContextSlot?: unknown } {
  const last = params.at(-1);
  return typeof last === 'object' && last !== null ? { ...last } : {};
}
