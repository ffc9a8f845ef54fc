import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import { member, members, parseJson, parseSafeInteger, parseString } from '../json/raw-json.ts';
import { RPC_ERROR_CODE, type RpcFault, rpcErrorOf } from './rpc-error-code.ts';
import { agaveErrorOf, PROCESSED_REFUSED } from './server-profile.ts';

const RATE_LIMIT_CODE = 429;

/** Longest `error` of a response, which is parsed in one turn. Those of nodes have a few hundred bytes. */
export const MAX_ERROR_BYTES = 64 << 10;

/** The longest `data` of a node's error that is kept, in bytes: an error may be cached. */
const MAX_DATA_BYTES = 256;

/** With agave's code and text where the server has its own. `redact` removes secrets from the node's text. */
export function normalizeRpcError(error: Buffer, redact: (text: string) => string, retryAfter: number): GatewayError {
  const code = parseSafeInteger(member(error, 'code'));
  const message = parseString(member(error, 'message'));
  const meaning = agaveErrorOf(code, message);
  if (meaning !== undefined) return rpcError(meaning.code, meaning.message, meaning.cause);
  if (code === RATE_LIMIT_CODE || (code === RPC_ERROR_CODE.nodeUnhealthy && isRateLimit(error, message)))
    return rateLimited(retryAfter);
  return rpcError(code, redact(message), undefined, dataOf(member(error, 'data'), redact));
}

/**
 * Returns the members of an error's `data` as JSON, numbers with each digit: kit shows callers those of an object. What is no object
 * becomes the member `details`. Undefined for none, for a long one, and for one with a secret.
 */
function dataOf(data: Buffer | undefined, redact: (text: string) => string): string | undefined {
  if (data === undefined || data.length > MAX_DATA_BYTES || data.equals(NULL)) return undefined;
  parseJson(data.toString()); // nothing has checked its strings
  const parts = data[0] === OPEN_OBJECT ? [...members(data)] : [['details', data] as const];
  const shown = parts.filter(([name]) => name !== 'error').map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const words = shown
    .join(' ')
    .replace(/[^\w.:/?&=@-]+/g, ' ')
    .trim();
  return shown.length === 0 || redact(words) !== words ? undefined : shown.join();
}

const NULL = Buffer.from('null');

const rpcError = (rpcCode: number, message: string, cause?: string, rpcData?: string): GatewayError =>
  new GatewayError('rpc_error', `${rpcCode}: ${message}`, {
    status: rpcErrorOf(rpcCode).status,
    rpcCode,
    rpcData,
    cause,
  });

export const methodNotFound = (): GatewayError => rpcError(RPC_ERROR_CODE.methodNotFound, 'Method not found');

/** Creates the error of a node that wants fewer requests, by HTTP 429 or in JSON. `retryAfter` in whole seconds. */
export const rateLimited = (retryAfter: number): GatewayError =>
  new GatewayError('upstream_unavailable', 'all upstreams are rate-limiting us', {
    retryAfter,
    rpcCode: RATE_LIMIT_CODE,
  });

/** Creates the error of a node that accepts no request body of this length, by HTTP 413; another may. */
export const requestTooLong = (bytes: number): GatewayError =>
  new GatewayError('payload_too_large', `no node accepts a call of ${bytes} bytes`);

/** Creates the error that a node gives for a `minContextSlot` beyond its own: for methods without that parameter. */
export const minContextSlotNotReached = (): GatewayError =>
  rpcError(RPC_ERROR_CODE.minContextSlotNotReached, 'Minimum context slot has not been reached');

export const noNodeReachable = (): GatewayError =>
  new GatewayError('upstream_unavailable', 'no node of the cluster can be reached');

export function rpcFaultOf({ code, rpcCode, cause }: GatewayError): RpcFault {
  if (cause === PROCESSED_REFUSED) return 'node-limit';
  if (code === 'overloaded' || code === 'result_too_large') return 'caller'; // another node would do no better
  if (code === 'payload_too_large') return 'node-limit';
  if (rpcCode === RATE_LIMIT_CODE) return 'rate-limit';
  return rpcErrorOf(rpcCode).fault;
}

/** The faults of calls that nodes would refuse again. Providers refuse a scan as a wrong request, too. */
const REFUSALS: ReadonlySet<RpcFault> = new Set<RpcFault>(['node-limit', 'caller']);

/** Returns true for a refusal that another try won't change: the result is too large, or nodes refuse to make it. */
export const isRefusal = (error: GatewayError): boolean =>
  error.code === 'result_too_large' || (error.code === 'rpc_error' && REFUSALS.has(rpcFaultOf(error)));

/** Returns true if a provider uses the code of an unhealthy node for a rate limit, as some do. */
function isRateLimit(error: Buffer, message: string): boolean {
  const data = member(error, 'data');
  const isBehind = data?.[0] === OPEN_OBJECT && member(data, 'numSlotsBehind') !== undefined;
  return !isBehind && /rate|limit/i.test(message);
}
