import type { Socket, SocketEvent } from '../../../src/client/client.ts';

type Listener = (event: SocketEvent) => void;

/** A WebSocket whose other end is the test. */
export class ScriptedSocket implements Socket {
  readonly url: string;
  /** What the client has sent, parsed. */
  readonly sent: any[] = [];
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
    this.#happens('open', {});
  }

  /** The gateway says something. */
  say(data: string): void {
    this.#happens('message', { data });
  }

  /** The gateway, or the network, ends the connection. */
  end(code: number): void {
    this.#happens('error', {});
    this.#happens('close', { code });
  }

  #happens(type: string, event: SocketEvent): void {
    for (const each of this.#listeners) if (each.type === type) each.listener(event);
  }
}
