import { GatewayError } from '../../domain/gateway-error.ts';
import { member, parseSafeInteger, parseString } from '../json/raw-json.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';

/**
 * Why a read failed, as far as it decides what to do next. `caller`: asked wrongly. `fact`: a true answer about the
 * chain. `not-yet`: this node isn't there yet. `node-limit`: this node never can. `rate-limit`: it wants fewer
 * requests. `transport`: it didn't answer. The last four may go better with another node.
 */
export type RpcFault = 'caller' | 'fact' | 'not-yet' | 'node-limit' | 'rate-limit' | 'transport';

/** The node's numbers that mean something to us; any other is a `transport` fault, 502. */
const RPC_ERRORS: ReadonlyMap<number, { readonly fault: RpcFault; readonly status: number }> = new Map([
  [RPC_ERROR_CODE.invalidRequest, { fault: 'caller', status: 400 }],
  [RPC_ERROR_CODE.invalidParams, { fault: 'caller', status: 400 }],
  [RPC_ERROR_CODE.unsupportedTransactionVersion, { fault: 'caller', status: 400 }],
  [RPC_ERROR_CODE.methodNotFound, { fault: 'node-limit', status: 502 }],
  [RPC_ERROR_CODE.slotSkipped, { fault: 'node-limit', status: 404 }], // another node may have it
  [RPC_ERROR_CODE.longTermStorageSlotSkipped, { fault: 'fact', status: 404 }],
  [RPC_ERROR_CODE.filterTransactionNotFound, { fault: 'fact', status: 404 }],
  [RPC_ERROR_CODE.blockCleanedUp, { fault: 'node-limit', status: 404 }], // another node may keep it
  [RPC_ERROR_CODE.transactionHistoryNotAvailable, { fault: 'node-limit', status: 404 }],
  [RPC_ERROR_CODE.keyExcludedFromSecondaryIndex, { fault: 'node-limit', status: 502 }],
  [RPC_ERROR_CODE.scanError, { fault: 'node-limit', status: 502 }],
  [RPC_ERROR_CODE.longTermStorageUnreachable, { fault: 'node-limit', status: 502 }],
  [RPC_ERROR_CODE.blockNotAvailable, { fault: 'not-yet', status: 404 }],
  [RPC_ERROR_CODE.blockStatusNotAvailableYet, { fault: 'not-yet', status: 404 }],
  [RPC_ERROR_CODE.nodeUnhealthy, { fault: 'not-yet', status: 503 }],
  [RPC_ERROR_CODE.minContextSlotNotReached, { fault: 'not-yet', status: 503 }],
]);

const RATE_LIMIT_CODE = 429;

/** The error that stands for the `error` member of a node's answer. `scrub` makes the node's text fit to be shown. */
export function normalizeRpcError(error: Buffer, redact: (text: string) => string, retryAfter: number): GatewayError {
  const code = parseSafeInteger(member(error, 'code'));
  const message = parseString(member(error, 'message'));
  if (code === RATE_LIMIT_CODE || (code === RPC_ERROR_CODE.nodeUnhealthy && isRateLimit(error, message)))
    return rateLimited(retryAfter);
  return new GatewayError('rpc_error', `${code}: ${redact(message)}`, {
    status: RPC_ERRORS.get(code)?.status ?? 502,
    rpcCode: code,
  });
}

/** The node wants fewer requests, said over HTTP or in JSON. `retryAfter` in whole seconds. */
export const rateLimited = (retryAfter: number): GatewayError =>
  new GatewayError('upstream_unavailable', 'the nodes ask for fewer requests', {
    retryAfter,
    rpcCode: RATE_LIMIT_CODE,
  });

/** What a node says itself that is held to a slot: for the methods that can't be. */
export const minContextSlotNotReached = (): GatewayError =>
  new GatewayError(
    'rpc_error',
    `${RPC_ERROR_CODE.minContextSlotNotReached}: Minimum context slot has not been reached`,
    {
      status: 503,
      rpcCode: RPC_ERROR_CODE.minContextSlotNotReached,
    },
  );

/** None of the nodes is there, or none is of our cluster. */
export const noNodeReachable = (cause?: unknown): GatewayError =>
  new GatewayError('upstream_unavailable', 'no node of the cluster can be reached', { cause });

/** Which {@link RpcFault} an error of a read is. */
export function rpcFaultOf({ code, rpcCode }: GatewayError): RpcFault {
  if (code === 'overloaded' || code === 'result_too_large') return 'caller'; // another node would fare no better
  if (rpcCode === RATE_LIMIT_CODE) return 'rate-limit';
  return (rpcCode !== undefined && RPC_ERRORS.get(rpcCode)?.fault) || 'transport';
}

/** Some providers use the number of a node that is behind to say that one asks too much. */
function isRateLimit(error: Buffer, message: string): boolean {
  const data = member(error, 'data');
  const isBehind = data?.[0] === 0x7b && member(data, 'numSlotsBehind') !== undefined; // 0x7b: an object
  return !isBehind && /rate|limit/i.test(message);
}
