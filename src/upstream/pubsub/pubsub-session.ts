import type { Commitment } from '../../domain/commitment.ts';
import type { RpcMethod } from '../../domain/rpc-methods.ts';
import type { Slot } from '../../domain/slot.ts';
import type { CallOptions, RpcResponse } from '../rpc/rpc-response.ts';

/** How far a line has come at a commitment, as the Clock sysvar tells on it. */
export interface ClockUpdate {
  readonly slot: Slot;
  /** The one before: of all events up to this slot nothing is under way any more. */
  readonly previous: Slot | undefined;
}

/** What comes of a subscription. Nothing is called once it is stopped or the line is lost. */
export interface SubscriptionHandler {
  /** The node has taken it: what it tells from now on is heard. */
  onAcknowledged(): void;
  /** `value` held at the end of `slot`, in the node's own bytes. */
  onNotification(slot: Slot, value: Buffer): void;
  /** The node won't have it. */
  onRejected(): void;
}

/**
 * One WebSocket to one node, for what must be known in the order in which the node said it: all that is called here is
 * called in the order of the wire, notifications and beacons alike. It is used until it is lost and never comes back.
 */
export interface PubsubSession {
  /** The node's id. */
  readonly nodeId: string;
  /** True where {@link call} may be answered by another node than the one that tells. */
  readonly isPooled: boolean;
  /** How many more subscriptions it takes; 0 once it is lost. */
  readonly capacity: number;
  readonly isLost: boolean;
  /** Throws `overloaded` without {@link capacity}. The returned function stops it and makes room again. */
  subscribe(
    method: 'accountSubscribe' | 'programSubscribe',
    params: readonly unknown[],
    handler: SubscriptionHandler,
  ): () => void;
  /** At `processed` slots may go back when the node changes forks. */
  onClockUpdate(commitment: Commitment, listener: (beacon: ClockUpdate) => void): () => void;
  /**
   * Called once, at the instant the connection is in doubt: closed, silent, a ping or a subscription unanswered, sent
   * what can't be taken. Called at once on a line that is lost already.
   */
  onLost(listener: (reason: string) => void): () => void;
  /** True when the node's chain up to `tip` is known to have passed `slot` by: it is on another fork. */
  isOnAnotherFork(slot: Slot, tip: Slot): boolean;
  /** Reads through the same upstream, as `Mesh.call` does. */
  call(method: RpcMethod, params?: readonly unknown[], options?: CallOptions): Promise<RpcResponse>;
  close(): void;
}
