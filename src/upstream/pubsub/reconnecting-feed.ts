import { backoffMs } from '../failsafe/exponential-backoff.ts';
import type { NodeOptions, UpstreamDeps } from '../upstream-options.ts';
import { type ChannelSubscription, PubsubChannel } from './pubsub-channel.ts';

export interface FeedOptions {
  readonly node: NodeOptions;
  readonly deps: UpstreamDeps;
  /** Asked at each new connection before anything is subscribed. A rejection ends the connection. */
  verifyGenesis(): Promise<unknown>;
  /** Called with each change, at once: what hangs on a connection is stale from the moment it is lost. */
  onStatus(status: 'up' | 'down', reason: string): void;
}

/** A node's notifications for as long as somebody wants them: lost connections are made again, with all subscriptions. */
export class ReconnectingFeed {
  readonly #options: FeedOptions;
  readonly #subscriptions = new Set<ChannelSubscription>();
  #channel: PubsubChannel | undefined;
  /** The connection, once it may be subscribed on. */
  #readyChannel: PubsubChannel | undefined;
  #status: 'up' | 'down' | undefined;
  #failures = 0;
  #cancelRetry = (): void => {};
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#connect();
  }

  /** `up` while the node acknowledges what we subscribe to. */
  get status(): 'up' | 'down' {
    return this.#status ?? 'down';
  }

  /**
   * Calls `notify` with the bytes of each notification's `result`, over any number of connections, until the returned
   * function is called. `refused` is called when a node doesn't take the subscription.
   */
  subscribe(
    method: string,
    params: readonly unknown[],
    onNotification: (result: Buffer) => void,
    onRejected: () => void = () => {},
  ): () => void {
    const subscription = { method, params, onNotification, onRejected };
    this.#subscriptions.add(subscription);
    this.#readyChannel?.subscribe(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      this.#readyChannel?.unsubscribe(subscription);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    this.#channel?.close('is no longer needed');
  }

  #connect(): void {
    const { node, deps, verifyGenesis } = this.#options;
    const channel = new PubsubChannel({
      node,
      settings: deps.settings,
      clock: deps.clock,
      onOpen: () => {
        verifyGenesis().then(
          () => this.#resubscribe(channel),
          () => channel.close('was not admitted'),
        );
      },
      onAcknowledged: () => {
        this.#failures = 0;
        this.#setStatus('up', 'is up');
      },
      onClose: (reason) => this.#onChannelClosed(reason),
    });
    this.#channel = channel;
  }

  #resubscribe(channel: PubsubChannel): void {
    if (this.#channel !== channel) return; // lost while it was being admitted
    this.#readyChannel = channel;
    for (const subscription of this.#subscriptions) channel.subscribe(subscription);
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
