import type { HttpResponse } from 'uWebSockets.js';
import type { RawResponse } from './raw-response.ts';

/** The number of requests that are not answered yet. */
export interface PendingResponses {
  count: number;
}

/** Facts about a request that are needed after the engine has taken it back. */
export interface ReplyOptions {
  /** True for a HEAD: the response has all headers, Content-Length too, and no body. */
  readonly isHead: boolean;
  /** True if the request has `Connection: close`: the engine then sends no such header of its own (RFC 9112 9.6). */
  readonly hasConnectionClose: boolean;
}

/**
 * A response that may be written after its handler has returned. The engine frees its response object when the caller
 * disconnects and aborts the process on a later write, so asynchronous code writes to a Reply instead. The handler
 * creates it before its first await.
 */
export class Reply {
  readonly #res: HttpResponse;
  readonly #pendingResponses: PendingResponses;
  readonly #options: ReplyOptions;
  #isDone = false;
  #abortion: AbortController | undefined;

  constructor(
    res: HttpResponse,
    pendingResponses: PendingResponses,
    options: ReplyOptions = { isHead: false, hasConnectionClose: false },
  ) {
    this.#res = res;
    this.#pendingResponses = pendingResponses;
    this.#options = options;
    pendingResponses.count++;
    res.onAborted(() => {
      this.#markDone();
      this.#abortion?.abort();
    });
  }

  /** Aborted when the caller disconnects before the response was sent. */
  get signal(): AbortSignal {
    this.#abortion ??= new AbortController();
    return this.#abortion.signal;
  }

  #markDone(): void {
    if (!this.#isDone) this.#pendingResponses.count--;
    this.#isDone = true;
  }

  /** Writes the whole response in one packet; does nothing if it was answered before or the caller has disconnected. */
  send({ headers, body, close = false }: RawResponse): void {
    if (this.#isDone) return;
    this.#markDone();
    const res = this.#res;
    const { isHead, hasConnectionClose } = this.#options;
    if (body !== null && !isHead) {
      res.cork(() => {
        res.writeStatus(close && hasConnectionClose ? `${headers}\r\nConnection: close` : headers);
        res.end(body, close);
      });
      return;
    }
    const length = body === null ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
    if (close) {
      // The engine's own call would leave the connection open, or send a length of 0. Without it we add the Date header.
      const lines = [headers, ...length, `Date: ${new Date().toUTCString()}`, 'Connection: close', ''];
      res.cork(() => res.writeStatus(lines.join('\r\n')));
      res.close();
      return;
    }
    // Given a length, the engine would wait for that many bytes, and the next request would end the connection.
    res.cork(() => {
      res.writeStatus([headers, ...length].join('\r\n'));
      res.endWithoutBody();
    });
  }

  /**
   * Writes a response and closes the connection behind it. It waits first: after a synchronous response the engine goes
   * on to the next request in the packet. It waits for a timer: the engine never frees a connection that is closed from
   * setImmediate, which runs after the engine's clean-up in a turn of the event loop.
   */
  sendAndClose(response: RawResponse): void {
    setTimeout(() => this.send({ ...response, close: true }), 0);
  }

  /** Calls `onChunk` with each part of the request body; the chunk is valid only during the call. */
  onBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    this.#res.onData((chunk, isLast) => {
      if (!this.#isDone) onChunk(Buffer.from(chunk), isLast);
    });
  }
}
