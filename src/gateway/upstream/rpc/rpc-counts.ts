import { channel } from 'node:diagnostics_channel';
import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import { DURATION_BOUNDS, Tally } from '../../../shared/runtime/tally.ts';
import { rpcFaultOf } from './error-normalizer.ts';

/** It answered, perhaps with an error; it did not in time; it wants fewer requests; no valid response came. */
export const RPC_RESULTS = ['ok', 'rpc_error', 'timeout', 'limited', 'failed'] as const;

export type RpcResult = (typeof RPC_RESULTS)[number];

const upstreamChannel = channel('slotgate:upstream');

export class RpcCounts {
  readonly #upstream: string;
  readonly byMethod = new Map<RpcMethod, Record<RpcResult, number>>();
  /** The seconds that the node took to answer. */
  readonly seconds = new Tally(DURATION_BOUNDS);
  /** The late requests that were sent to another node, too. */
  hedges = 0;

  constructor(upstream: string) {
    this.#upstream = upstream;
  }

  count(method: RpcMethod, result: RpcResult, ms: number): void {
    const results = this.byMethod.get(method) ?? { ok: 0, rpc_error: 0, timeout: 0, limited: 0, failed: 0 };
    this.byMethod.set(method, results);
    results[result]++;
    if (result === 'ok' || result === 'rpc_error') this.seconds.record(ms / 1000);
    if (upstreamChannel.hasSubscribers) upstreamChannel.publish({ upstream: this.#upstream, method, result, ms });
  }
}

export function resultOf(error: GatewayError): RpcResult {
  if (error.code === 'upstream_timeout') return 'timeout';
  if (rpcFaultOf(error) === 'rate-limit') return 'limited';
  return error.code === 'rpc_error' ? 'rpc_error' : 'failed';
}
