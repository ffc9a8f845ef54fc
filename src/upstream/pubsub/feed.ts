import { backoffMs } from '../failsafe/backoff.ts';
import type { NodeOptions, Surroundings } from '../options.ts';
import { Connection, type Subscription } from './connection.ts';

export interface FeedOptions {
  readonly node: NodeOptions;
  readonly surroundings: Surroundings;
  /** Asked at each new connection before anything is subscribed. A rejection ends the connection. */
  admit(): Promise<unknown>;
  /** Called with each change, at once: what hangs on a connection is stale from the moment it is lost. */
  onStatus(status: 'up' | 'down', reason: string): void;
}

/** A node's notifications for as long as somebody wants them: lost connections are made again, with all subscriptions. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #wanted = new Set<Subscription>();
  #connection: Connection | undefined;
  /** The connection, once it may be subscribed on. */
  #admitted: Connection | undefined;
  #status: 'up' | 'down' | undefined;
  #failures = 0;
  #cancelRetry = (): void => {};
  #closed = false;

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
    notify: (result: Buffer) => void,
    refused: () => void = () => {},
  ): () => void {
    const subscription = { method, params, notify, refused };
    this.#wanted.add(subscription);
    this.#admitted?.subscribe(subscription);
    return () => {
      this.#wanted.delete(subscription);
      this.#admitted?.unsubscribe(subscription);
    };
  }

  close(): void {
    this.#closed = true;
    this.#cancelRetry();
    this.#connection?.end('is no longer needed');
  }

  #connect(): void {
    const { node, surroundings, admit } = this.#options;
    const connection = new Connection({
      node,
      settings: surroundings.settings,
      clock: surroundings.clock,
      opened: () => {
        admit().then(
          () => this.#begin(connection),
          () => connection.end('was not admitted'),
        );
      },
      acknowledged: () => {
        this.#failures = 0;
        this.#turn('up', 'is up');
      },
      ended: (reason) => this.#lose(reason),
    });
    this.#connection = connection;
  }

  #begin(connection: Connection): void {
    if (this.#connection !== connection) return; // lost while it was being admitted
    this.#admitted = connection;
    for (const subscription of this.#wanted) connection.subscribe(subscription);
  }

  #lose(reason: string): void {
    this.#connection = undefined;
    this.#admitted = undefined;
    if (!this.#closed) {
      this.#cancelRetry = this.#options.surroundings.clock.after(
        backoffMs(++this.#failures, this.#options.surroundings),
        () => this.#connect(),
      );
    }
    this.#turn('down', reason);
  }

  #turn(status: 'up' | 'down', reason: string): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#options.onStatus(status, reason);
  }
}
