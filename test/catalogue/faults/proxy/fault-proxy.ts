import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type ConnectionFault, type FaultHandler, type FaultTarget, noFault } from './connection-faults.ts';

interface ProxiedConnection {
  readonly client: Socket;
  readonly node: Socket;
  readonly target: FaultTarget;
  handler: FaultHandler;
}

/** Stands between a gateway and a node on loopback, and does to their connections what networks do. */
export class FaultProxy {
  readonly port: number;
  /** When each WebSocket was asked for, in milliseconds of `performance.now()`. */
  readonly webSocketsAtMs: number[] = [];
  readonly #target: number;
  readonly #server: Server;
  readonly #proxied = new Set<ProxiedConnection>();
  #fault: ConnectionFault = noFault;
  /** The fault is such that no end of a connection is seen either. */
  #hidesEnds = false;
  #peakConnections = 0;

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
    server.on('connection', (client) => this.#connect(client));
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#proxied.size;
  }

  /** How many were open at once at most, since this was last asked. */
  takePeakConnections(): number {
    const peak = this.#peakConnections;
    this.#peakConnections = this.#proxied.size;
    return peak;
  }

  /** From now on this happens, on the connections that are open and on those to come. */
  apply(fault: ConnectionFault, { hidesEnds = false } = {}): void {
    for (const { handler } of this.#proxied) handler.onHealed?.();
    this.#fault = fault;
    this.#hidesEnds = hidesEnds;
    for (const link of this.#proxied) link.handler = fault(link.target);
  }

  /** All is well again. */
  heal(): void {
    this.apply(noFault);
  }

  /** Resets what is open now; others may be opened. */
  resetConnections(): void {
    for (const { target } of [...this.#proxied]) target.resetConnection();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.resetConnections(); // and no other comes now
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
        // One that is being ended can't be reset, and would be left open by the attempt.
        if (client.writableEnded) client.destroy();
        else client.resetAndDestroy();
        node.destroy();
      },
    };
    const proxied: ProxiedConnection = { client, node, target, handler: this.#fault(target) };
    this.#proxied.add(proxied);
    this.#peakConnections = Math.max(this.#peakConnections, this.#proxied.size);
    for (const socket of [client, node]) socket.setNoDelay(true).on('error', () => {}); // 'close' follows
    client.once('data', (head) => {
      if (/^upgrade: websocket/im.test(head.toString('latin1'))) this.webSocketsAtMs.push(performance.now());
    });
    client.on('data', (chunk) => node.write(chunk));
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
