import { backoffMs } from '../failsafe/jittered-backoff.ts';
import type { UpstreamDeps } from '../upstream-options.ts';
import { type ChannelOptions, type ChannelSubscription, NOT_NEEDED, PubsubChannel } from './pubsub-channel.ts';

/** Subscription that is made again on each channel. */
export interface RenewedSubscription extends Pick<ChannelSubscription, 'method' | 'onNotification'> {
  readonly params: readonly unknown[];
  onRejected(): void;
}

export interface ReconnectingChannelOptions extends Pick<ChannelOptions, 'node' | 'counts' | 'verifyGenesis'> {
  readonly deps: UpstreamDeps;
  readonly subscriptions: readonly RenewedSubscription[];
  /** Called in the turn of each change: whatever depends on a channel is stale from the moment it is lost. */
  onStatus(status: 'up' | 'down', reason: string): void;
}

/** Brings a node's notifications to subscribers over any number of channels: reconnects and subscribes again. */
export class ReconnectingChannel {
  readonly #options: ReconnectingChannelOptions;
  #channel: PubsubChannel | undefined;
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

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#channel?.close(NOT_NEEDED);
  }

  #connect(): void {
    const { node, deps, counts, verifyGenesis, subscriptions } = this.#options;
    const channel = new PubsubChannel({
      node,
      settings: deps.settings,
      clock: deps.clock,
      counts,
      verifyGenesis,
      onReady: () => {
        for (const { params, ...subscription } of subscriptions)
          channel.subscribe({ ...subscription, onAcknowledged: () => this.#onAcknowledged() }, params);
      },
      onClose: (reason) => this.#onChannelClosed(reason),
    });
    this.#channel = channel;
  }

  #onAcknowledged(): void {
    this.#failures = 0;
    this.#setStatus('up', 'is up');
  }

  #onChannelClosed(reason: string): void {
    this.#channel = undefined;
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
