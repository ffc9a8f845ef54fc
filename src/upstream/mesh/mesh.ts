import type { Commitment } from '../../domain/commitment.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import type { PubsubSession } from '../pubsub/pubsub-session.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';

/** How one node looks from here. It never names the node's URL, which may hold a key. */
export interface NodeStatus {
  readonly id: string;
  readonly status: 'ok' | 'behind' | 'stalled' | 'down';
  readonly slot: Slot | null;
  readonly behindSlots: number | null;
  readonly ws: 'up' | 'down';
  /** Why nothing is read from it, whatever it says; null of a node that is read from. */
  readonly refusedFor: string | null;
}

/** Many Solana nodes, seen as one. A write can't be expressed. */
export interface Mesh {
  /** The genesis hash that every node of this mesh has: which cluster the receipts are bound to. */
  readonly genesisHash: string;
  /** The version that a node last named beside an answer. */
  readonly apiVersion: string | undefined;
  /** HTTP requests sent to all nodes so far. */
  readonly requestCount: number;
  /**
   * Reads from a node. Rejects with a GatewayError: `rpc_error` (the node refused; `rpcCode` holds its number),
   * `upstream_timeout`, `upstream_unavailable` (no connection, or told to slow down), `upstream_error` (not an
   * answer at all), `result_too_large` (over the cap), `overloaded` (the queue is full).
   */
  call(method: RpcMethod, params?: readonly unknown[], options?: CallOptions): Promise<RpcResponse>;
  /** The newest slot at this commitment that the mesh believes in. */
  tip(commitment: Commitment): Slot | undefined;
  /** Calls `listener` with each newer slot at this commitment, until the returned function is called. */
  onTip(commitment: Commitment, listener: (slot: Slot) => void): () => void;
  /**
   * Opens a connection of its own to the node that is best at the moment, and tries on until one is open. Rejects only
   * when the mesh is closed.
   */
  openSession(): Promise<PubsubSession>;
  nodes(): readonly NodeStatus[];
  close(): Promise<void>;
}
