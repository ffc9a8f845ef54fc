import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isReadMethod, type ReadMethod } from '../../domain/rpc-methods.ts';
import { parseJsonBody } from '../../routing/parse-json-body.ts';
import { commitmentOf } from '../../upstream/rpc/response-slot.ts';

/** A call that may be passed on. The type exists only past {@link parseRpcCall}. */
export interface RpcCall {
  readonly method: ReadMethod;
  readonly params: readonly unknown[];
}

/** Reads the body of a call. Everything past this line is one of the 21 methods. */
export function parseRpcCall(body: Buffer): RpcCall {
  const request = parseJsonBody(body);
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new GatewayError('invalid_request', 'the body must be one object: {"method": …, "params": […]}');
  }
  // An object of unknown members: each that is used is checked below.
  const { method, params = [] } = request as { readonly method?: unknown; readonly params?: unknown };
  if (typeof method !== 'string') throw new GatewayError('invalid_request', 'method must be text');
  if (!isReadMethod(method)) throw new GatewayError('rpc_method_not_allowed', 'only the documented read methods pass');
  if (!Array.isArray(params)) throw new GatewayError('invalid_params', 'params must be an array');
  if (!hasOnlySafeNumbers(params))
    throw new GatewayError('invalid_params', 'params hold a number beyond 2^53: it would be rounded');
  return { method, params };
}

/** False when a number was too large for the parser to keep every digit. */
function hasOnlySafeNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value !== 'object' || value === null || Object.values(value).every(hasOnlySafeNumbers);
}

/** At which commitment a node answers. A name that we don't know is the node's to refuse. */
export const commitmentOfCall = ({ params }: RpcCall): Commitment => commitmentOf(params) ?? 'finalized';

/** No parameters but a configuration of known members: whatever else there is, the node must judge it. */
export function hasOnlyStandardConfig([config = {}, ...more]: readonly unknown[]): boolean {
  if (typeof config !== 'object' || config === null || Array.isArray(config) || more.length > 0) return false;
  return Object.entries(config).every(([name, value]) =>
    name === 'commitment'
      ? COMMITMENTS.includes(value)
      : name === 'minContextSlot' && Number.isSafeInteger(value) && value >= 0,
  );
}
