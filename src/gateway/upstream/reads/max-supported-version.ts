import type { Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { isNull } from '../json/raw-json.ts';
import type { Facts } from '../rpc/facts.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import {
  type AgreeOptions,
  type CallOptions,
  type ConsensusData,
  NOTHING,
  type RpcCaller,
  type RpcResponse,
} from '../rpc/rpc-response.ts';

/** Newest transaction version in use. A node refuses a whole block over one newer transaction. */
const NEWEST_KNOWN_VERSION = 1;

export interface VersionedReadOptions extends Pick<AgreeOptions, 'demanded' | 'onlyIf'> {
  readonly commitment: Commitment;
  readonly minSlot?: Slot | undefined;
  /** Operators that must give the same. Default: 1. */
  readonly agree?: number | undefined;
}

interface VersionedRequest extends VersionedReadOptions {
  readonly method: 'getBlock' | 'getTransaction';
  readonly subject: Slot | string;
  readonly config: object;
  /** Compares operators. Default: the response of one is believed. */
  readonly compare?: AgreeOptions['compare'];
  readonly cost?: CallOptions['cost'];
}

/** Reads a block or transaction of any version: calls again with the node's version where that is newer. */
export async function callWithMaxSupportedVersion(rpc: RpcCaller, request: VersionedRequest): Promise<RpcResponse> {
  const { method, subject, config, commitment, minSlot, agree: count = 1, demanded, onlyIf, compare, cost } = request;
  const agree = compare && { count, demanded, onlyIf, compare };
  const options = { commitment, minSlot, agree, cost };
  const callWith = (maxSupportedTransactionVersion: number): Promise<RpcResponse> =>
    rpc.call(method, [subject, { ...config, commitment, maxSupportedTransactionVersion }], options);
  try {
    return await callWith(NEWEST_KNOWN_VERSION);
  } catch (thrown) {
    const version = requiredVersion(thrown);
    if (version === undefined) throw thrown;
    return callWith(version);
  }
}

/** Returns what compares whole results of operators: by a digest, and by what every honest node has alike of each. */
export const comparisonBy =
  (digestOf: (result: Buffer) => Promise<string>, factsOf: (result: Buffer) => Promise<Facts>) =>
  async ({ slot: needsSlot, result }: RpcResponse): Promise<ConsensusData> => {
    const common = { slot: undefined, needsSlot };
    if (isNull(result)) return { ...common, digest: NOTHING };
    return { ...common, digest: await digestOf(result), facts: () => factsOf(result) };
  };

/** Finds the version that a node requires in its error message, the only place that names it. */
function requiredVersion(thrown: unknown): number | undefined {
  if (!(thrown instanceof GatewayError) || thrown.rpcCode !== RPC_ERROR_CODE.unsupportedTransactionVersion)
    return undefined;
  const named = /version \((\d{1,3})\)/.exec(thrown.message)?.[1];
  return named === undefined ? undefined : Number(named);
}
