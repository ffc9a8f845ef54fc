import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { RpcResponse } from '../../upstream/rpc/rpc-response.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './rpc-call.ts';

/** Asks the cluster what a call asks for. The answer is from no older state than `minSlot`, also where it names no slot. */
export function callUpstream(mesh: Mesh, call: RpcCall, minSlot: Slot): Promise<Pick<RpcResponse, 'slot' | 'result'>> {
  const { method, params } = call;
  if (method === 'getBlockHeight' && hasOnlyStandardConfig(params)) return readBlockHeight(mesh, call, minSlot);
  const boundedParams = method === 'getSignaturesForAddress' ? withMinContextSlot(mesh, call, minSlot) : params;
  return mesh.call(method, boundedParams, { commitment: commitmentOfCall(call), minSlot });
}

/** A height alone doesn't tell which of two is the newer. The epoch's info has both, from the same bank. */
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
  if (height === undefined) throw new GatewayError('upstream_error', 'the info of an epoch came without a height');
  return { slot, result: height };
}

/** A list of signatures names no slot: the node is held to the newest one instead. */
function withMinContextSlot(mesh: Mesh, call: RpcCall, minSlot: Slot): readonly unknown[] {
  const [address, config = {}, ...more] = call.params;
  const callerMinSlot = minContextSlotOf(call.params);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return call.params; // the node's to judge
  if ('minContextSlot' in config && callerMinSlot === undefined) return call.params; // so is this
  const minContextSlot = Math.max(minSlot, callerMinSlot ?? 0, mesh.tip(commitmentOfCall(call)) ?? 0);
  return [address, { ...config, minContextSlot }, ...more];
}
