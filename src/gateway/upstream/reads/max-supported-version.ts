import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { AgreeOptions, CallOptions, RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';

/** Newest transaction version in use. A node refuses a whole block over one newer transaction. */
const NEWEST_KNOWN_VERSION = 1;

export interface VersionedRequest {
  readonly method: 'getBlock' | 'getTransaction';
  readonly subject: Slot | string;
  readonly config: object;
  readonly commitment: Commitment;
  readonly minSlot?: Slot | undefined;
  /** Compares operators. */
  readonly agree?: AgreeOptions | undefined;
  readonly cost?: CallOptions['cost'];
}

/** Reads a block or transaction of any version: calls again with the node's version where that is newer. */
export async function callWithMaxSupportedVersion(rpc: RpcCaller, request: VersionedRequest): Promise<RpcResponse> {
  const { method, subject, config, commitment, minSlot, agree, cost } = request;
  const callWith = (maxSupportedTransactionVersion: number): Promise<RpcResponse> =>
    rpc.call(method, [subject, { ...config, commitment, maxSupportedTransactionVersion }], {
      commitment,
      minSlot,
      agree,
      cost,
    });
  try {
    return await callWith(NEWEST_KNOWN_VERSION);
  } catch (thrown) {
    const version = requiredVersion(thrown);
    if (version === undefined) throw thrown;
    return callWith(version);
  }
}

/** Finds the version that a node requires in its error message, the only place that names it. */
function requiredVersion(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.rpcCode !== RPC_ERROR_CODE.unsupportedTransactionVersion)
    return undefined;
  const named = /version \((\d{1,3})\)/.exec(thrown.message)?.[1];
  return named === undefined ? undefined : Number(named);
}
