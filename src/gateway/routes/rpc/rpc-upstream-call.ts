import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { ReadMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { Mesh } from '../../upstream/mesh/mesh.ts';
import { minContextSlotOf } from '../../upstream/rpc/response-slot.ts';
import type { SerializedAnswer } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';
import { RPC_METHODS, type RpcReadRequest } from './rpc-cache-policy.ts';

/** Makes a call for one request. The answer is no older than `floor`, even if the method returns no slot. */
export async function callAlone(
  request: RpcReadRequest,
  floor: Slot,
  mesh: Pick<Mesh, 'call' | 'tip'>,
): Promise<SerializedAnswer> {
  const { call } = request;
  const params = withMinContextSlot(call, minContextSlotFor(mesh, request, floor));
  const options = { commitment: commitmentOfCall(call), minSlot: floor };
  const part = EPOCH_INFO_MEMBERS[call.method];
  if (part === undefined || !hasOnlyStandardConfig(params)) return mesh.call(call.method, params, options);
  const { slot, result } = await mesh.call('getEpochInfo', params, options);
  const value = member(result, part);
  if (value === undefined) throw new GatewayError('upstream_error', `a node returned epoch info without its ${part}`);
  return { slot, result: value };
}

/** Methods that return no slot, and the members of getEpochInfo that are the same at a slot that it names. */
const EPOCH_INFO_MEMBERS: { readonly [M in ReadMethod]?: string } = {
  getBlockHeight: 'blockHeight',
  getTransactionCount: 'transactionCount',
};

/** Returns the slot that a node is to have reached before it answers; 0 leaves that to the caller's parameters. */
function minContextSlotFor(mesh: Pick<Mesh, 'tip'>, { call, waitsForMinSlot }: RpcReadRequest, floor: Slot): Slot {
  if (call.method === 'getSignaturesForAddress') return Math.max(floor, mesh.tip(commitmentOfCall(call)) ?? 0); // it returns no slot
  return waitsForMinSlot ? floor : 0;
}

/** Raises the `minContextSlot` of a call, if its method accepts one. Malformed parameters are left to the node. */
function withMinContextSlot({ method, params }: RpcCall, slot: Slot): readonly unknown[] {
  const [, second = null, third = null] = params;
  const hasNoEnd = method === 'getBlocks' && typeof second === 'object' && second !== null && third === null;
  const position = hasNoEnd ? 1 : RPC_METHODS[method].configAt; // of two configs, nodes read the last alone
  if (slot === 0 || position === undefined || params.length < position) return params;
  const config = params[position] ?? {};
  if (typeof config !== 'object' || Array.isArray(config)) return params;
  const callerSlot = minContextSlotOf([config]);
  if ('minContextSlot' in config && callerSlot === undefined) return params;
  const raised = { ...config, minContextSlot: Math.max(slot, callerSlot ?? 0) };
  return [...params.slice(0, position), raised, ...params.slice(position + 1)];
}
