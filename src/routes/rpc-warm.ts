import type { Entry } from '../cache/entry.ts';
import type { Slot } from '../domain/answer.ts';
import type { Commitment } from '../domain/commitment.ts';
import { API_PREFIX } from '../domain/request.ts';
import type { Context } from './route.ts';
import { commitmentIn, isPlain, type RpcCall } from './rpc-call.ts';

/** An answer that is at hand without a question to the upstream. */
export interface Warm {
  readonly slot: Slot;
  /** The result as a node would write it; undefined where what is kept can't be written so. */
  write(): string | undefined;
}

/** What other routes keep warm and a call asks for; undefined where there is nothing that is fresh. */
export function warmAnswer(call: RpcCall, context: Context): Warm | undefined {
  const { method, params } = call;
  const commitment = commitmentIn(call);
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

function slotAt(commitment: Commitment, { mesh, cache }: Context): Warm | undefined {
  const slot = commitment === 'processed' ? cache.tip : mesh.tip(commitment);
  return slot === undefined ? undefined : { slot, write: () => String(slot) };
}

function epochAt(commitment: Commitment, context: Context): Warm | undefined {
  const entry = freshEntry('/epoch', commitment, context);
  return entry && { slot: entry.slot, write: () => epochResult(entry.result) };
}

/** The gateway has written it itself, from integers that a double holds. */
function epochResult(kept: string): string {
  const { absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch, transactionCount } = JSON.parse(kept);
  return JSON.stringify({ absoluteSlot, blockHeight, epoch, slotIndex, slotsInEpoch, transactionCount });
}

function balanceAt(address: unknown, commitment: Commitment, context: Context): Warm | undefined {
  const entry = typeof address === 'string' ? freshEntry(`/balance/${address}`, commitment, context) : undefined;
  return entry && withContext(entry, context, (kept) => /^\{"lamports":(\d+)/.exec(kept)?.[1]);
}

/** A value beside the slot it holds at, and the version that a node last named there. */
function withContext(
  { slot, result }: Entry,
  { mesh: { apiVersion } }: Context,
  read: (kept: string) => string | undefined,
): Warm {
  return {
    slot,
    write() {
      const value = read(result);
      if (value === undefined || apiVersion === undefined) return undefined;
      return `{"context":{"apiVersion":${JSON.stringify(apiVersion)},"slot":${slot}},"value":${value}}`;
    },
  };
}

/** What a route keeps at this commitment, under either of the two ways to ask for it. */
function freshEntry(path: string, commitment: Commitment, { cache }: Context): Entry | undefined {
  const key = API_PREFIX + path;
  const kept = [cache.peek(`${key}?commitment=${commitment}`), cache.peek(key)];
  const candidates = kept.map((entry) => entry && cache.carry(entry));
  return candidates.find((entry) => entry?.label.commitment === commitment && cache.isFresh(entry));
}
