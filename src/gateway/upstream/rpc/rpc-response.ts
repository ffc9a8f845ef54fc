import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { RequestCost } from '../../../shared/domain/request-cost.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';

/** Response of a node, unparsed: bytes stay bytes, so no number passes through a double. */
export interface RpcResponse {
  /**
   * Slot at which the response holds: `context.slot` where the node names one, else the newest slot at the commitment
   * that the same node had reported before the request was sent.
   */
  readonly slot: Slot;
  readonly result: Buffer;
  /** Bytes of the `value` in a result with a `context`, else of the result itself. */
  readonly value: Buffer;
}

export interface CallOptions {
  /** Commitment whose latest slot dates a response without a context. Default: confirmed. */
  readonly commitment?: Commitment;
  /** Oldest slot of the response, also for methods without `minContextSlot`. */
  readonly minSlot?: Slot | undefined;
  /** Calls with the same key go to the same node while it is healthy, for lists that each node may order differently. */
  readonly affinity?: string;
  /** Whether the response is known to be large: the call takes its turn, and its time, with the slow methods. */
  readonly isLarge?: boolean | undefined;
  /** Monotonic milliseconds that shorten the method's time limit. */
  readonly deadlineMs?: number | undefined;
  /** Request that causes the call, whose calls, scans and bytes are counted. Default: it is work of the gateway itself. */
  readonly cost?: RequestCost | undefined;
}

/** Calls RPC methods: of a mesh, or of one node. */
export interface RpcCaller {
  call(method: RpcMethod, params?: readonly unknown[], options?: CallOptions): Promise<RpcResponse>;
}
