import { once } from 'node:events';
import { WebSocket } from 'ws';
import { forEachConcurrent } from '../support/for-each-concurrent.ts';
import { waitFor } from '../support/harness.ts';

/** A subscription of Solana's pubsub: its method and parameters. */
export type Subscription = readonly [method: string, ...params: readonly unknown[]];

/** One address may open 112 connections in a few seconds while a gateway has many (connection-limiter.ts). */
const ADDRESSES = 100;
const CONNECTING = 20;
/** The longest time until a busy machine has answered all subscriptions. */
const PATIENCE_MS = 300_000;

/** Many clients of pubsub that only count what they are notified of. */
export class CountingClients {
  notified = 0;
  #answered = 0;
  readonly #url: string;
  readonly #sockets: WebSocket[] = [];
  readonly #failures: string[] = [];

  /** Opens clients, each from one of several addresses of loopback. */
  static async open(url: string, count: number): Promise<CountingClients> {
    const clients = new CountingClients(url);
    await forEachConcurrent(Array(count).keys(), CONNECTING, (i) => clients.#connect(i));
    return clients;
  }

  private constructor(url: string) {
    this.#url = url;
  }

  /** Subscribes each client to what is returned for its number, and waits for all answers. Rejects where one is refused. */
  async subscribe(subscriptionsOf: (client: number) => readonly Subscription[]): Promise<void> {
    this.#answered = 0;
    let sent = 0;
    for (const [client, socket] of this.#sockets.entries())
      for (const [id, [method, ...params]] of subscriptionsOf(client).entries()) {
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
        sent++;
      }
    await waitFor(
      () => this.#answered + this.#failures.length >= sent,
      'the answers to all subscriptions',
      PATIENCE_MS,
    );
    this.assertWhole();
  }

  /** Throws if a subscription was refused or a connection has ended. */
  assertWhole(): void {
    if (this.#failures.length > 0) throw new Error(`${this.#failures.length} failed: ${this.#failures[0]}`);
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').terminate();
  }

  async #connect(client: number): Promise<void> {
    const localAddress = `127.0.1.${1 + (client % ADDRESSES)}`;
    const socket = new WebSocket(this.#url, { localAddress, perMessageDeflate: false, skipUTF8Validation: true });
    this.#sockets.push(socket);
    await once(socket, 'open');
    socket.on('close', (code, reason) => this.#failures.push(`closed with ${code} ${reason}`));
    socket.on('message', (data) => this.#onMessage(String(data)));
  }

  #onMessage(text: string): void {
    if (text.startsWith('"method"', NOTIFICATION_AT)) this.notified++;
    else if (text.includes('"error"')) this.#failures.push(text);
    else this.#answered++;
  }
}

/** Where the method of a notification begins, of a node and of a gateway. */
const NOTIFICATION_AT = '{"jsonrpc":"2.0",'.length;
