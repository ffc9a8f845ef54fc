import type { HttpResponse } from 'uWebSockets.js';
import type { RawResponse } from './raw-response.ts';

/** How many responses are still owed. */
export interface PendingResponses {
  count: number;
}

/** What it takes to know of a request once the engine has taken it back. */
export interface ReplyOptions {
  /** It was a HEAD, so the answer has all headers, the length too, and no body. */
  readonly isHead: boolean;
  /** It said `Connection: close`: the engine tells of the end only those who don't know of it (RFC 9112 9.6). */
  readonly hasConnectionClose: boolean;
}

/**
 * A response that may be written later. The engine frees its own when the caller goes, and aborts the process on a
 * write after that, so whoever waits holds this instead. It is made in the handler, before the first wait.
 */
export class Reply {
  readonly #res: HttpResponse;
  readonly #pendingResponses: PendingResponses;
  readonly #options: ReplyOptions;
  #isDone = false;

  constructor(
    res: HttpResponse,
    pendingResponses: PendingResponses,
    options: ReplyOptions = { isHead: false, hasConnectionClose: false },
  ) {
    this.#res = res;
    this.#pendingResponses = pendingResponses;
    this.#options = options;
    pendingResponses.count++;
    res.onAborted(() => this.#markDone());
  }

  #markDone(): void {
    if (!this.#isDone) this.#pendingResponses.count--;
    this.#isDone = true;
  }

  /** Writes the whole response in one packet; does nothing when it was answered or the caller has gone. */
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
      // The engine's own way would leave it open, or tell of a length of 0. It also adds the date, which is missed here.
      const lines = [headers, ...length, `Date: ${new Date().toUTCString()}`, 'Connection: close', ''];
      res.cork(() => res.writeStatus(lines.join('\r\n')));
      res.close();
      return;
    }
    // A length that is told to the engine is one that it waits for: the next request would end the connection.
    res.cork(() => {
      res.writeStatus([headers, ...length].join('\r\n'));
      res.endWithoutBody();
    });
  }

  /**
   * Writes a response behind which nothing is read. Later, as the engine goes on to the next request in a packet after
   * an answer made at once; and by a timer, as it never frees a connection that is closed from setImmediate: that comes
   * after its own clean-up in a turn of the loop.
   */
  sendAndClose(response: RawResponse): void {
    setTimeout(() => this.send({ ...response, close: true }), 0);
  }

  /** Calls `onChunk` with each part of the request body, which is lent for the length of the call. */
  onBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    this.#res.onData((chunk, isLast) => {
      if (!this.#isDone) onChunk(Buffer.from(chunk), isLast);
    });
  }
}
