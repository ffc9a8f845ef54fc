import type { Clock } from '../../../shared/domain/clock.ts';
import type { RawResponse } from './raw-response.ts';

/** The engines by the name that the setting `http.engine` has for each. */
export type EngineName = 'uws' | 'uws-pack' | 'node';

/**
 * The HTTP and WebSocket server below the gateway. Its objects have the members of uWebSockets.js that the gateway uses,
 * so that the objects of that engine need no wrapper on the hot path; `node/` builds the same on `node:http`. The contract
 * is that of uWebSockets.js: a handler that throws ends the process, and a response without `onAborted` must be complete
 * when its handler returns.
 */
export interface Engine {
  readonly name: EngineName;
  readonly version: string;
  /** The time after which a connection without a request has been closed, in seconds. */
  readonly idleSeconds: number;
  createApp(options: EngineAppOptions): EngineApp;
}

export interface EngineAppOptions {
  readonly clock: Clock;
  /** Whether a connection may begin with a header of the PROXY protocol. uWebSockets.js reads one in any case. */
  readonly readsProxyHeaders: boolean;
  /** Returns the answer to bytes that are no valid request. uWebSockets.js has fixed answers of its own for them. */
  refuseUnparsable(fault: UnparsableFault, peer: ArrayBuffer): RawResponse;
  /** Returns the answer to a request that is pipelined behind more than a turn of the event loop has room for. */
  refusePipelined(peer: ArrayBuffer): RawResponse;
  /** Starts to measure the CPU time of this thread, in milliseconds. */
  readonly startCpuStopwatch: () => () => number;
}

/** The longest request head that an engine accepts, in bytes. */
export const MAX_HEAD_BYTES = 16 * 1024;
/** The most header lines of a request: those of uWebSockets.js. Thousands of short ones take node:http a millisecond. */
export const MAX_HEADER_LINES = 98;

/** The two kinds of bytes that a parser refuses: no valid HTTP, or a head that is too long. */
export type UnparsableFault = 'malformed' | 'head-too-long';

/** A listener, with one handler for each method. */
export interface EngineApp {
  /** Calls the handler with each new connection, during which alone the connection may be used. */
  onConnect(handler: (connection: EngineConnection) => void): void;
  /** WebSockets too. 0 over uWebSockets.js, which does not show whose connection has ended. */
  countOpen(address: ArrayBuffer): number;
  /** The one idle for the longest time. False where there is none, and over uWebSockets.js, which shows none. */
  closeIdle(address?: ArrayBuffer): boolean;
  /** Calls the handler when a connection has ended, WebSockets too. */
  onDisconnect(handler: () => void): void;
  handleRequests(handlers: MethodHandlers): void;
  handleWebSockets<Data>(path: string, behavior: WebSocketBehavior<Data>): void;
  publish(topic: string, message: string | Buffer, isBinary: boolean): void;
  /** Listens on one more port. Resolves to it; rejects with a StartError. */
  listen(host: string, port: number, sharesPort: boolean): Promise<number>;
  stopListening(): void;
  close(): void;
}

/** Both objects are the engine's. The request is valid until the handler returns whether it was a cache hit. */
export type RequestHandler = (res: EngineResponse, req: EngineRequest) => boolean;

/** One handler for each method. None ever throws. */
export interface MethodHandlers {
  readonly get: RequestHandler;
  readonly head: RequestHandler;
  readonly post: RequestHandler;
  readonly options: RequestHandler;
  readonly other: RequestHandler;
}

export interface EngineConnection {
  /** Returns 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  close(): unknown;
}

export interface EngineRequest {
  getMethod(): string;
  getUrl(): string;
  /** Returns what follows the first `?`; undefined or empty without one. */
  getQuery(): string | undefined;
  /** Returns the value of the first header line with this name in lower case; empty without one. */
  getHeader(name: string): string;
  /** Visits all header lines, names in lower case. */
  forEach(visit: (name: string, value: string) => void): void;
}

export interface EngineResponse extends EngineConnection {
  /** Returns the address of a PROXY protocol v2 header before the request, 4 or 16 bytes; empty if there was none. */
  getProxiedRemoteAddress(): ArrayBuffer;
  /** Calls the handler if the connection ends before the response is complete; nothing may be written after that. */
  onAborted(handler: () => void): unknown;
  /** Calls the handler with each part of the request body, valid during the call. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** Writes in one system call what `write` writes. */
  cork(write: () => void): unknown;
  /** Writes the status, and header lines behind it that CRLF separates. */
  writeStatus(statusAndHeaders: string | Buffer): unknown;
  writeHeader(name: string, value: string): unknown;
  /**
   * Completes the response. The bytes are copied as far as the kernel does not accept them. But over uWebSockets.js they are
   * lost, and the response stays pending, where they overflow what is collected before them and the kernel does not accept
   * that: of a reader that has reset its connection, or is slow.
   */
  end(body: Buffer, closesConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  /**
   * Writes the next part of a body of `total` bytes; the first call decides on the Content-Length. Returns whether the
   * kernel has accepted all of it, and whether the response is complete. What was not accepted counts from
   * {@link getWriteOffset} on, and is to be passed again when {@link onWritable} calls.
   */
  tryEnd(chunk: Buffer, total: number): [isAccepted: boolean, isDone: boolean];
  /** Writes a part of a body without a known length. False if the reader is behind: {@link onWritable} calls once it isn't. */
  write(part: string): boolean;
  getWriteOffset(): number;
  onWritable(handler: () => boolean): unknown;
  /** Closes the connection behind what was written; in the middle of a body it is cut off. */
  close(): unknown;
  /** Accepts the WebSocket of the request; `writeStatus` and `writeHeader` may have added headers before. */
  upgrade<Data>(data: Data, key: string, subprotocol: string, extensions: string, context: UpgradeContext): void;
}

/** Stands for the listener of an upgrade request; only the engine looks into it. */
// biome-ignore lint/suspicious/noEmptyInterface: uWebSockets.js declares it like that
export interface UpgradeContext {}

/** One WebSocket. It may be used until its `close` handler was called, which `end` and `close` do before they return. */
export interface EngineSocket<Data> {
  getUserData(): Data;
  /** Sends a message, or drops it if more than `maxBackpressure` bytes are unsent. */
  send(message: string | Buffer, isBinary?: boolean): unknown;
  getBufferedAmount(): number;
  subscribe(topic: string): unknown;
  end(code: number, reason: string): void;
  close(): void;
}

export interface WebSocketBehavior<Data> {
  /** The longest message, in bytes; the connection of a longer one is closed. */
  readonly maxPayloadLength: number;
  readonly maxBackpressure: number;
  /** The time without a message or a pong after which a socket is closed, in seconds; pings are sent before. */
  readonly idleTimeout: number;
  /** Accepts a handshake by {@link EngineResponse.upgrade}, or answers it. */
  upgrade(res: EngineResponse, req: EngineRequest, context: UpgradeContext): void;
  open(socket: EngineSocket<Data>): void;
  /** The bytes are valid during the call. */
  message(socket: EngineSocket<Data>, message: ArrayBuffer, isBinary: boolean): void;
  dropped(socket: EngineSocket<Data>): void;
  drain(socket: EngineSocket<Data>): void;
  /** Called once, with the code of {@link EngineSocket.end} or that of the peer. */
  close(socket: EngineSocket<Data>, code: number): void;
}
