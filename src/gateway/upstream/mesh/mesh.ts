import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { Tally } from '../../../shared/runtime/tally.ts';
import type { PubsubSession } from '../pubsub/pubsub-session.ts';
import type { RpcResult } from '../rpc/rpc-counts.ts';
import type { CallOptions, RpcCaller, RpcResponse } from '../rpc/rpc-response.ts';
import type { Disagreements } from './disagreements.ts';
import type { TipListener } from './mesh-tips.ts';

/** Status of one node. It never names the node's URL, which may hold a key. */
export interface NodeStatus {
  readonly id: string;
  /** Who runs the node; in place of an address the id of a node. */
  readonly operator: string;
  readonly status: 'ok' | 'behind' | 'stalled' | 'down';
  readonly slot: Slot | null;
  readonly behindSlots: number | null;
  /** `idle`: no WebSocket is held open, as another gateway follows the slots or the server has none. */
  readonly ws: 'up' | 'down' | 'idle';
  /** Reason, in words, why the status is not `ok`; null if it is. */
  readonly problem: string | null;
}

/** The states of a node, as metrics name them: `refused` is one that is quarantined. */
export const NODE_STATES = ['ok', 'behind', 'stalled', 'down', 'refused'] as const;

export interface NodeFigures {
  readonly id: string;
  readonly state: (typeof NODE_STATES)[number];
  readonly behindSlots: number | null;
  readonly isWebSocketUp: boolean;
  readonly subscriptions: number;
  /** The WebSockets that were opened again after a loss. */
  readonly reconnects: number;
  readonly hedges: number;
  /** How often two operators contradicted the node. */
  readonly disagreements: number;
  readonly requests: ReadonlyMap<RpcMethod, Readonly<Record<RpcResult, number>>>;
  /** The seconds that the node took to answer. */
  readonly seconds: Tally;
}

/** How the operators of a mesh are compared. */
export interface OperatorAgreement {
  readonly operators: number;
  /** The operators that must give the same before it is `exact`. */
  readonly needed: number;
  readonly disagreements: Disagreements;
  /** Calls all operators that it takes to decide. */
  readonly rpc: RpcCaller;
  /** Returns what calls the nodes of other operators than that of a node. */
  witnessOf(nodeId: string): RpcCaller;
  areOfTwoOperators(nodeId: string | undefined, other: string | undefined): boolean;
  /** Opens a session as {@link Mesh.openSession} does, with a node of another operator than those of some nodes. */
  openSessionBeside(nodeIds: () => readonly string[]): Promise<PubsubSession>;
  /** Calls the listener with each node that is quarantined since two operators contradict it. */
  onContradicted(listener: (nodeId: string) => void): void;
}

/** Many Solana nodes, used as one. A write can't be expressed. */
export interface Mesh extends RpcCaller {
  /** Genesis hash of every node of the mesh: the cluster that receipts are bound to. Undefined until it is connected. */
  readonly genesisHash: string | undefined;
  /** Version that a node named in a response. */
  readonly apiVersion: string | undefined;
  /** How operators are compared; undefined where there is one. */
  readonly agreement?: OperatorAgreement | undefined;
  /**
   * Calls the nodes until one has reported its slots; resolves to the genesis hash. Until then no other call succeeds.
   * Rejects with `upstream_unavailable` when the mesh is closed, and when every node is of another cluster; it may then
   * be called again.
   */
  connect(): Promise<string>;
  /**
   * Calls the best node. Rejects with a GatewayError: `rpc_error` (the node's error, its code in `rpcCode`),
   * `upstream_timeout`, `upstream_unavailable` (no connection, or rate-limited), `upstream_error` (no valid response),
   * `result_too_large` (over the limit), `overloaded` (the queue is full).
   */
  call(method: RpcMethod, params?: readonly unknown[], options?: CallOptions): Promise<RpcResponse>;
  tip(commitment: Commitment): Slot | undefined;
  /** Returns true if what the Geyser feed of a node says of a slot may be used (I16). */
  acceptsSlot(nodeId: string, commitment: Commitment, slot: Slot): boolean;
  /** The slot time of the cluster in milliseconds, measured by the accepted slots of the last minute. */
  readonly slotTimeMs: number;
  /** Calls `listener` with each newer slot at this commitment, until the returned function is called. */
  onTip(commitment: Commitment, listener: TipListener): () => void;
  /** With the node that is best at the moment. Retries until one is open; rejects only when the mesh is closed. */
  openSession(): Promise<PubsubSession>;
  nodes(): readonly NodeStatus[];
  figures(): readonly NodeFigures[];
  close(): Promise<void>;
}

/** A mesh that can leave it to another gateway to follow the slots of the nodes. */
export interface RestingMesh extends Mesh {
  /** While it rests it holds no WebSocket open, but polls the nodes each second; slots come by {@link observeSlot}, too. */
  rest(isResting: boolean): void;
  /** Observes a slot that another gateway reports, and its parent if it is known. It is accepted by the rules for those of a node. */
  observeSlot(commitment: Commitment, slot: Slot, parent?: Slot): void;
}
