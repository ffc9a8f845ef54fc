import { z } from 'zod';
import type { Commitment } from '../domain/commitment.ts';
import { GatewayError } from '../domain/error.ts';
import { toJson } from '../domain/json.ts';
import { READ_METHODS, type ReadMethod } from '../domain/read-method.ts';
import { commitmentOf, floorOf } from '../upstream/reading.ts';
import type { Admit, Context, Posted } from './route.ts';
import { post } from './route.ts';
import { parseCall, type RpcCall } from './rpc-call.ts';
import { warmResult } from './rpc-warm.ts';
import { raw } from './shapes.ts';

/** For how many slots an answer may be given again; a method that is not here is always asked. */
const LIFE: Partial<Record<ReadMethod, number>> = {
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

/** A larger result is passed on and forgotten. */
const MAX_KEPT = 64 * 1024;

/** For how many slots a node's refusal is given again. */
const REFUSAL_SLOTS = 2;

export const rpc = post({
  path: '/rpc',
  summary: "Calls one of the cluster's read methods; the result is the node's own, byte for byte",
  body: z.object({ method: z.enum(READ_METHODS), params: z.array(z.unknown()).optional() }),
  result: raw,
  envelope: 'bare',
  errors: ['invalid_json', 'invalid_request', 'invalid_params', 'rpc_method_not_allowed', 'rpc_error'],
  parse: parseCall,
  resolve: answerCall,
});

async function answerCall(call: RpcCall, context: Context, admit: Admit): Promise<Posted> {
  const { cache } = context;
  const slots = LIFE[call.method];
  if (slots === undefined) return admit(() => ask(call, context, undefined));
  const floor = floorOf(call.params) ?? 0;
  const warm = warmResult(call, commitmentIn(call), context);
  if (warm !== undefined && warm.slot >= floor) return { ...warm, cache: 'HIT' };
  const key = `rpc ${call.method} ${toJson(call.params)}`;
  const entry = cache.get(key);
  if (entry !== undefined && cache.isFresh(entry)) {
    if (entry.refusal !== undefined) throw entry.refusal;
    if (entry.slot >= floor) return { result: entry.result, slot: entry.slot, cache: 'HIT' };
  }
  const join = (): Promise<Posted> => context.calls.run(key, () => ask(call, context, { key, slots }));
  return context.calls.has(key) ? join() : admit(join);
}

async function ask(call: RpcCall, context: Context, keep?: { key: string; slots: number }): Promise<Posted> {
  const { mesh, cache } = context;
  const commitment = commitmentIn(call);
  const label = { envelope: 'bare', commitment, exact: false } as const;
  const readAt = cache.tip;
  try {
    const { slot, result } = await mesh.call(call.method, call.params, { commitment });
    if (keep === undefined) return { result, slot, cache: 'BYPASS' };
    if (result.length > MAX_KEPT) return { result, slot, cache: 'MISS' };
    const entry = cache.put(keep.key, { slot, result: result.toString() }, { slots: keep.slots }, label, { readAt });
    return { result: entry.result, slot: entry.slot, cache: 'MISS' };
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    const isFact = error.code === 'rpc_error' && error.status < 500;
    if (keep !== undefined && isFact) cache.refuse(keep.key, error, REFUSAL_SLOTS, label);
    throw error;
  }
}

/** A name that we don't know is the node's to refuse. */
const commitmentIn = ({ params }: RpcCall): Commitment => commitmentOf(params) ?? 'finalized';
