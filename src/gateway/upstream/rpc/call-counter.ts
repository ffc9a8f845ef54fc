import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { RequestCost } from '../../../shared/domain/units.ts';

/** Returns what counts a call once its first request is sent: it is one, whatever hedges and failovers follow. */
export function callCounter(cost: RequestCost | undefined, method: RpcMethod): (() => void) | undefined {
  if (cost === undefined) return undefined;
  let isCounted = false;
  return () => {
    if (isCounted) return;
    isCounted = true;
    cost.calls++;
    if (method === 'getProgramAccounts') cost.scans++;
  };
}
