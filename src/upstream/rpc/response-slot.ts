import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import { member, members, membersYielding, parseSafeInteger } from '../json/raw-json.ts';
import type { RpcResponse } from './rpc-response.ts';

/** Answers `{context, value}`: the node itself names the slot. */
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
]);

/** No context in the answer, but the node refuses to answer from before the `minContextSlot` it is given. */
const METHODS_WITH_MIN_CONTEXT_SLOT: ReadonlySet<RpcMethod> = new Set(['getBlockHeight', 'getSignaturesForAddress']);

/** A reading, and what it tells beside: whether the node itself showed the slot, and its version. */
export interface DatedResponse {
  readonly response: RpcResponse;
  readonly isOwnSlot: boolean;
  readonly apiVersion: Buffer | undefined;
}

/**
 * Finds the slot at which a node's `result` holds (API 2.0): the one it names, else the `minContextSlot` that it was
 * held to, else `anchor`, which the node had shown before it was asked. Undefined when none of the three is known.
 */
export async function slotOfResponse(
  method: RpcMethod,
  params: readonly unknown[],
  result: Buffer,
  anchor: Slot | undefined,
): Promise<DatedResponse | undefined> {
  // Asked with `withContext`, getProgramAccounts has one too; else its result is an array.
  if (METHODS_WITH_CONTEXT.has(method) || (method === 'getProgramAccounts' && result[0] === 0x7b)) {
    const parts = await membersYielding(result);
    const [context, value] = [parts.get('context'), parts.get('value')];
    if (context === undefined || value === undefined) {
      throw new GatewayError('upstream_error', 'an answer came without its context');
    }
    const contextMembers = members(context);
    const slot = parseSafeInteger(contextMembers.get('slot'));
    return { response: { slot, result, value }, isOwnSlot: true, apiVersion: contextMembers.get('apiVersion') };
  }
  const ownSlot = slotInResult(method, result);
  const slot = ownSlot ?? (METHODS_WITH_MIN_CONTEXT_SLOT.has(method) ? minContextSlotOf(params) : undefined) ?? anchor;
  if (slot === undefined) return undefined;
  return { response: { slot, result, value: result }, isOwnSlot: ownSlot !== undefined, apiVersion: undefined };
}

/** At which commitment a node answers `params`: `finalized` where they name none. Undefined for a name we don't know. */
export function commitmentOf(params: readonly unknown[]): Commitment | undefined {
  const { commitment } = configOf(params);
  return COMMITMENTS.find((known) => known === (commitment ?? 'finalized'));
}

/** The `minContextSlot` that the answer must not be older than, where the caller names one. */
export function minContextSlotOf(params: readonly unknown[]): Slot | undefined {
  const { minContextSlot } = configOf(params);
  const isSlot = typeof minContextSlot === 'number' && Number.isSafeInteger(minContextSlot) && minContextSlot >= 0;
  return isSlot ? minContextSlot : undefined;
}

/** True where the slot of a reading is only the floor that the node was held to: the node itself may be far ahead. */
export const isSlotLowerBound = (method: RpcMethod, params: readonly unknown[]): boolean =>
  METHODS_WITH_MIN_CONTEXT_SLOT.has(method) && minContextSlotOf(params) !== undefined;

function slotInResult(method: RpcMethod, result: Buffer): Slot | undefined {
  if (method === 'getSlot') return parseSafeInteger(result);
  if (method === 'getEpochInfo') return parseSafeInteger(member(result, 'absoluteSlot'));
  return undefined;
}

/** The config object of a read is always its last parameter. */
function configOf(params: readonly unknown[]): { readonly commitment?: unknown; readonly minContextSlot?: unknown } {
  const last = params.at(-1);
  return typeof last === 'object' && last !== null ? { ...last } : {};
}
