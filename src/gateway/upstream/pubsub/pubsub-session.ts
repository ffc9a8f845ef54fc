import type { Commitment } from '../../../shared/domain/commitment.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

/** Notification of the Clock sysvar: the slot that a session has reached at a commitment. */
export interface ClockUpdate {
  readonly slot: Slot;
  /** Slot of the update before: all notifications up to it have arrived. */
  readonly previous: Slot | undefined;
  /**
   * First slot at which all is proven to hold that the node has notified for earlier slots: {@link slot}, unless its
   * newest root was ahead.
   */
  readonly provenFrom: Slot;
  /** True when {@link previous} is known to be the parent of {@link slot}: the slots between were skipped. */
  readonly isNextBank: boolean;
}

export interface PubsubSubscription {
  stop(): void;
}

/** Callbacks of a subscription. None is called after it is stopped or the session is lost. */
export interface SubscriptionHandler {
  /** The node has accepted the subscription: notifications arrive from now on. */
  onAcknowledged(): void;
  /** The account had `value`, in the node's own bytes, at the end of `slot`; of logs, a transaction of that slot. */
  onNotification(slot: Slot, value: Buffer): void;
  onRejected(): void;
  /** The node accepts no more on this session: another may have room for it. */
  onRefused(): void;
}

/** Messages are handled in the order of the wire. It is used until it is lost and never reconnects. */
export interface PubsubSession extends RpcCaller {
  readonly nodeId: string;
  /** True where another node may answer {@link call} than the one that notifies. */
  readonly isPooled: boolean;
  /** Number of subscriptions that it still accepts; 0 once it is lost. */
  readonly capacity: number;
  /** Number of subscriptions that it may have, as far as is known, without those of its own. */
  readonly maxSubscriptions: number;
  /** True when it may accept more, or report that it does not, once the node has answered. */
  readonly mayGrow: boolean;
  readonly isLost: boolean;
  /** Subscribes. Throws `overloaded` without {@link capacity}. */
  subscribe(
    method: 'accountSubscribe' | 'programSubscribe' | 'logsSubscribe',
    params: readonly unknown[],
    handler: SubscriptionHandler,
  ): PubsubSubscription;
  /** Calls the listener when the node has answered a subscription: the capacity may have changed. */
  onAnswered(listener: () => void): void;
  /** Listens to Clock updates. At `processed` slots may go back when the node switches forks. */
  onClockUpdate(commitment: Commitment, listener: (update: ClockUpdate) => void): () => void;
  /**
   * Calls the listener once, at the moment the session is lost: closed, silent, a ping or a subscription unanswered, a
   * malformed message. On a session that is lost already, calls it before it returns.
   */
  onLost(listener: (reason: string) => void): () => void;
  /** Returns true if the node's chain up to `tip` is known to skip `slot`: that is on another fork. */
  isOnAnotherFork(slot: Slot, tip: Slot): boolean;
  /** Returns the parent of a slot; undefined where the node has not named it. */
  parentOf(slot: Slot): Slot | undefined;
  close(): void;
}
