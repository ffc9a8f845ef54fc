import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
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
  /** Times of WebSocket upgrade requests, in milliseconds of `performance.now()`. */
  readonly webSocketsAtMs: number[] = [];
  #target: number;
  readonly #server: Server;
  readonly #proxied = new Set<ProxiedConnection>();
  #fault: ConnectionFault = noFault;
  /** Whether the fault also hides the ends of connections. */
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

  /** Number of open connections. */
  get connections(): number {
    return this.#proxied.size;
  }

  /** Returns the maximum number of open connections since the last call. */
  takePeakConnections(): number {
    const peak = this.#peakConnections;
    this.#peakConnections = this.#proxied.size;
    return peak;
  }

  /** Applies a fault to open and future connections. */
  apply(fault: ConnectionFault, { hidesEnds = false } = {}): void {
    for (const { handler } of this.#proxied) handler.onHealed?.();
    this.#fault = fault;
    this.#hidesEnds = hidesEnds;
    for (const link of this.#proxied) link.handler = fault(link.target);
  }

  /** Removes the fault. */
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
