import type { AnswerMeta } from '../../cache/entry.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Admit, PostAnswer, RouteContext } from '../../routing/route.ts';
import { isSlotNotReached, servedSlotNotReached } from '../../serving/min-slot.ts';
import { type RpcReadRequest, toReadRequest } from './rpc-cache-policy.ts';
import type { RpcCall } from './rpc-call.ts';
import { findCachedAnswer } from './rpc-from-cache.ts';
import { callUpstream } from './rpc-upstream-call.ts';

/** Of a longer result only the slot is kept. */
const MAX_CACHED_LENGTH = 64 * 1024;

/** Stands for a result that was passed on and not kept. */
const NOT_CACHED = '';

/** For how many slots a node's refusal is given again. */
const REFUSAL_SLOTS = 2;

interface RpcResult {
  readonly slot: Slot;
  readonly result: string | Buffer;
}

/** Answers a call at once, or asks the upstream when its turn has come. No answer goes back below an earlier one. */
export async function answerRpcCall(call: RpcCall, context: RouteContext, admit: Admit): Promise<PostAnswer> {
  const { rpcFlights } = context;
  const request = toReadRequest(call);
  const cached = fromCache(request, context);
  if (cached !== undefined) return cached;
  const flightKey = `${request.key} ${request.minSlot}`;
  const joinOrFetch = (): Promise<PostAnswer> => rpcFlights.run(flightKey, () => fetchAnswer(request, context));
  try {
    return await (rpcFlights.has(flightKey) ? joinOrFetch() : admit(joinOrFetch));
  } catch (thrown) {
    if (isSlotNotReached(thrown)) return staleAnswer(request, context, thrown);
    throw thrown;
  }
}

/** What can be told without waiting. May throw its refusal. */
function fromCache(request: RpcReadRequest, context: RouteContext): PostAnswer | undefined {
  const { cache } = context;
  copyFromRoutes(request, context);
  const entry = cache.get(request.key);
  if (entry === undefined || !cache.isFresh(entry)) return undefined;
  if (entry.refusal !== undefined) throw entry.refusal;
  return entry.slot < request.minSlot ? undefined : { result: entry.result, slot: entry.slot, cacheStatus: 'HIT' };
}

/** Takes over what other routes keep warm, where it is newer than what is kept here. */
function copyFromRoutes(request: RpcReadRequest, context: RouteContext): void {
  const { cache } = context;
  const { call, key } = request;
  const routeAnswer = findCachedAnswer(call, context);
  if (routeAnswer === undefined || routeAnswer.slot < floorOf(request, context)) return;
  const cached = cache.peek(key);
  if (cached?.refusal === undefined && cached?.slot === routeAnswer.slot && cache.isFresh(cached)) return;
  const result = routeAnswer.serialize();
  if (result !== undefined) storeAnswer(request, { slot: routeAnswer.slot, result }, context, routeAnswer.readAt);
}

async function fetchAnswer(request: RpcReadRequest, context: RouteContext): Promise<PostAnswer> {
  try {
    const answer = (await readAndCache(request, context)) ?? (await readAndCache(request, context));
    if (answer === undefined) throw servedSlotNotReached();
    return answer;
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    const isNegativeAnswer = error.code === 'rpc_error' && error.status < 500;
    if (isNegativeAnswer && !isUncacheable(request))
      context.cache.putRefusal(request.key, error, REFUSAL_SLOTS, metaOf(request));
    throw error;
  }
}

/** Reads an answer and keeps it. Undefined when a newer one was given meanwhile. */
async function readAndCache(request: RpcReadRequest, context: RouteContext): Promise<PostAnswer | undefined> {
  const readAt = context.cache.tip;
  const minSlot = Math.max(floorOf(request, context), request.minSlot);
  const { slot, result } = await callUpstream(context.mesh, request.call, minSlot);
  if (slot < floorOf(request, context)) return undefined;
  storeAnswer(request, { slot, result }, context, readAt);
  return { result, slot, cacheStatus: isUncacheable(request) ? 'BYPASS' : 'MISS' };
}

/** When no node is as far as what was told already: that once more, unless it is too old by now. */
function staleAnswer(request: RpcReadRequest, context: RouteContext, thrown: unknown): PostAnswer {
  const { cache } = context;
  const { key, commitment, policy, minSlot } = request;
  if (minSlot >= floorOf(request, context)) throw thrown; // it is the caller who has seen more
  const cached = cache.peek(key);
  const isCached = cached !== undefined && cached.refusal === undefined && cached.result !== NOT_CACHED;
  const mayStillHold = commitment !== 'processed' || policy === 'live'; // what is processed may be taken back
  if (isCached && mayStillHold && cache.statusOf(cached) !== 'expired') {
    return { result: cached.result, slot: cached.slot, cacheStatus: 'STALE' };
  }
  throw servedSlotNotReached(thrown);
}

/** Keeps an answer, or only its slot where the result is long or always asked for. */
function storeAnswer(
  request: RpcReadRequest,
  { slot, result }: RpcResult,
  { cache }: RouteContext,
  tipAtFetch: Slot,
): void {
  const { key, policy } = request;
  const isCached = result.length <= MAX_CACHED_LENGTH && !isUncacheable(request);
  const answer = { slot, result: isCached ? result.toString() : NOT_CACHED };
  cache.put(key, answer, isCached ? policy : { slots: 0 }, metaOf(request), { tipAtFetch });
}

const floorOf = ({ key, commitment }: RpcReadRequest, { cache }: RouteContext): Slot =>
  cache.floor(key, commitment) ?? 0;

const isUncacheable = ({ policy }: RpcReadRequest): boolean => policy !== 'live' && policy.slots === 0;

const metaOf = ({ commitment }: RpcReadRequest): AnswerMeta => ({ envelope: 'bare', commitment, exact: false });
