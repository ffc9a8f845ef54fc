import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../../../shared/domain/clock.ts';
import { GatewayError } from '../../../../shared/domain/gateway-error.ts';
import { readInTurns } from '../../../../shared/runtime/read-in-turns.ts';
import { repeat } from '../../../../shared/runtime/repeat.ts';
import type { EngineSocket, WebSocketBehavior } from '../engine.ts';
import { PingFloods } from '../ping-floods.ts';

/** Time between two looks for silent sockets, in milliseconds. */
const LOOK_MS = 5_000;

/** The part of the idle time after which a silent socket is pinged. */
const PING_PART = 0.75;

/** The time in which a peer must answer a close frame, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The headers that a 101 has besides those of RFC 6455. */
export type UpgradeHeaders = readonly string[];

export class NodeSockets<Data> {
  readonly behavior: WebSocketBehavior<Data>;
  readonly clock: Clock;
  readonly pingFloods = new PingFloods();
  readonly #server: WebSocketServer;
  readonly #sockets = new Set<NodeSocket<Data>>();
  readonly #topics = new Map<string, Set<NodeSocket<Data>>>();
  readonly #headers = new WeakMap<IncomingMessage, UpgradeHeaders>();
  readonly #stopLooking: () => void;

  constructor(behavior: WebSocketBehavior<Data>, clock: Clock) {
    this.behavior = behavior;
    this.clock = clock;
    const options: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: behavior.maxPayloadLength,
      closeTimeout: CLOSE_TIMEOUT_MS, // which the types do not know yet
    };
    this.#server = new WebSocketServer(options);
    this.#server.on('headers', (headers, message) => headers.push(...(this.#headers.get(message) ?? [])));
    this.#stopLooking = repeat(clock, LOOK_MS, () => this.#closeSilent());
  }

  /** Throws `invalid_request` if the connection has ended. */
  accept(message: IncomingMessage, socket: Socket, head: Buffer, data: Data, headers: UpgradeHeaders): void {
    delete message.headers['sec-websocket-protocol']; // ours was chosen; ws would choose again
    message.headers.upgrade = 'websocket'; // as was checked; a proxy may have added a line of its own
    let isOpen = false;
    this.#headers.set(message, headers);
    this.#server.handleUpgrade(message, socket, head, (opened) => {
      isOpen = true;
      const accepted = new NodeSocket(this, opened, socket, data);
      this.#sockets.add(accepted);
      this.behavior.open(accepted);
    });
    if (!isOpen) throw new GatewayError('invalid_request', 'the connection has ended');
  }

  publish(topic: string, message: string | Buffer, isBinary: boolean): void {
    const subscribers = this.#topics.get(topic);
    if (subscribers === undefined) return;
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    for (const socket of subscribers) socket.send(bytes, isBinary);
  }

  subscribe(topic: string, socket: NodeSocket<Data>): void {
    const subscribers = this.#topics.get(topic);
    if (subscribers === undefined) this.#topics.set(topic, new Set([socket]));
    else subscribers.add(socket);
  }

  /** Forgets a socket that is closed, and the topics that nobody subscribes to any more. */
  remove(socket: NodeSocket<Data>, topics: readonly string[]): void {
    this.#sockets.delete(socket);
    for (const topic of topics) {
      const subscribers = this.#topics.get(topic);
      subscribers?.delete(socket);
      if (subscribers?.size === 0) this.#topics.delete(topic);
    }
  }

  #closeSilent(): void {
    const idleMs = this.behavior.idleTimeout * 1000;
    const nowMs = this.clock.monotonic();
    for (const socket of [...this.#sockets]) {
      const silentMs = nowMs - socket.lastReceivedMs;
      if (silentMs >= idleMs) socket.close();
      else if (silentMs >= idleMs * PING_PART) socket.ping();
    }
  }

  close(): void {
    this.#stopLooking();
    for (const socket of [...this.#sockets]) socket.close();
  }
}

export class NodeSocket<Data> implements EngineSocket<Data> {
  readonly #sockets: NodeSockets<Data>;
  readonly #ws: WebSocket;
  readonly #tcp: Socket;
  readonly #data: Data;
  readonly #topics: string[] = [];
  #isClosed = false;
  /** True while bytes that were sent wait for the reader. */
  #isBehind = false;
  /** When the peer last sent something, in monotonic milliseconds. */
  lastReceivedMs: number;

  constructor(sockets: NodeSockets<Data>, ws: WebSocket, tcp: Socket, data: Data) {
    this.#sockets = sockets;
    this.#ws = ws;
    this.#tcp = tcp;
    this.#data = data;
    const { behavior, clock } = sockets;
    this.lastReceivedMs = clock.monotonic();
    const onReceived = (): void => {
      this.lastReceivedMs = clock.monotonic();
    };
    readInTurns(ws);
    ws.on('ping', (payload: Buffer) => {
      onReceived();
      if (this.#isClosed) return;
      if (sockets.pingFloods.isFlood(this)) return this.close();
      if (ws.bufferedAmount <= behavior.maxBackpressure) ws.pong(payload, false, this.#onFlushed); // else pongs would pile up
      this.#isBehind ||= ws.bufferedAmount > 0;
    });
    ws.on('pong', onReceived);
    ws.on('message', (message: Buffer, isBinary) => {
      onReceived();
      if (!this.#isClosed) behavior.message(this, new Uint8Array(message).buffer, isBinary);
    });
    ws.on('error', () => {}); // `close` follows
    ws.on('close', (code) => this.#onClose(code));
    tcp.on('drain', this.#onFlushed);
  }

  getUserData(): Data {
    return this.#data;
  }

  send(message: string | Buffer, isBinary = false): void {
    if (this.#isClosed) return;
    const { behavior } = this.#sockets;
    if (this.#ws.bufferedAmount > behavior.maxBackpressure) {
      behavior.dropped(this);
      return;
    }
    this.#ws.send(message, { binary: isBinary }, this.#onFlushed);
    this.#isBehind ||= this.#ws.bufferedAmount > 0;
  }

  readonly #onFlushed = (): void => {
    if (!this.#isBehind || this.#isClosed || this.#ws.bufferedAmount > 0) return;
    this.#isBehind = false;
    this.#sockets.behavior.drain(this);
  };

  getBufferedAmount(): number {
    return this.#ws.bufferedAmount;
  }

  subscribe(topic: string): void {
    this.#topics.push(topic);
    this.#sockets.subscribe(topic, this);
  }

  ping(): void {
    this.#ws.ping();
  }

  end(code: number, reason: string): void {
    this.#onClose(code);
    this.#ws.close(code, reason);
    this.#tcp.end(); // behind the close frame: a peer that does not answer it is not waited for
  }

  close(): void {
    this.#onClose(ABNORMAL_CLOSURE);
    this.#ws.terminate();
  }

  #onClose(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sockets.remove(this, this.#topics);
    this.#sockets.behavior.close(this, code);
  }
}

/** The close code of a connection that ended without a close frame (RFC 6455 7.4.1). */
const ABNORMAL_CLOSURE = 1006;
