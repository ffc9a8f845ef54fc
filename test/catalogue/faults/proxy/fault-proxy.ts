import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { clear, type Fault, type Handling, type Way } from './fault.ts';

interface Link {
  readonly client: Socket;
  readonly node: Socket;
  readonly way: Way;
  handling: Handling;
}

/** Stands between a gateway and a node on loopback, and does to their connections what networks do. */
export class FaultProxy {
  readonly port: number;
  /** When each WebSocket was asked for, in milliseconds of `performance.now()`. */
  readonly webSocketsAtMs: number[] = [];
  readonly #target: number;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #fault: Fault = clear;
  /** The fault is such that no end of a connection is seen either. */
  #hidesEnds = false;
  #most = 0;

  static start = (target: number): Promise<FaultProxy> =>
    new Promise((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve(new FaultProxy(server, target)));
    });

  private constructor(server: Server, target: number) {
    this.#target = target;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port; // a string only for pipes
    server.on('connection', (client) => this.#link(client));
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#links.size;
  }

  /** How many were open at once at most, since this was last asked. */
  takeMost(): number {
    const most = this.#most;
    this.#most = this.#links.size;
    return most;
  }

  /** From now on this happens, on the connections that are open and on those to come. */
  suffer(fault: Fault, { hidesEnds = false } = {}): void {
    for (const { handling } of this.#links) handling.lift?.();
    this.#fault = fault;
    this.#hidesEnds = hidesEnds;
    for (const link of this.#links) link.handling = fault(link.way);
  }

  /** All is well again. */
  heal(): void {
    this.suffer(clear);
  }

  /** Resets what is open now; others may be opened. */
  cut(): void {
    for (const { way } of [...this.#links]) way.cut();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut(); // and no other comes now
    await closed;
  }

  #link(client: Socket): void {
    const node = connect(this.#target, '127.0.0.1');
    const way: Way = {
      pass: (chunk) => {
        if (!client.write(chunk)) node.pause();
      },
      end: () => {
        client.end();
        node.destroy();
      },
      cut: () => {
        // One that is being ended can't be reset, and would be left open by the attempt.
        if (client.writableEnded) client.destroy();
        else client.resetAndDestroy();
        node.destroy();
      },
    };
    const link: Link = { client, node, way, handling: this.#fault(way) };
    this.#links.add(link);
    this.#most = Math.max(this.#most, this.#links.size);
    for (const socket of [client, node]) socket.setNoDelay(true).on('error', () => {}); // 'close' follows
    client.once('data', (head) => {
      if (/^upgrade: websocket/im.test(head.toString('latin1'))) this.webSocketsAtMs.push(performance.now());
    });
    client.on('data', (chunk) => node.write(chunk));
    client.on('drain', () => node.resume());
    node.on('data', (chunk) => link.handling.take(chunk));
    node.on('close', () => {
      if (!this.#hidesEnds) client.destroy();
    });
    client.on('close', () => {
      node.destroy();
      this.#links.delete(link);
    });
  }
}
