import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { RpcResponse } from '../../upstream/rpc/rpc-response.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

/** Calls the upstream. The answer is no older than `minSlot`, even if the method returns no slot. */
export function callUpstream(mesh: Mesh, call: RpcCall, minSlot: Slot): Promise<Pick<RpcResponse, 'slot' | 'result'>> {
  const { method, params } = call;
  if (method === 'getBlockHeight' && hasOnlyStandardConfig(params)) return readBlockHeight(mesh, call, minSlot);
  const boundedParams = method === 'getSignaturesForAddress' ? withMinContextSlot(mesh, call, minSlot) : params;
  return mesh.call(method, boundedParams, { commitment: commitmentOfCall(call), minSlot });
}

/** Reads the block height by getEpochInfo, which dates it by the slot of its bank. getBlockHeight returns no slot. */
async function readBlockHeight(
  mesh: Mesh,
  call: RpcCall,
  minSlot: Slot,
): Promise<Pick<RpcResponse, 'slot' | 'result'>> {
  const { slot, result } = await mesh.call('getEpochInfo', call.params, {
    commitment: commitmentOfCall(call),
    minSlot,
  });
  const height = member(result, 'blockHeight');
  if (height === undefined)
    throw new GatewayError('upstream_error', 'a node returned epoch info without a block height');
  return { slot, result: height };
}

/** Adds a `minContextSlot` of at least the tip, since getSignaturesForAddress returns no slot. */
function withMinContextSlot(mesh: Mesh, call: RpcCall, minSlot: Slot): readonly unknown[] {
  const [address, config = {}, ...more] = call.params;
  const callerMinSlot = minContextSlotOf(call.params);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return call.params; // the node rejects it
  if ('minContextSlot' in config && callerMinSlot === undefined) return call.params; // so it does here
  const minContextSlot = Math.max(minSlot, callerMinSlot ?? 0, mesh.tip(commitmentOfCall(call)) ?? 0);
  return [address, { ...config, minContextSlot }, ...more];
}
