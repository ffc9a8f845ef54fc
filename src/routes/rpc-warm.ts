import type { Entry } from '../cache/entry.ts';
import type { Slot } from '../domain/answer.ts';
import { COMMITMENTS, type Commitment } from '../domain/commitment.ts';
import { API_PREFIX } from '../domain/request.ts';
import type { Context } from './route.ts';
import type { RpcCall } from './rpc-call.ts';

/** A result as a node would write it. */
export interface WarmResult {
  readonly result: string;
  readonly slot: Slot;
}

/** Answers a call from what other routes keep warm, with the same members as a node's answer; undefined if it can't. */
export function warmResult(call: RpcCall, commitment: Commitment, context: Context): WarmResult | undefined {
  if (context.cache.stalled) return undefined;
  const { method, params } = call;
  switch (method) {
    case 'getSlot':
      return isPlain(params) ? slotAt(commitment, context) : undefined;
    case 'getEpochInfo':
      return isPlain(params) ? epochAt(commitment, context) : undefined;
    case 'getBalance':
      return isPlain(params.slice(1)) ? balanceAt(params[0], commitment, context) : undefined;
    default:
      return undefined;
  }
}

/** No parameters but a configuration of known members: whatever else there is, the node must judge it. */
function isPlain([config = {}, ...more]: readonly unknown[]): boolean {
  if (typeof config !== 'object' || config === null || Array.isArray(config) || more.length > 0) return false;
  return Object.entries(config).every(([name, value]) =>
    name === 'commitment'
      ? COMMITMENTS.includes(value)
      : name === 'minContextSlot' && Number.isSafeInteger(value) && value >= 0,
  );
}

function slotAt(commitment: Commitment, { mesh, cache }: Context): WarmResult | undefined {
  const slot = commitment === 'processed' ? cache.tip : mesh.tip(commitment);
  return slot === undefined ? undefined : { result: String(slot), slot };
}

function epochAt(commitment: Commitment, context: Context): WarmResult | undefined {
  const entry = freshEntry('/epoch', commitment, context);
  if (entry === undefined) return undefined;
  // Written by the gateway itself, from integers that a double holds.
  const { absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch, transactionCount } = JSON.parse(entry.result);
  const result = JSON.stringify({ absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch, transactionCount });
  return { result, slot: entry.slot };
}

function balanceAt(address: unknown, commitment: Commitment, context: Context): WarmResult | undefined {
  const { apiVersion } = context.mesh;
  const entry = typeof address === 'string' ? freshEntry(`/balance/${address}`, commitment, context) : undefined;
  const lamports = entry && /^\{"lamports":(\d+)/.exec(entry.result)?.[1];
  if (entry === undefined || lamports === undefined || apiVersion === undefined) return undefined;
  const { slot } = entry;
  return {
    result: `{"context":{"apiVersion":${JSON.stringify(apiVersion)},"slot":${slot}},"value":${lamports}}`,
    slot,
  };
}

/** What a route keeps at this commitment, under either of the two ways to ask for it. */
function freshEntry(path: string, commitment: Commitment, { cache }: Context): Entry | undefined {
  const key = API_PREFIX + path;
  const kept = [cache.peek(`${key}?commitment=${commitment}`), cache.peek(key)];
  const candidates = kept.map((entry) => entry && cache.carry(entry));
  return candidates.find((entry) => entry?.label.commitment === commitment && cache.isFresh(entry));
}
