import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { RpcResponse } from '../../upstream/rpc/rpc-response.ts';
import { commitmentIn, isPlain, type RpcCall } from './rpc-call.ts';

/** Asks the cluster what a call asks for. The answer is from no older state than `minSlot`, also where it names no slot. */
export function readCall(mesh: Mesh, call: RpcCall, minSlot: Slot): Promise<Pick<RpcResponse, 'slot' | 'result'>> {
  const { method, params } = call;
  if (method === 'getBlockHeight' && isPlain(params)) return readHeight(mesh, call, minSlot);
  const held = method === 'getSignaturesForAddress' ? heldTo(mesh, call, minSlot) : params;
  return mesh.call(method, held, { commitment: commitmentIn(call), minSlot });
}

/** A height alone doesn't tell which of two is the newer. The epoch's info has both, from the same bank. */
async function readHeight(mesh: Mesh, call: RpcCall, minSlot: Slot): Promise<Pick<RpcResponse, 'slot' | 'result'>> {
  const { slot, result } = await mesh.call('getEpochInfo', call.params, { commitment: commitmentIn(call), minSlot });
  const height = member(result, 'blockHeight');
  if (height === undefined) throw new GatewayError('upstream_error', 'the info of an epoch came without a height');
  return { slot, result: height };
}

/** A list of signatures names no slot: the node is held to the newest one instead. */
function heldTo(mesh: Mesh, call: RpcCall, minSlot: Slot): readonly unknown[] {
  const [address, config = {}, ...more] = call.params;
  const own = minContextSlotOf(call.params);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return call.params; // the node's to judge
  if ('minContextSlot' in config && own === undefined) return call.params; // so is this
  const minContextSlot = Math.max(minSlot, own ?? 0, mesh.tip(commitmentIn(call)) ?? 0);
  return [address, { ...config, minContextSlot }, ...more];
}
