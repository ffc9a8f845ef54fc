import type { Socket, SocketEvent } from '../../../src/client/client.ts';

type Listener = (event: SocketEvent) => void;

interface SentMessage {
  readonly op: string;
  readonly id: number;
  readonly topic: string;
  readonly addresses: readonly string[];
}

/** A WebSocket whose other end is the test. */
export class ScriptedSocket implements Socket {
  readonly url: string;
  /** The messages that the client has sent, parsed. */
  readonly sent: SentMessage[] = [];
  isClosed = false;
  readonly #listeners: { readonly type: string; readonly listener: Listener }[] = [];

  constructor(url: string) {
    this.url = url;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.push({ type, listener });
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    this.#dispatch('open', {});
  }

  /** Delivers a message of the gateway. */
  receive(data: string): void {
    this.#dispatch('message', { data });
  }

  /** Fails to open as a WebSocket of Node 20 and 22 does, which has no `close` then. */
  fail(): void {
    this.#dispatch('error', {});
  }

  /** Ends the connection, as the gateway or the network would. */
  end(code: number): void {
    this.#dispatch('error', {});
    this.#dispatch('close', { code });
  }

  #dispatch(type: string, event: SocketEvent): void {
    for (const registration of this.#listeners) if (registration.type === type) registration.listener(event);
  }
}
