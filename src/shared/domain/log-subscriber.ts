import type { GatewayError } from './gateway-error.ts';
import type { Slot } from './slot.ts';

/** A subscriber to the transactions that mention an address. */
export interface LogSubscriber {
  /** Called once, when a node has accepted the subscription: it is notified of what follows. */
  onReady(): void;
  /** Called with each transaction, `{"signature","err","logs"}` as the node writes it. */
  onLogs(slot: Slot, transaction: string): void;
  /** Called when no more transactions can come. */
  onEnd(reason: GatewayError): void;
}
