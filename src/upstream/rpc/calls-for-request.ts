import type { RequestCost } from '../../domain/request-cost.ts';
import type { RpcCaller, RpcResponse } from './rpc-response.ts';

/** Returns a caller of RPC methods whose calls all count for a request; the same one for work of the gateway itself. */
export function callsForRequest(rpc: RpcCaller, cost: RequestCost | undefined): RpcCaller {
  if (cost === undefined) return rpc;
  return {
    async call(method, params, options): Promise<RpcResponse> {
      cost.calls++;
      if (method === 'getProgramAccounts') cost.scans++;
      const response = await rpc.call(method, params, { ...options, cost });
      cost.bytes += response.result.length;
      return response;
    },
  };
}
