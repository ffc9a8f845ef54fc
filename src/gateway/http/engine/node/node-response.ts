import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EngineResponse, UpgradeContext } from '../engine.ts';
import { partsOf, type RawResponse, WHOLE_BODY_BYTES } from '../raw-response.ts';
import type { NodeConnection } from './node-connection.ts';
import type { UpgradeHeaders } from './node-sockets.ts';

/** Stands for the connection that a request is to upgrade. */
export interface NodeUpgradeContext<Data> extends UpgradeContext {
  accept(data: Data, headers: UpgradeHeaders): void;
}

/** The time in which the reader of a body in parts must receive something of the last one; as in uWebSockets.js. */
const LAST_PART_MS = 10_000;

export class NodeResponse implements EngineResponse {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: NodeConnection;
  /** Status and header lines that were not passed to `node:http` yet. */
  #head: string | undefined;
  #isEnded = false;
  #onAborted: (() => void) | undefined;
  #onWritable: (() => boolean) | undefined;
  /** The bytes of the body that `node:http` was given, and those of them that the caller knows as accepted. */
  #written = 0;
  #accepted = 0;
  #contentLength = 0;
  /** True while the last part waits for the reader. */
  #isUnflushed = false;

  constructor(message: IncomingMessage, response: ServerResponse, connection: NodeConnection) {
    this.#message = message;
    this.#response = response;
    this.#connection = connection;
    connection.newest = this;
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#connection.getRemoteAddress();
  }

  getProxiedRemoteAddress(): ArrayBuffer {
    return this.#connection.proxiedAddress;
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler;
    this.#connection.pending.add(this);
  }

  abort(): void {
    const handler = this.#onAborted;
    this.#complete();
    handler?.();
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const { headers, httpVersion } = this.#message;
    if (headers.expect?.toLowerCase() === '100-continue' && httpVersion !== '1.0') this.#response.writeContinue(); // RFC 9110 10.1.1
    this.#message.on('data', (chunk: Buffer) => handler(new Uint8Array(chunk).buffer, false));
    this.#message.on('end', () => handler(new ArrayBuffer(0), true));
  }

  cork(write: () => void): void {
    write(); // node:http corks what one call writes
  }

  writeStatus(statusAndHeaders: string | Buffer): void {
    this.#head = typeof statusAndHeaders === 'string' ? statusAndHeaders : statusAndHeaders.toString('latin1');
  }

  writeHeader(name: string, value: string): void {
    this.#head = `${this.#head ?? '200 OK'}\r\n${name}: ${value}`;
  }

  write(part: string): boolean {
    if (this.#head !== undefined) {
      this.#sendHead(undefined, false);
      this.#response.on('drain', () => this.onDrain());
    }
    return this.#response.write(part);
  }

  end(body: Buffer, closesConnection = false): void {
    if (!this.#response.headersSent) this.#sendHead(body.length, closesConnection);
    else this.#closeUnlessReceived();
    this.#response.end(Buffer.from(body)); // the caller may use its memory for the next body
    this.#complete();
  }

  /** Until the last part is with the system: a later request on this connection may wait longer. */
  #closeUnlessReceived(): void {
    const { socket } = this.#connection;
    const close = (): void => this.#connection.close();
    socket.setTimeout(LAST_PART_MS, close);
    this.#response.once('finish', () => socket.off('timeout', close));
  }

  endWithoutBody(): void {
    this.#sendHead(undefined, false);
    this.#response.end();
    this.#complete();
  }

  tryEnd(chunk: Buffer, total: number): [isAccepted: boolean, isDone: boolean] {
    if (this.#head !== undefined) {
      if (chunk.length === total && total <= WHOLE_BODY_BYTES) {
        if (this.#connection.socket.writableLength > 0) return [false, false]; // the reader is behind
        this.end(chunk);
        return [true, true];
      }
      this.#sendHead(total, false);
    }
    if (this.#isUnflushed) return [false, false];
    const rest = chunk.subarray(this.#written - this.#accepted);
    if (rest.length > 0) {
      this.#isUnflushed = true;
      this.#written += rest.length;
      this.#response.write(rest, this.#onFlushed);
      return [false, false]; // whether the kernel accepts it shows later
    }
    this.#accepted = this.#written;
    if (this.#accepted < total) return [true, false];
    this.#response.end();
    this.#complete();
    return [true, true];
  }

  readonly #onFlushed = (): void => {
    this.#isUnflushed = false;
    this.onDrain();
  };

  onDrain(): void {
    if (!this.#isEnded) this.#onWritable?.();
  }

  getWriteOffset(): number {
    return this.#accepted;
  }

  onWritable(handler: () => boolean): void {
    this.#onWritable = handler;
  }

  close(): void {
    if (this.#head !== undefined) this.#sendHead(undefined, true);
    else if (this.#isEnded || this.#written === 0 || this.#accepted < this.#contentLength) {
      this.#connection.close();
      return;
    }
    this.#response.end();
    this.#complete();
  }

  upgrade<Data>(data: Data, _key: string, subprotocol: string, _extensions: string, context: UpgradeContext): void {
    const headers = (this.#head ?? '').split('\r\n').slice(1);
    if (subprotocol !== '') headers.push(`Sec-WebSocket-Protocol: ${subprotocol}`);
    (context as NodeUpgradeContext<Data>).accept(data, headers); // the engine has passed it itself
  }

  /** Calls `write` once the response is written, and those before it. */
  onSent(write: () => void): void {
    const { writableFinished, socket } = this.#response;
    if (writableFinished && socket === null)
      write(); // with `finish` node:http frees the socket
    else this.#response.once('finish', write);
  }

  /** Answers a request whose body can't be parsed; where the request has arrived, `writeBehind` answers what follows it. */
  refuse({ headers, body }: RawResponse, writeBehind: () => void): void {
    const response = this.#response;
    if (this.#message.complete) this.onSent(writeBehind);
    else if (response.headersSent) this.#connection.close();
    else {
      this.abort();
      this.writeStatus(headers);
      this.end(Buffer.concat(partsOf(body ?? '')), true);
    }
  }

  #complete(): void {
    this.#isEnded = true;
    this.#onAborted = undefined;
    this.#connection.pending.delete(this);
  }

  #sendHead(contentLength: number | undefined, closesConnection: boolean): void {
    const [statusLine = '', ...lines] = (this.#head ?? '200 OK').split('\r\n');
    const headers: string[] = [];
    let hasConnection = false;
    for (const line of lines) {
      const colon = line.indexOf(': ');
      if (colon < 0) continue; // the empty line that ends the block
      const name = line.slice(0, colon);
      hasConnection ||= name === 'Connection';
      headers.push(name, line.slice(colon + 2));
    }
    if (contentLength !== undefined) headers.push('Content-Length', String(contentLength));
    if (closesConnection && !hasConnection) headers.push('Connection', 'close');
    this.#head = undefined;
    this.#contentLength = contentLength ?? 0;
    this.#response.writeHead(Number(statusLine.slice(0, 3)), statusLine.slice(4), headers);
  }
}
