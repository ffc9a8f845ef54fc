import { backoffMs } from '../failsafe/jittered-backoff.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import {
  type ChannelOptions,
  type ChannelSubscription,
  NOT_NEEDED,
  type Notification,
  PubsubChannel,
} from './pubsub-channel.ts';

/** Subscription that is made again on each channel. */
interface RenewedSubscription extends ChannelSubscription {
  readonly params: readonly unknown[];
}

export interface ReconnectingChannelOptions extends Pick<ChannelOptions, 'node' | 'counts' | 'verifyGenesis'> {
  readonly deps: UpstreamDeps;
  /** Called in the turn of each change: whatever depends on a channel is stale from the moment it is lost. */
  onStatus(status: 'up' | 'down', reason: string): void;
}

/** Brings a node's notifications to subscribers over any number of channels: reconnects and subscribes again. */
export class ReconnectingChannel {
  readonly #options: ReconnectingChannelOptions;
  readonly #subscriptions = new Set<RenewedSubscription>();
  #channel: PubsubChannel | undefined;
  /** Channel on which the genesis is verified. */
  #readyChannel: PubsubChannel | undefined;
  #status: 'up' | 'down' | undefined;
  #failures = 0;
  #cancelRetry = (): void => {};
  #isClosed = false;

  constructor(options: ReconnectingChannelOptions) {
    this.#options = options;
    this.#connect();
  }

  /** Status: `up` while the node acknowledges subscriptions. */
  get status(): 'up' | 'down' {
    return this.#status ?? 'down';
  }

  /**
   * Calls `onNotification` with each notification, over any number of channels, until the returned function is called.
   * Calls `onRejected` when the node rejects the subscription.
   */
  subscribe(
    method: string,
    params: readonly unknown[],
    onNotification: (notification: Notification) => void,
    onRejected: () => void = () => {},
  ): () => void {
    const onAcknowledged = (): void => {
      this.#failures = 0;
      this.#setStatus('up', 'is up');
    };
    const subscription: RenewedSubscription = { method, params, onNotification, onAcknowledged, onRejected };
    this.#subscriptions.add(subscription);
    this.#readyChannel?.subscribe(subscription, params);
    return () => {
      this.#subscriptions.delete(subscription);
      this.#readyChannel?.unsubscribe(subscription);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#channel?.close(NOT_NEEDED);
  }

  #connect(): void {
    const { node, deps, counts, verifyGenesis } = this.#options;
    const channel = new PubsubChannel({
      node,
      settings: deps.settings,
      clock: deps.clock,
      counts,
      verifyGenesis,
      onReady: () => {
        this.#readyChannel = channel;
        for (const subscription of this.#subscriptions) channel.subscribe(subscription, subscription.params);
      },
      onClose: (reason) => this.#onChannelClosed(reason),
    });
    this.#channel = channel;
  }

  #onChannelClosed(reason: string): void {
    this.#channel = undefined;
    this.#readyChannel = undefined;
    if (!this.#isClosed) {
      this.#cancelRetry = this.#options.deps.clock.after(backoffMs(++this.#failures, this.#options.deps), () =>
        this.#connect(),
      );
    }
    this.#setStatus('down', reason);
  }

  #setStatus(status: 'up' | 'down', reason: string): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#options.onStatus(status, reason);
  }
}
