import type { HttpResponse } from 'uWebSockets.js';
import type { Wire } from './wire.ts';

/** How many responses are still owed. */
export interface Owed {
  count: number;
}

/**
 * A response that may be written later. The engine frees its own when the caller goes, and aborts the process on a
 * write after that, so whoever waits holds this instead. It is made in the handler, before the first wait.
 */
export class Reply {
  readonly #res: HttpResponse;
  readonly #owed: Owed;
  readonly #isHead: boolean;
  #isOver = false;

  /** `isHead`: the request was a HEAD, so the answer has all headers, the length too, and no body. */
  constructor(res: HttpResponse, owed: Owed, isHead = false) {
    this.#res = res;
    this.#owed = owed;
    this.#isHead = isHead;
    owed.count++;
    res.onAborted(() => this.#end());
  }

  #end(): void {
    if (!this.#isOver) this.#owed.count--;
    this.#isOver = true;
  }

  /** Writes the whole response in one packet; does nothing when it was answered or the caller has gone. */
  send({ head, body, close = false }: Wire): void {
    if (this.#isOver) return;
    this.#end();
    this.#res.cork(() => {
      this.#res.writeStatus(head);
      if (body === null && !close)
        this.#res.endWithoutBody(); // given a length, even undefined, it would send one
      else if (this.#isHead) this.#res.endWithoutBody(Buffer.byteLength(body ?? ''), close);
      else this.#res.end(body ?? '', close);
    });
  }

  /** Calls `onChunk` with each part of the request body, which is lent for the length of the call. */
  onBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    this.#res.onData((chunk, isLast) => {
      if (!this.#isOver) onChunk(Buffer.from(chunk), isLast);
    });
  }
}
