import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, Server as NetServer, type Socket } from 'node:net';
import process from 'node:process';
import type { Duplex } from 'node:stream';
import { StartError } from '../../../../shared/domain/start-error.ts';
import { DeferredRequests } from '../deferred-requests.ts';
import {
  type Engine,
  type EngineApp,
  type EngineAppOptions,
  type EngineConnection,
  MAX_HEAD_BYTES,
  MAX_HEADER_LINES,
  type MethodHandlers,
  type RequestHandler,
  type UnparsableFault,
  type WebSocketBehavior,
} from '../engine.ts';
import { PipeliningBudget } from '../pipelining-budget.ts';
import { partsOf, type RawResponse } from '../raw-response.ts';
import { NodeConnection } from './node-connection.ts';
import { NodeRequest } from './node-request.ts';
import { NodeResponse, type NodeUpgradeContext } from './node-response.ts';
import { NodeSockets } from './node-sockets.ts';
import { OpenConnections } from './open-connections.ts';
import { readProxyHeader } from './proxy-header.ts';

/** The time in which a request must arrive, and after which an idle or stalled connection is closed; uWebSockets.js has the same. */
const IDLE_MS = 10_000;

/** Time between two looks for late requests, in milliseconds. */
const LOOK_MS = 1_000;

export const nodeEngine: Engine = {
  name: 'node',
  version: process.versions.node,
  idleSeconds: (IDLE_MS + LOOK_MS) / 1000,
  createApp: (options) => new NodeApp(options),
};

/** The requests of a connection in a turn that are always served: one, and one that is pipelined behind it. */
const UNBUDGETED = 2;

/** Options of `createServer` that newer Nodes have and older ones ignore. */
interface NewerServerOptions {
  /** Decides whether a request with `Upgrade` becomes one; before Node 22.21 and 24.9 each does, and loses its body. */
  shouldUpgradeCallback(message: IncomingMessage): boolean;
}

interface SocketRoute {
  readonly path: string;
  /** Has a handshake checked; `connection` is where it is accepted. */
  upgrade(res: NodeResponse, req: NodeRequest, connection?: DetachedConnection): void;
  publish(topic: string, message: string | Buffer, isBinary: boolean): void;
  close(): void;
}

interface DetachedConnection {
  readonly message: IncomingMessage;
  readonly connection: NodeConnection;
  /** The bytes behind the request. */
  readonly head: Buffer;
}

class NodeApp implements EngineApp {
  readonly #options: EngineAppOptions;
  readonly #server: ReturnType<typeof createServer>;
  /** What listens: the server, or what reads the PROXY headers before it. */
  readonly #listeners: NetServer[] = [];
  /** The connections whose first bytes are not there yet. */
  readonly #silent = new Set<Socket>();
  readonly #connections = new WeakMap<Duplex, NodeConnection>();
  #onConnect = (_: EngineConnection): void => {};
  #onDisconnect = (): void => {};
  readonly #budget: PipeliningBudget;
  #turn = 0;
  #isInTurn = false;
  readonly #deferred = new DeferredRequests();
  readonly #open = new OpenConnections();
  #handlers: MethodHandlers | undefined;
  readonly #socketRoutes: SocketRoute[] = [];

