import type { RequestCost } from '../../../shared/domain/units.ts';
import type { RpcCaller } from './rpc-response.ts';

/** Returns a caller of RPC methods whose calls all count for a request; the same one for work of the gateway itself. */
export function callsForRequest(rpc: RpcCaller, cost: RequestCost | undefined): RpcCaller {
  if (cost === undefined) return rpc;
  return { call: (method, params, options) => rpc.call(method, params, { ...options, cost }) };
}
