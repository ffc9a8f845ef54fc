import type { GatewayError } from './gateway-error.ts';
import type { Slot } from './slot.ts';

/** A followed account has changed. */
export interface AccountChange {
  /** It reads otherwise from this slot on. */
  readonly slot: Slot;
  /** A state that was told before was taken back: the node has changed forks. */
  readonly isReorg: boolean;
}

/** Who is told of an account. */
export interface AccountSubscriber {
  onChange(change: AccountChange): void;
  /** No more can be told of it. */
  onEnd(reason: GatewayError): void;
}
