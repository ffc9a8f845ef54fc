import { GatewayError } from '../../domain/error.ts';
import { member, safeInteger, text } from '../json/raw-json.ts';
import { RPC_CODE } from './rpc-code.ts';

/**
 * Why a read failed, as far as it decides what to do next. `caller`: asked wrongly. `fact`: a true answer about the
 * chain. `not-yet`: this node isn't there yet. `node-limit`: this node never can. `rate-limit`: it wants fewer
 * requests. `transport`: it didn't answer. The last four may go better with another node.
 */
export type Fault = 'caller' | 'fact' | 'not-yet' | 'node-limit' | 'rate-limit' | 'transport';

/** The node's numbers that mean something to us; any other is a `transport` fault, 502. */
const REFUSALS: ReadonlyMap<number, { readonly fault: Fault; readonly status: number }> = new Map([
  [RPC_CODE.invalidRequest, { fault: 'caller', status: 400 }],
  [RPC_CODE.invalidParams, { fault: 'caller', status: 400 }],
  [RPC_CODE.unsupportedTransactionVersion, { fault: 'caller', status: 400 }],
  [RPC_CODE.methodNotFound, { fault: 'node-limit', status: 502 }],
  [RPC_CODE.slotSkipped, { fault: 'node-limit', status: 404 }], // another node may have it
  [RPC_CODE.longTermStorageSlotSkipped, { fault: 'fact', status: 404 }],
  [RPC_CODE.filterTransactionNotFound, { fault: 'fact', status: 404 }],
  [RPC_CODE.blockCleanedUp, { fault: 'node-limit', status: 404 }], // another node may keep it
  [RPC_CODE.transactionHistoryNotAvailable, { fault: 'node-limit', status: 404 }],
  [RPC_CODE.keyExcludedFromSecondaryIndex, { fault: 'node-limit', status: 502 }],
  [RPC_CODE.scanError, { fault: 'node-limit', status: 502 }],
  [RPC_CODE.longTermStorageUnreachable, { fault: 'node-limit', status: 502 }],
  [RPC_CODE.blockNotAvailable, { fault: 'not-yet', status: 404 }],
  [RPC_CODE.blockStatusNotAvailableYet, { fault: 'not-yet', status: 404 }],
  [RPC_CODE.nodeUnhealthy, { fault: 'not-yet', status: 503 }],
  [RPC_CODE.minContextSlotNotReached, { fault: 'not-yet', status: 503 }],
]);

const RATE_LIMIT = 429;

/** The error that stands for the `error` member of a node's answer. `scrub` makes the node's text fit to be shown. */
export function refusal(error: Buffer, scrub: (text: string) => string, retryAfter: number): GatewayError {
  const code = safeInteger(member(error, 'code'));
  const said = text(member(error, 'message'));
  if (code === RATE_LIMIT || (code === RPC_CODE.nodeUnhealthy && isAboutRate(error, said))) return slowDown(retryAfter);
  return new GatewayError('rpc_error', `${code}: ${scrub(said)}`, {
    status: REFUSALS.get(code)?.status ?? 502,
    rpcCode: code,
  });
}

/** The node wants fewer requests, said over HTTP or in JSON. `retryAfter` in whole seconds. */
export const slowDown = (retryAfter: number): GatewayError =>
  new GatewayError('upstream_unavailable', 'the nodes ask for fewer requests', { retryAfter, rpcCode: RATE_LIMIT });

/** What a node says itself that is held to a slot: for the methods that can't be. */
export const notReached = (): GatewayError =>
  new GatewayError('rpc_error', `${RPC_CODE.minContextSlotNotReached}: Minimum context slot has not been reached`, {
    status: 503,
    rpcCode: RPC_CODE.minContextSlotNotReached,
  });

/** None of the nodes is there, or none is of our cluster. */
export const unreachable = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_unavailable', 'no node of the cluster can be reached', { cause });

/** Which {@link Fault} an error of a read is. */
export function faultOf({ code, rpcCode }: GatewayError): Fault {
  if (code === 'overloaded' || code === 'result_too_large') return 'caller'; // another node would fare no better
  if (rpcCode === RATE_LIMIT) return 'rate-limit';
  return (rpcCode !== undefined && REFUSALS.get(rpcCode)?.fault) || 'transport';
}

/** Some providers use the number of a node that is behind to say that one asks too much. */
function isAboutRate(error: Buffer, said: string): boolean {
  const data = member(error, 'data');
  const behind = data?.[0] === 0x7b && member(data, 'numSlotsBehind') !== undefined; // 0x7b: an object
  return !behind && /rate|limit/i.test(said);
}
