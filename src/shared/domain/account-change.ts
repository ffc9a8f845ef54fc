import type { Commitment } from './commitment.ts';
import type { GatewayError } from './gateway-error.ts';
import type { Slot } from './slot.ts';

/** A change of an account that a subscriber receives. */
export interface AccountChange {
  /** The slot from which on the account reads differently. */
  readonly slot: Slot;
  /** True when a state that was reported before was rolled back: the node has changed forks. */
  readonly isReorg: boolean;
}

/** A subscriber to the changes of an account. */
export interface AccountSubscriber {
  onChange(change: AccountChange): void;
  /** Called when the account can't be kept live any more. */
  onEnd(reason: GatewayError): void;
}

/** A subscription to the changes of an account, for one caller or several that its place counts for. */
export interface AccountSubscription {
  addCaller(caller: string): void;
  /** Removes a caller that isn't the last one: the subscription ends with that. */
  removeCaller(caller: string): void;
  end(): void;
}

/** A source of the changes of accounts. */
export interface AccountChangeSource {
  /** Notifies of each change, even if nobody reads the account, until the subscription ends. Its place counts for `caller`. */
  subscribe(
    address: string,
    commitment: Commitment,
    subscriber: AccountSubscriber,
    caller: string,
  ): AccountSubscription;
}
