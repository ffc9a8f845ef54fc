import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { SCAN_UNITS, unitsOfAddresses } from '../../../shared/domain/units.ts';
import type { Admit } from '../../../shared/runtime/fair-semaphore.ts';
import { making, promised, settle } from '../../../shared/runtime/waiter.ts';
import type { Cache } from '../../cache/cache.ts';
import { wholeResultOf } from '../../cache/entry.ts';
import type { CacheableRead } from '../../serving/load.ts';
import type { SlotSource } from '../../serving/min-slot.ts';
import { type CachedRead, ReadThrough } from '../../serving/read-through.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import type { PostAnswer, SerializedAnswer, Uses } from '../routing/route.ts';
import { findCachedAnswer } from './answers-of-routes.ts';
import { readJoined } from './joined-account-read.ts';
import { accountSizeOf, minimumBalance, toRentRequest } from './own-answer.ts';
import type { RpcCall } from './parse-rpc-call.ts';
import { RPC_METHODS, type RpcReadRequest, toReadRequest } from './rpc-cache-policy.ts';
import { callAlone } from './rpc-upstream-call.ts';

/** Maximum length of a cached result. Of a longer one only the slot is remembered. */
const MAX_CACHED_LENGTH = 64 * 1024;

/** Creates the read-through of `/rpc`. It serves stale answers only in place of older ones: errors reach the caller. */
export const createRpcReadThrough = (
  options: SlotSource & { readonly cache: Cache; readonly admitOwn: Admit },
): ReadThrough<SerializedAnswer> =>
  new ReadThrough({
    ...options,
    staleIf: 'upstream-is-behind',
  });

/** The most keys that a node reads for one getMultipleAccounts; it refuses more (Solana RPC). */
const MAX_KEYS = 100;

/** Returns the number of keys that a node reads for a call: they are part of its price. */
const addressesIn = ({ method, params: [keys] }: RpcCall): number =>
  method === 'getMultipleAccounts' && Array.isArray(keys) ? Math.min(keys.length, MAX_KEYS) : 0;

const isScan = ({ method }: RpcCall): boolean => RPC_METHODS[method].isScan === true;

export const missUnitsOfCall = (call: RpcCall): number =>
  unitsOfAddresses(addressesIn(call)) + (isScan(call) ? SCAN_UNITS : 0);

export type RpcUses = Uses<'rpcReadThrough' | 'accounts' | 'callsFor' | 'mesh' | 'cache'>;

export async function answerRpcCall(
  call: RpcCall,
  context: RpcUses,
  admit: Admit,
  scope: RequestScope,
): Promise<PostAnswer> {
  const { jsonRpcId } = call;
  try {
    return { ...(await findAnswer(call, context, admit, scope)), jsonRpcId };
  } catch (thrown) {
    throw jsonRpcId === undefined ? thrown : GatewayError.from(thrown).forJsonRpc(jsonRpcId);
  }
}

/** Answers from what the gateway knows itself where that is enough, else reads. */
async function findAnswer(call: RpcCall, context: RpcUses, admit: Admit, scope: RequestScope): Promise<PostAnswer> {
  const { genesisHash } = context.mesh;
  if (call.method === 'getGenesisHash' && call.params.length === 0 && genesisHash !== undefined)
    return { result: JSON.stringify(genesisHash), cacheStatus: 'HIT' };
  const minSlot = scope.minSlot ?? 0;
  const bytes = accountSizeOf(call);
  if (bytes === undefined) return readAnswer(toReadRequest(call, minSlot), context, admit, scope);
  const rent = await readAnswer(toRentRequest(call, minSlot), context, admit, scope);
  return { ...rent, result: minimumBalance(rent, bytes) };
}

/** Reads an answer from the cache, or calls the upstream once admitted. No answer is older than an earlier one. */
async function readAnswer(
  request: RpcReadRequest,
  context: RpcUses,
  admit: Admit,
  scope: RequestScope,
): Promise<PostAnswer & SerializedAnswer> {
  const { rpcReadThrough } = context;
  const read = readOf(request, context, scope);
  copyFromRoutes(request, context);
  const { entry, cacheStatus } = await promised<CachedRead<SerializedAnswer>>((waiter) =>
    rpcReadThrough.begin(read, waiter, admit),
  );
  const { slot } = entry;
  const result = wholeResultOf(entry);
  return { slot, result, cacheStatus: cacheStatus === 'MISS' && request.policy === undefined ? 'BYPASS' : cacheStatus };
}

function readOf(request: RpcReadRequest, context: RpcUses, scope: RequestScope): CacheableRead<SerializedAnswer> {
  const { key, minSlot, waitsForMinSlot, meta } = request;
  return {
    key,
    minSlot,
    waitsForMinSlot,
    meta,
    commitment: meta.commitment,
    bypasses: request.policy === undefined,
    load(floor = 0, _minSlot, waiter) {
      if (scope.cost !== undefined) {
        scope.cost.addresses += addressesIn(request.call);
        if (isScan(request.call)) scope.cost.scans++;
      }
      const checked = making<SerializedAnswer, SerializedAnswer>((answer) => {
        request.check?.(answer);
        return answer;
      }, waiter);
      if (readJoined(request.call, floor, context, scope, checked)) return;
      settle(() => callAlone(request, floor, context.callsFor(scope)), checked);
    },
    store: ({ slot, result }, tipAtFetch) => storeAnswer(request, { slot, result }, context, tipAtFetch),
    isNegative: ({ code, status }: GatewayError) =>
      code === 'rpc_error' && status < 500 && request.policy !== undefined,
  };
}

/** Caches the answer of another route under the key of the call, if it is newer than the one cached there. */
function copyFromRoutes(request: RpcReadRequest, context: Uses<'mesh' | 'cache'>): void {
  const { cache } = context;
  const { call, key, meta } = request;
  const routeAnswer = findCachedAnswer(call, context);
  if (routeAnswer === undefined || routeAnswer.slot < (cache.floor(key, meta.commitment) ?? 0)) return;
  const cached = cache.peek(key);
  if (cached?.kind !== 'refusal' && cached?.slot === routeAnswer.slot && cache.isFresh(cached)) return;
  const result = routeAnswer.serialize();
  if (result !== undefined) storeAnswer(request, { slot: routeAnswer.slot, result }, context, routeAnswer.tipAtFetch);
}

/** Caches an answer, or only its slot if the result is long or the method is never cached. */
function storeAnswer(
  request: RpcReadRequest,
  answer: SerializedAnswer,
  { cache }: Uses<'cache'>,
  tipAtFetch: Slot,
): SerializedAnswer {
  const { key, policy, meta } = request;
  const { slot, result } = answer;
  if (result.length > MAX_CACHED_LENGTH || policy === undefined) cache.putSlotMark(key, slot, meta);
  else cache.put(key, { slot, result: result.toString() }, policy, meta, { tipAtFetch });
  return answer;
}
