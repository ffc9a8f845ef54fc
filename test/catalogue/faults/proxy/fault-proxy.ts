import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback } from '../../../support/loopback-server.ts';
import { type ConnectionFault, type FaultHandler, type FaultTarget, noFault } from './connection-faults.ts';

interface ProxiedConnection {
  readonly client: Socket;
  readonly node: Socket;
  readonly target: FaultTarget;
  handler: FaultHandler;
}

/** A TCP proxy on loopback between a gateway and a node that applies network faults. */
export class FaultProxy {
  readonly port: number;
  /** The number of connections for WebSockets that were opened. */
  upgrades = 0;
  #target: number;
  readonly #server: Server;
  readonly #proxied = new Set<ProxiedConnection>();
  #fault: ConnectionFault = noFault;
  /** Whether the fault also hides the ends of connections. */
  #hidesEnds = false;

  static async start(target: number): Promise<FaultProxy> {
    const server = createServer();
    return new FaultProxy(server, await listenOnLoopback(server), target);
  }

  private constructor(server: Server, port: number, target: number) {
    this.#target = target;
    this.#server = server;
    this.port = port;
    server.on('connection', (client) => this.#connect(client));
  }

  /** Applies a fault to open and future connections. */
  apply(fault: ConnectionFault, { hidesEnds = false } = {}): void {
    for (const { handler } of this.#proxied) handler.onHealed?.();
    this.#fault = fault;
    this.#hidesEnds = hidesEnds;
    for (const link of this.#proxied) link.handler = fault(link.target);
  }

  heal(): void {
    this.apply(noFault);
  }

  /** Resets the open connections; others may be opened. */
  resetConnections(): void {
    for (const { target } of [...this.#proxied]) target.resetConnection();
  }

  /** Leads to another port on loopback; connections to the one before are reset. */
  leadTo(target: number): void {
    this.#target = target;
    this.resetConnections();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.resetConnections(); // no other can be opened now
    await closed;
  }

  #connect(client: Socket): void {
    const node = connect(this.#target, '127.0.0.1');
    const target: FaultTarget = {
      pass: (chunk) => {
        if (!client.write(chunk)) node.pause();
      },
      end: () => {
        client.end();
        node.destroy();
      },
      resetConnection: () => {
        // A connection that is ending can't be reset, and the attempt would leave it open.
        if (client.writableEnded) client.destroy();
        else client.resetAndDestroy();
        node.destroy();
      },
    };
    const proxied: ProxiedConnection = { client, node, target, handler: this.#fault(target) };
    this.#proxied.add(proxied);
    for (const socket of [client, node]) socket.setNoDelay(true).on('error', () => {}); // 'close' follows
    client.on('data', (chunk) => {
      if (/^upgrade: websocket/im.test(chunk.toString('latin1'))) this.upgrades++;
      node.write(chunk);
    });
    client.on('drain', () => node.resume());
    node.on('data', (chunk) => proxied.handler.onData(chunk));
    node.on('close', () => {
      if (!this.#hidesEnds) client.destroy();
    });
    client.on('close', () => {
      node.destroy();
      this.#proxied.delete(proxied);
    });
  }
}
