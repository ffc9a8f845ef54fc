import { COMMITMENTS, type Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { isReadMethod, type ReadMethod } from '../../domain/rpc-methods.ts';
import { parseJsonBody } from '../../routing/parse-json-body.ts';
import { commitmentOf } from '../../upstream/rpc/response-slot.ts';

/** A validated call. Only {@link parseRpcCall} creates it. */
export interface RpcCall {
  readonly method: ReadMethod;
  readonly params: readonly unknown[];
}

/** Parses the body of a call. Throws unless its method is one of the 21 read methods. */
export function parseRpcCall(body: Buffer): RpcCall {
  const request = parseJsonBody(body);
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new GatewayError('invalid_request', 'the body must be one object: {"method": …, "params": […]}');
  }
  // the members are unknown: each one used is checked below
  const { method, params = [] } = request as { readonly method?: unknown; readonly params?: unknown };
  if (typeof method !== 'string') throw new GatewayError('invalid_request', 'method must be a string');
  if (!isReadMethod(method))
    throw new GatewayError(
      'rpc_method_not_allowed',
      'this method is not allowed, or not spelled as Solana RPC spells it: GET /api/v1/openapi.json lists those that are',
    );
  if (!Array.isArray(params)) throw new GatewayError('invalid_params', 'params must be an array');
  if (!hasOnlySafeNumbers(params))
    throw new GatewayError('invalid_params', 'params contain a number beyond 2^53, which would be rounded');
  return { method, params };
}

/** Returns false if a number is too large for a double to keep every digit. */
function hasOnlySafeNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value !== 'object' || value === null || Object.values(value).every(hasOnlySafeNumbers);
}

/** Returns the commitment at which a node answers. Unknown names count as the default; the node rejects them. */
export const commitmentOfCall = ({ params }: RpcCall): Commitment => commitmentOf(params) ?? 'finalized';

/** Returns true if the parameters are a valid `commitment` and `minContextSlot` only. The node validates all others. */
export function hasOnlyStandardConfig([config = {}, ...more]: readonly unknown[]): boolean {
  if (typeof config !== 'object' || config === null || Array.isArray(config) || more.length > 0) return false;
  return Object.entries(config).every(([name, value]) =>
    name === 'commitment'
      ? COMMITMENTS.includes(value)
      : name === 'minContextSlot' && Number.isSafeInteger(value) && value >= 0,
  );
}
