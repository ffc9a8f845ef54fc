import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/error.ts';
import type { Read } from '../../domain/read-method.ts';
import type { Slot } from '../../domain/slot.ts';
import { member, members, membersInTurns, safeInteger } from '../json/raw-json.ts';
import type { Reading } from './call.ts';

/** Answers `{context, value}`: the node itself names the slot. */
const WITH_CONTEXT: ReadonlySet<Read> = new Set([
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
const AT_LEAST: ReadonlySet<Read> = new Set(['getBlockHeight', 'getSignaturesForAddress']);

/** A reading, and what it tells beside: whether the node itself showed the slot, and its version. */
export interface Reported {
  readonly reading: Reading;
  readonly shown: boolean;
  readonly apiVersion: Buffer | undefined;
}

/**
 * Finds the slot at which a node's `result` holds (API 2.0): the one it names, else the `minContextSlot` that it was
 * held to, else `anchor`, which the node had shown before it was asked. Undefined when none of the three is known.
 */
export async function report(
  method: Read,
  params: readonly unknown[],
  result: Buffer,
  anchor: Slot | undefined,
): Promise<Reported | undefined> {
  // Asked with `withContext`, getProgramAccounts has one too; else its result is an array.
  if (WITH_CONTEXT.has(method) || (method === 'getProgramAccounts' && result[0] === 0x7b)) {
    const parts = await membersInTurns(result);
    const [context, value] = [parts.get('context'), parts.get('value')];
    if (context === undefined || value === undefined) {
      throw new GatewayError('upstream_error', 'an answer came without its context');
    }
    const about = members(context);
    const slot = safeInteger(about.get('slot'));
    return { reading: { slot, result, value }, shown: true, apiVersion: about.get('apiVersion') };
  }
  const own = ownSlot(method, result);
  const slot = own ?? (AT_LEAST.has(method) ? floorOf(params) : undefined) ?? anchor;
  if (slot === undefined) return undefined;
  return { reading: { slot, result, value: result }, shown: own !== undefined, apiVersion: undefined };
}

/** At which commitment a node answers `params`: `finalized` where they name none. Undefined for a name we don't know. */
export function commitmentOf(params: readonly unknown[]): Commitment | undefined {
  const { commitment } = config(params);
  return COMMITMENTS.find((known) => known === (commitment ?? 'finalized'));
}

/** The `minContextSlot` that the answer must not be older than, where the caller names one. */
export function floorOf(params: readonly unknown[]): Slot | undefined {
  const { minContextSlot } = config(params);
  const isSlot = typeof minContextSlot === 'number' && Number.isSafeInteger(minContextSlot) && minContextSlot >= 0;
  return isSlot ? minContextSlot : undefined;
}

/** True where the slot of a reading is only the floor that the node was held to: the node itself may be far ahead. */
export const isFloor = (method: Read, params: readonly unknown[]): boolean =>
  AT_LEAST.has(method) && floorOf(params) !== undefined;

function ownSlot(method: Read, result: Buffer): Slot | undefined {
  if (method === 'getSlot') return safeInteger(result);
  if (method === 'getEpochInfo') return safeInteger(member(result, 'absoluteSlot'));
  return undefined;
}

/** The config object of a read is always its last parameter. */
function config(params: readonly unknown[]): { readonly commitment?: unknown; readonly minContextSlot?: unknown } {
  const last = params.at(-1);
  return typeof last === 'object' && last !== null ? { ...last } : {};
}