  constructor(options: EngineAppOptions) {
    this.#options = options;
    this.#budget = new PipeliningBudget(options.startCpuStopwatch);
    const mayUpgrade = (message: IncomingMessage): boolean => this.#socketRouteOf(message) !== undefined;
    const newer: NewerServerOptions = { shouldUpgradeCallback: mayUpgrade };
    const server = createServer({
      ...newer,
      maxHeaderSize: MAX_HEAD_BYTES,
      requireHostHeader: false, // the request guard answers it
      keepAliveTimeout: IDLE_MS,
      headersTimeout: IDLE_MS,
      requestTimeout: IDLE_MS,
      connectionsCheckingInterval: LOOK_MS,
    });
    this.#server = server;
    server.maxHeadersCount = 0; // by default node:http drops those beyond 2,000
    server.timeout = IDLE_MS;
    const onRequest = (message: IncomingMessage, response: ServerResponse): void => this.#onRequest(message, response);
    server.on('connection', (socket) => {
      const connection = this.#connections.get(socket) ?? this.#connect(socket);
      if (!('shouldUpgradeCallback' in server)) connection.limitUpgrades(mayUpgrade);
    });
    server.on('request', onRequest);
    server.on('checkContinue', onRequest);
    server.on('checkExpectation', onRequest);
    server.on('upgrade', (message, socket, head) => this.#onDetached(message, socket, head));
    server.on('connect', (message, socket, head) => this.#onDetached(message, socket, head));
    server.on('clientError', (error, socket) => this.#onUnparsable(error, socket));
    server.on('timeout', (socket) => {
      if (this.#connections.get(socket)?.awaitsGateway !== true) socket.destroy();
    });
  }

  onConnect(handler: (connection: EngineConnection) => void): void {
    this.#onConnect = handler;
  }

  countOpen(address: ArrayBuffer): number {
    return this.#open.count(address);
  }

  closeIdle(address?: ArrayBuffer): boolean {
    return this.#open.closeIdle(address);
  }

  onDisconnect(handler: () => void): void {
    this.#onDisconnect = handler;
  }

  handleRequests(handlers: MethodHandlers): void {
    this.#handlers = handlers;
  }

  handleWebSockets<Data>(path: string, behavior: WebSocketBehavior<Data>): void {
    const sockets = new NodeSockets(behavior, this.#options.clock);
    this.#socketRoutes.push({
      path,
      upgrade: (res, req, detached) => {
        const context: NodeUpgradeContext<Data> = {
          accept: (data, headers) => {
            if (detached === undefined) throw new Error('this connection cannot be upgraded');
            sockets.accept(detached.message, detached.connection.socket, detached.head, data, headers);
            this.#open.upgrade(detached.connection);
          },
        };
        behavior.upgrade(res, req, context);
      },
      publish: (topic, message, isBinary) => sockets.publish(topic, message, isBinary),
      close: () => sockets.close(),
    });
  }

  publish(topic: string, message: string | Buffer, isBinary: boolean): void {
    for (const route of this.#socketRoutes) route.publish(topic, message, isBinary);
  }

  listen(host: string, port: number, sharesPort: boolean): Promise<number> {
    const server = this.#createListener();
    return new Promise((resolve, reject) => {
      server.on(
        'error',
        (error) => reject(new StartError(1, `can't listen on ${host}:${port}: ${error.message}`, error)), // a later one is about one connection that the system could not accept
      );
      server.listen({ host, port, exclusive: true, reusePort: sharesPort }, () => {
        this.#listeners.push(server);
        resolve((server.address() as AddressInfo).port); // it listens on a TCP port
      });
    });
  }

  stopListening(): void {
    for (const listener of this.#listeners.splice(0)) NetServer.prototype.close.call(listener); // that of node:http also resets idle connections, on which a request may be on its way
  }

  close(): void {
    this.stopListening();
    this.#server.close(); // and its timer
    for (const socket of this.#silent) socket.destroy();
    for (const route of this.#socketRoutes) route.close();
    this.#server.closeAllConnections();
  }

  /** Returns the server itself for the first port, and for others, or behind proxies, what passes connections on to it. */
  #createListener(): NetServer {
    const { readsProxyHeaders } = this.#options;
    if (!readsProxyHeaders && this.#listeners.length === 0) return this.#server;
    return createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (readsProxyHeaders) this.#onSilent(socket);
      else this.#server.emit('connection', socket);
    });
  }

  /** Reads a PROXY header, if there is one, and passes the connection on. */
  #onSilent(socket: Socket): void {
    this.#silent.add(socket);
    socket.on('close', () => this.#silent.delete(socket));
    const connection = this.#connect(socket);
    readProxyHeader(socket, IDLE_MS, (address) => {
      this.#silent.delete(socket);
      connection.proxiedAddress = address;
      this.#server.emit('connection', socket);
    });
  }

  #connect(socket: Socket): NodeConnection {
    const connection = new NodeConnection(socket);
    this.#connections.set(socket, connection);
    this.#open.touch(connection);
    socket.on('close', () => {
      connection.onClosed();
      this.#open.delete(connection);
      this.#onDisconnect();
    });
    this.#onConnect(connection);
    return connection;
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(message.socket);
    if (connection === undefined || connection.isRefused) return;
    this.#open.touch(connection);
    const res = new NodeResponse(message, response, connection);
    if (hasTooManyLines(message)) {
      this.#refuse(
        connection,
        res,
        response,
        this.#options.refuseUnparsable('head-too-long', connection.getRemoteAddress()),
      );
      return;
    }
    const req = new NodeRequest(message);
    if (offersUpgrade(message)) this.#refuseMore(connection, response); // node:http drops what it has read behind it
    if (this.#countInTurn(connection) <= UNBUDGETED) {
      this.#handle(message, res, req);
      return;
    }
    const verdict = this.#budget.admit(this.#open.httpCount);
    if (verdict === 'serve') {
      if (!this.#handle(message, res, req)) this.#budget.countOther();
      return;
    }
    if (verdict === 'defer') {
      this.#refuseMore(connection, response);
      this.#deferred.defer(() => this.#handle(message, res, req), res, req);
    } else this.#refuse(connection, res, response, this.#options.refusePipelined(connection.getRemoteAddress()));
  }

  #refuse(connection: NodeConnection, res: NodeResponse, response: ServerResponse, answer: RawResponse): void {
    this.#refuseMore(connection, response);
    res.writeStatus(answer.headers);
    res.end(Buffer.concat(partsOf(answer.body ?? '')), true);
  }

  /** Serves no request behind this one, and closes the connection. */
  #refuseMore(connection: NodeConnection, response: ServerResponse): void {
    connection.isRefused = true;
    connection.stopParsing();
    response.shouldKeepAlive = false;
  }

  #countInTurn(connection: NodeConnection): number {
    if (!this.#isInTurn) {
      this.#isInTurn = true;
      this.#turn++;
      setImmediate(() => {
        this.#isInTurn = false;
      });
    }
    connection.requestsInTurn = connection.turn === this.#turn ? connection.requestsInTurn + 1 : 1;
    connection.turn = this.#turn;
    return connection.requestsInTurn;
  }

  #handle(message: IncomingMessage, res: NodeResponse, req: NodeRequest): boolean {
    const route = this.#socketRouteOf(message);
    if (route === undefined) return this.#handlerOf(message)?.(res, req) === true;
    route.upgrade(res, req);
    return false;
  }

