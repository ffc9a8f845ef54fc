import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { isAddress } from '../../../transactions/index.ts';
import { type Entry, wholeResultOf } from '../../cache/entry.ts';
import { OPEN_ARRAY } from '../../upstream/json/json-scanner.ts';
import { isNull, members, parseString } from '../../upstream/json/raw-json.ts';
import type { Uses } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

export interface CachedRpcAnswer {
  readonly slot: Slot;
  readonly tipAtFetch: Slot;
  /** Returns the result as a node would write it, or undefined if the cached form can't be converted. */
  serialize(): string | undefined;
}

type CacheUses = Uses<'mesh' | 'cache'>;

export function findCachedAnswer(call: RpcCall, context: CacheUses): CachedRpcAnswer | undefined {
  const { method, params } = call;
  const commitment = commitmentOfCall(call);
  switch (method) {
    case 'getSlot':
      return hasOnlyStandardConfig(params) ? slotAnswer(commitment, context) : undefined;
    case 'getEpochInfo':
      return hasOnlyStandardConfig(params) ? epochAnswer(commitment, context) : undefined;
    case 'getBalance':
      return hasOnlyStandardConfig(params.slice(1)) ? balanceAnswer(params[0], commitment, context) : undefined;
    case 'getAccountInfo':
      return params.length === 2 ? accountAnswer(params, commitment, context) : undefined;
    default:
      return undefined;
  }
}

function slotAnswer(commitment: Commitment, { mesh, cache }: CacheUses): CachedRpcAnswer | undefined {
  const slot = commitment === 'processed' ? cache.tip : mesh.tip(commitment);
  return slot === undefined ? undefined : { slot, tipAtFetch: cache.tip, serialize: () => String(slot) };
}

const epochAnswer = (commitment: Commitment, context: CacheUses): CachedRpcAnswer | undefined =>
  findCachedRoute('/epoch', commitment, context, ({ result }) => epochResult(result.toString()));

/** The members of getEpochInfo, in the node's order. */
const EPOCH_INFO = ['absoluteSlot', 'blockHeight', 'epoch', 'slotIndex', 'slotsInEpoch', 'transactionCount'] as const;

function epochResult(routeResult: string): string {
  const parts = members(Buffer.from(routeResult));
  return `{${EPOCH_INFO.map((name) => `"${name}":${parts.get(name)}`).join()}}`;
}

function balanceAnswer(address: unknown, commitment: Commitment, context: CacheUses): CachedRpcAnswer | undefined {
  if (!isAddress(address)) return undefined; // any other text could name a route with other parameters
  return findCachedRoute(`/balance/${address}`, commitment, context, ({ slot, result }) =>
    withContext(slot, /^\{"lamports":(\d+)/.exec(result.toString())?.[1], context),
  );
}

/** Answers getAccountInfo in the two encodings that a cached account converts to. A node's default is a third. */
function accountAnswer(
  [address, config]: readonly unknown[],
  commitment: Commitment,
  context: CacheUses,
): CachedRpcAnswer | undefined {
  if (!isAddress(address) || typeof config !== 'object' || config === null) return undefined;
  const { encoding, ...rest } = { encoding: undefined, ...config };
  if (!hasOnlyStandardConfig([rest]) || (encoding !== 'jsonParsed' && encoding !== 'base64')) return undefined;
  return findCachedRoute(`/account/${address}`, commitment, context, (entry) => {
    const result = wholeResultOf(entry);
    const bytes = typeof result === 'string' ? Buffer.from(result) : result;
    return withContext(entry.slot, accountValue(bytes, encoding), context);
  });
}

/** Writes an account with its members in the node's order. `jsonParsed` falls back to base64, as in a node. */
function accountValue(routeResult: Buffer, encoding: 'jsonParsed' | 'base64'): string | undefined {
  if (isNull(routeResult)) return 'null';
  const parts = members(routeResult);
  const part = (name: string): string => `"${name}":${parts.get(name)}`;
  if (encoding === 'base64' && parts.get('data')?.[0] !== OPEN_ARRAY) return undefined;
  const rentEpoch = `"rentEpoch":${parseString(parts.get('rentEpoch'))}`; // a string in the route's result
  return `{${[part('data'), part('executable'), part('lamports'), part('owner'), rentEpoch, part('space')].join()}}`;
}

/** Wraps a value with the slot and the API version that a node last reported. */
export function withContext(
  slot: Slot,
  value: string | undefined,
  { mesh: { apiVersion } }: Uses<'mesh'>,
): string | undefined {
  if (value === undefined || apiVersion === undefined) return undefined;
  return `{"context":{"apiVersion":${JSON.stringify(apiVersion)},"slot":${slot}},"value":${value}}`;
}

/** Finds a route's fresh answer at a commitment, which the request may name or leave out. */
function findCachedRoute(
  path: string,
  commitment: Commitment,
  { cache }: Uses<'cache'>,
  serialize: (entry: Entry) => string | undefined,
): CachedRpcAnswer | undefined {
  const key = API_PREFIX + path;
  const candidates = [cache.peekCurrent(`${key}?commitment=${commitment}`), cache.peekCurrent(key)];
  const entry = candidates.find(
    (item): item is Entry => item?.kind === 'answer' && item.meta.commitment === commitment && cache.isFresh(item),
  );
  if (entry === undefined) return undefined;
  const isLive = entry.policy === 'live' || entry.lease?.state === 'active';
  return {
    slot: entry.slot,
    tipAtFetch: isLive ? cache.tip : entry.tipAtFetch,
    serialize() {
      const result = serialize(entry);
      if (result !== undefined) cache.get(entry.key); // records a read, so that a live account stays live
      return result;
    },
  };
}
