import type { Commitment } from '../../domain/commitment.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Slot } from '../../domain/slot.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import type { RpcResponse } from '../rpc/rpc-response.ts';

/** The newest version of transactions that clusters carry. A node refuses a whole block over one that is newer. */
const NEWEST_KNOWN_VERSION = 1;

export interface VersionedRequest {
  readonly method: 'getBlock' | 'getTransaction';
  readonly subject: Slot | string;
  readonly config: object;
  readonly commitment: Commitment;
  /** The answer must not be older. */
  readonly minSlot?: Slot | undefined;
}

/** Reads what holds transactions, whatever their version: one that is newer than we know is asked for by its name. */
export async function callWithMaxSupportedVersion(
  mesh: Pick<Mesh, 'call'>,
  request: VersionedRequest,
): Promise<RpcResponse> {
  const { method, subject, config, commitment, minSlot } = request;
  const callWith = (maxSupportedTransactionVersion: number): Promise<RpcResponse> =>
    mesh.call(method, [subject, { ...config, commitment, maxSupportedTransactionVersion }], { commitment, minSlot });
  try {
    return await callWith(NEWEST_KNOWN_VERSION);
  } catch (thrown) {
    const version = versionAskedFor(thrown);
    if (version === undefined) throw thrown;
    return callWith(version);
  }
}

/** The version that a node misses in the question, out of its own words: they are the only place it stands in. */
function versionAskedFor(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.rpcCode !== RPC_ERROR_CODE.unsupportedTransactionVersion)
    return undefined;
  const named = /version \((\d{1,3})\)/.exec(thrown.message)?.[1];
  return named === undefined ? undefined : Number(named);
}