  #handlerOf({ method = '' }: IncomingMessage): RequestHandler | undefined {
    return this.#handlers?.[HANDLER_NAMES.get(method) ?? 'other'];
  }

  /** Returns the route of a WebSocket handshake, by the rule of uWebSockets.js: the first key has its length. */
  #socketRouteOf(message: IncomingMessage): SocketRoute | undefined {
    const { httpVersion, method, url = '' } = message;
    if (method !== 'GET' || httpVersion === '1.0' || hasTooManyLines(message)) return undefined; // RFC 9110 7.8
    const [target] = url.split('?', 1);
    const route = this.#socketRoutes.find(({ path }) => path === target);
    return route && message.headersDistinct['sec-websocket-key']?.[0]?.length === KEY_LENGTH ? route : undefined;
  }

  /**
   * Handles a request behind which `node:http` parses nothing more, a WebSocket, another upgrade, or a CONNECT, once those before
   * it are answered. From Node 26 on `stream` is not the socket while a body of the request is on its way.
   */
  #onDetached(message: IncomingMessage, stream: Duplex, head: Buffer): void {
    const { socket } = message;
    stream.on('error', () => {}); // `close` follows
    const connection = this.#connections.get(socket);
    // node:http has removed its own listeners
    socket.on('timeout', () => this.#server.emit('timeout', socket));
    socket.on('drain', () => {
      const [oldest] = connection?.pending ?? [];
      oldest?.onDrain();
    });
    if (connection === undefined || connection.isRefused) return;
    const handle = (): void => this.#handleDetached({ message, connection, head });
    if (connection.newest === undefined) handle();
    else connection.newest.onSent(handle);
  }

  #handleDetached(detached: DetachedConnection): void {
    const { message, connection } = detached;
    const { socket } = connection;
    if (!socket.writable) return; // the answer before has ended the connection
    const response = new ServerResponse(message);
    const res = new NodeResponse(message, response, connection);
    const req = new NodeRequest(message);
    const route = this.#socketRouteOf(message);
    if (route === undefined) this.#handlerOf(message)?.(res, req);
    else route.upgrade(res, req, detached);
    if (connection.isUpgraded) return;
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
  }

  /** Answers bytes that are no request, behind the answers to the requests before them. */
  #onUnparsable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    const isSyntax = error.code?.startsWith('HPE_') === true && !SILENT_FAULTS.has(error.code);
    if (connection === undefined || !socket.writable || !isSyntax) {
      if (error.code !== 'HPE_CLOSED_CONNECTION') socket.destroy(); // an answer that closes is on its way
      return;
    }
    if (connection.isRefused) return;
    connection.isRefused = true;
    const fault: UnparsableFault = error.code === 'HPE_HEADER_OVERFLOW' ? 'head-too-long' : 'malformed';
    const answer = this.#options.refuseUnparsable(fault, connection.getRemoteAddress());
    const write = (): void => {
      const { headers, body } = answer;
      const bytes = Buffer.concat(partsOf(body ?? ''));
      const lines = [
        `Content-Length: ${bytes.length}`,
        `Date: ${new Date().toUTCString()}`,
        'Connection: close',
        '',
        '',
      ];
      socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${headers}\r\n${lines.join('\r\n')}`), bytes]));
    };
    if (connection.newest === undefined) write();
    else connection.newest.refuse(answer, write);
  }
}

const HANDLER_NAMES: ReadonlyMap<string, keyof MethodHandlers> = new Map([
  ['GET', 'get'],
  ['HEAD', 'head'],
  ['POST', 'post'],
  ['OPTIONS', 'options'],
]);

const KEY_LENGTH = 24;

/** Faults that need no answer: the peer has closed, or sends more behind a request with `Connection: close`. */
const SILENT_FAULTS: ReadonlySet<string | undefined> = new Set(['HPE_INVALID_EOF_STATE', 'HPE_CLOSED_CONNECTION']);

const hasTooManyLines = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length > 2 * MAX_HEADER_LINES;

/** Whether a request offers to go on in another protocol. */
const offersUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade !== undefined && /upgrade/i.test(headers.connection ?? '');
